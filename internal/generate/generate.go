// Package generate is the pipeline from models to the files of their packages. It writes nothing: a run that
// compares and a run that writes differ only in what they do with the bytes.
package generate

import (
	"context"
	"errors"
	"fmt"
	"maps"

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
	packages, err := Shaped(ctx, stores)
	if err != nil {
		return nil, err
	}
	for i, s := range stores {
		same, err := copied(s)
		if err != nil {
			return nil, bug(s, err)
		}
		maps.Copy(packages[i], same)
	}
	return packages, nil
}

// Shaped renders what the config shapes, without what is the same for every host: the part that stands beside
// the hand-written files in templates/.
func Shaped(ctx context.Context, stores []model.Store) ([]map[string][]byte, error) {
	inputs := make([]sqlc.Input, len(stores))
	for i, s := range stores {
		var err error
		if inputs[i], err = sqlText(s); err != nil {
			return nil, bug(s, err)
		}
	}
	compiled, err := sqlc.Compile(ctx, inputs)
	var refusal *sqlc.Refusal
	if errors.As(err, &refusal) {
		return nil, &Bug{err}
	}
	if err != nil {
		return nil, err
	}
	packages := make([]map[string][]byte, len(stores))
	for i, s := range stores {
		files, err := emit.Files(s, inputs[i].Schema)
		if err != nil {
			return nil, bug(s, err)
		}
		files["schema.sql"] = inputs[i].Schema
		for name, text := range compiled[i] {
			files["internal/db/"+name] = text
		}
		packages[i] = files
	}
	return packages, nil
}

func sqlText(s model.Store) (in sqlc.Input, err error) {
	in.Name = s.Name
	if in.Schema, err = sqltext.Schema(s); err != nil {
		return in, err
	}
	in.Queries, err = sqltext.Queries(s)
	return in, err
}
