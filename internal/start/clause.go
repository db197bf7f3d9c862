package start

import (
	"errors"
	"fmt"
	"go/build"
	"go/token"
	"path"
	"strings"

	"golang.org/x/mod/module"

	"github.com/statigen/statigen/internal/model"
)

// packageClause is the name of the package that dir holds, by its Go files, or that it would hold, by its import path.
func packageClause(dir string, mod model.Module) (string, error) {
	found, err := build.ImportDir(dir, 0)
	var none *build.NoGoError
	switch {
	case err == nil:
		return found.Name, nil
	case errors.As(err, &none):
		return word(ownName(mod)), nil
	}
	return "", fmt.Errorf("find the package's name: %w", err)
}

// ownName is the last element of dir's import path, but for a version.
func ownName(mod model.Module) string {
	if mod.Dir != "." {
		return path.Base(mod.Dir)
	}
	prefix, _, _ := module.SplitPathVersion(mod.Path)
	return path.Base(prefix)
}

// word makes a Go package's name of any name.
func word(name string) string {
	letters := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
	letters = strings.TrimLeft(letters, "0123456789")
	if !token.IsIdentifier(letters) || letters == "main" {
		return "host"
	}
	return letters
}
