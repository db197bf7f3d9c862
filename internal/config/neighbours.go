package config

import (
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/statigen/statigen/internal/model"
)

// neighbours reads the module's other configs. The problems of one stop this one as well: whether two stores share their
// tables under two locks cannot be said while one of them cannot be read.
func (c Config) neighbours(mod model.Module, others []string) (all []model.Store, problems Errors, err error) {
	for _, name := range others {
		if name == c.Path {
			continue
		}
		stores, found, err := c.neighbour(model.Module{Path: mod.Path, Dir: path.Dir(name)}, name)
		if err != nil {
			return nil, nil, err
		}
		if len(found) == 0 {
			all = append(all, stores...)
		}
		problems = append(problems, found...)
	}
	return all, problems, nil
}

// neighbour reads one other config. Its stores are only ever named in messages, so their names say where they are from:
// as this config's own name is shown, from its folder.
func (c Config) neighbour(mod model.Module, name string) ([]model.Store, Errors, error) {
	src, err := os.ReadFile(filepath.Join(c.Root, filepath.FromSlash(name)))
	if err != nil {
		return nil, nil, fmt.Errorf("read the module's other config: %w", err)
	}
	shown, err := filepath.Rel(path.Dir(c.Path), name)
	if err != nil {
		return nil, nil, fmt.Errorf("name the module's other config: %w", err)
	}
	shown = filepath.ToSlash(shown)
	stores, problems := (&decoder{file: shown}).parse(src, mod)
	for i := range stores {
		stores[i].Name += " of " + shown
	}
	return stores, problems, nil
}
