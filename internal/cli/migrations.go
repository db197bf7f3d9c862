package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/statigen/statigen/internal/migrations"
	"github.com/statigen/statigen/internal/output"
)

// runMigrations writes a store's migrations and prints the files that it wrote.
func runMigrations(_ context.Context, o options, args []string, stdout io.Writer) error {
	s, err := o.oneStore(args)
	if err != nil {
		return err
	}
	if o.dir == "" {
		return errors.New("--dir is missing (want the folder of the migrations)")
	}
	r := migrations.Request{Store: s, Format: o.format, From: o.from, Considered: o.considered, Now: time.Now()}
	changes, err := output.Append(o.dir, func(present map[string][]byte) (output.Addition, error) {
		r.Files = present
		return addition(r)
	})
	for _, c := range changes {
		fmt.Fprintln(stdout, printable(filepath.Join(o.dir, c.Name)))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.dir, err)
	}
	return nil
}

// addition is what is planned, as package output has it.
func addition(r migrations.Request) (a output.Addition, err error) {
	files, state, err := migrations.Plan(r)
	for _, f := range files {
		a.Files = append(a.Files, output.File(f))
	}
	if state != nil {
		a.Last = &output.File{Name: migrations.StateName, Text: state}
	}
	return a, err
}
