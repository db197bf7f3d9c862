package config

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/statigen/statigen/internal/model"
)

// neighbours reads the module's other configs. One with problems stops this one as well: whether two stores share their
// tables under two locks cannot be said while one of them cannot be read.
func (c Config) neighbours(mod model.Module, others []string) ([]model.Store, error) {
	var all []model.Store
	var problems Errors
	for _, name := range others {
		if name == c.Path {
			continue
		}
		stores, err := c.neighbour(model.Module{Path: mod.Path, Dir: path.Dir(name)}, name)
		var found Errors
		if err != nil && !errors.As(err, &found) {
			return nil, err
		}
		problems = append(problems, found...)
		all = append(all, stores...)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return all, nil
}

// neighbour reads one other config. Its stores are only ever named in messages, so their names say where they are from.
func (c Config) neighbour(mod model.Module, name string) ([]model.Store, error) {
	src, err := os.ReadFile(filepath.Join(c.Root, filepath.FromSlash(name)))
	if err != nil {
		return nil, fmt.Errorf("read the module's other config: %w", err)
	}
	shown, err := filepath.Rel(path.Dir(c.Path), name) // as this one's own name is shown: from its folder
	if err != nil {
		return nil, fmt.Errorf("name the module's other config: %w", err)
	}
	shown = filepath.ToSlash(shown)
	stores, err := Parse(shown, src, mod)
	for i := range stores {
		stores[i].Name += " of " + shown
	}
	return stores, err
}
