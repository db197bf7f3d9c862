package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/statigen/statigen/internal/ddl"
	"github.com/statigen/statigen/internal/model"
)

func runDDL(_ context.Context, o options, args []string, stdout io.Writer) error {
	s, err := o.oneStore(args)
	if err != nil {
		return err
	}
	from, to, err := o.versions()
	if err != nil {
		return err
	}
	_, err = io.WriteString(stdout, ddl.Script(s, from, to))
	return err
}

// oneStore is the store that a command is about.
func (o options) oneStore(args []string) (model.Store, error) {
	job, err := o.job(args)
	if err != nil {
		return model.Store{}, err
	}
	if o.store == "" && len(job.Stores) == 1 {
		return job.Stores[0], nil
	}
	return o.named(job.Stores)
}

// named is the store of --store.
func (o options) named(stores []model.Store) (model.Store, error) {
	var words []string
	for _, s := range stores {
		if s.Name == o.store {
			return s, nil
		}
		words = append(words, s.Name)
	}
	if o.store == "" {
		return model.Store{}, fmt.Errorf("the config has %d stores (want one with --store: %s)", len(words), strings.Join(words, ", "))
	}
	return model.Store{}, fmt.Errorf("--store: %s", model.Unknown("store", o.store, strings.Join(words, ", "), words...))
}

// versions are those of --from and --to.
func (o options) versions() (from, to ddl.Version, err error) {
	from, to = 0, ddl.Latest()
	if o.down {
		from, to = to, from
	}
	if err := setVersion(&from, "from", o.from); err != nil {
		return 0, 0, err
	}
	if err := setVersion(&to, "to", o.to); err != nil {
		return 0, 0, err
	}
	if o.down && to > from {
		return 0, 0, fmt.Errorf("--down from %s to %s is up (want a smaller version in --to)", from, to)
	}
	if !o.down && to < from {
		return 0, 0, fmt.Errorf("from %s to %s is down (want --down, or a greater version in --to)", from, to)
	}
	return from, to, nil
}

func setVersion(v *ddl.Version, flag, text string) (err error) {
	if text == "" {
		return nil
	}
	if *v, err = ddl.ParseVersion(text); err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return nil
}
