// Package generate is the pipeline from models to the files of their packages. It writes nothing: a run that
// compares and a run that writes differ only in what they do with the bytes.
package generate

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"golang.org/x/sync/errgroup"

	"github.com/statigen/statigen/internal/emit"
	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/sqlc"
	"github.com/statigen/statigen/internal/sqltext"
)

// Bug is a fault of statigen's own: what the config asks for is right, and cannot be made.
type Bug struct{ Err error }

func (b *Bug) Error() string { return "this is a bug in statigen: " + b.Err.Error() }

func (b *Bug) Unwrap() error { return b.Err }

func bug(s model.Store, err error) error { return &Bug{fmt.Errorf("store %s: %w", s.Name, err)} }

// Child turns the process into the embedded sqlc if a run of this package started it. It comes first in a main.
func Child() { sqlc.Child() }

// Packages renders each store's package: slash-separated names below its folder, and texts. sqlc runs once for
// all of them.
func Packages(ctx context.Context, stores []model.Store) ([]map[string][]byte, error) {
	return packages(ctx, stores, func(s model.Store, schema []byte) (map[string][]byte, error) {
		files, err := emit.Files(s, schema)
		if err != nil {
			return nil, err
		}
		same, err := copied(s)
		maps.Copy(files, same)
		return files, err
	})
}

// Shaped renders what the config shapes, without what is the same for every host: the part that stands beside
// the hand-written files in templates/.
func Shaped(ctx context.Context, stores []model.Store) ([]map[string][]byte, error) {
	return packages(ctx, stores, emit.Files)
}

// packages renders each store with beside, while sqlc runs: that is most of the time that there is.
func packages(ctx context.Context, stores []model.Store, beside func(model.Store, []byte) (map[string][]byte, error)) ([]map[string][]byte, error) {
	inputs, err := sqlTexts(stores)
	if err != nil {
		return nil, err
	}
	all := make([]map[string][]byte, len(stores))
	var group errgroup.Group
	group.Go(func() error {
		for i, s := range stores {
			var err error
			if all[i], err = beside(s, inputs[i].Schema); err != nil {
				return bug(s, err)
			}
			all[i]["schema.sql"] = inputs[i].Schema
		}
		return nil
	})
	compiled, err := sqlc.Compile(ctx, inputs)
	if err := errors.Join(group.Wait(), err); err != nil {
		return nil, refusalIsABug(err)
	}
	for i := range stores {
		for name, text := range compiled[i] {
			all[i]["internal/db/"+name] = text
		}
	}
	return all, nil
}

// refusalIsABug: the SQL is ours, whatever the config says.
func refusalIsABug(err error) error {
	var refusal *sqlc.Refusal
	if errors.As(err, &refusal) {
		return &Bug{err}
	}
	return err
}

func sqlTexts(stores []model.Store) ([]sqlc.Input, error) {
	inputs := make([]sqlc.Input, len(stores))
	for i, s := range stores {
		schema, err := sqltext.Schema(s)
		if err != nil {
			return nil, bug(s, err)
		}
		queries, err := sqltext.Queries(s)
		if err != nil {
			return nil, bug(s, err)
		}
		inputs[i] = sqlc.Input{Name: s.Name, Schema: schema, Queries: queries}
	}
	return inputs, nil
}
