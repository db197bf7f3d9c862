// Package config reads a host's statigen.yaml. It is strict: every key is known, every scalar means the
// letters it is written with, and all problems of a file are reported in one run, each at its line.
//
// The file is decoded from YAML's node tree by hand. Decoding into structs would lose the positions, and
// every YAML library has its own reading of "no", "007" and "1.10" once it is asked for a Go value.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"golang.org/x/mod/modfile"

	"github.com/statigen/statigen/internal/model"
)

// FileName is the config that Find looks for.
const FileName = "statigen.yaml"

// Config is a config that has no problems.
type Config struct {
	Root   string        // the module's root folder, where output is written
	Path   string        // the config's path below it, slash-separated
	Stores []model.Store // in the order of the file
}

// Find returns the config of dir: the one in it or, up to the module's root, in a folder above.
func Find(dir string) (string, error) {
	start := dir
	for {
		file := filepath.Join(dir, FileName)
		if exists(file) {
			return file, nil
		}
		if exists(filepath.Join(dir, "go.mod")) || filepath.Dir(dir) == dir {
			return "", fmt.Errorf("no %s in %s or above it in its module", FileName, start)
		}
		dir = filepath.Dir(dir)
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// Load reads the config in file and the module that it lies in. others are that module's configs, by their paths below
// its root: their stores must get along with this one's. The file itself may be among them.
func Load(file string, others ...string) (Config, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return Config{}, fmt.Errorf("read the config: %w", err)
	}
	return Read(file, src, others...)
}

// Read is Load of a text that may not be in the file yet.
func Read(file string, src []byte, others ...string) (Config, error) {
	root, mod, err := Module(filepath.Dir(file))
	if err != nil {
		return Config{}, err
	}
	c := Config{Root: root, Path: path.Join(mod.Dir, filepath.Base(file))}
	neighbours, theirs, err := c.neighbours(mod, others)
	if err != nil {
		return c, err
	}
	stores, problems := (&decoder{file: filepath.Base(file), neighbours: neighbours}).parse(src, mod)
	c.Stores = stores
	return c, append(problems, theirs...).orNil()
}

// Root is the root folder of the module that the config in file lies in.
func Root(file string) (string, error) {
	if _, err := os.Stat(file); err != nil {
		return "", fmt.Errorf("read the config: %w", err)
	}
	root, _, err := Module(filepath.Dir(file))
	return root, err
}

// Module finds the module that dir lies in: the one of the go.mod at or above it.
func Module(dir string) (root string, mod model.Module, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", mod, fmt.Errorf("find the module: %w", err)
	}
	for root = dir; !exists(filepath.Join(root, "go.mod")); root = filepath.Dir(root) {
		if filepath.Dir(root) == root {
			return "", mod, fmt.Errorf("no go.mod in %s or above it; the store's import path comes from there", dir)
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", mod, fmt.Errorf("read the module's path: %w", err)
	}
	file, err := modfile.ParseLax(filepath.Join(root, "go.mod"), text, nil)
	if err != nil {
		return "", mod, fmt.Errorf("read the module's path: %w", err)
	}
	if file.Module == nil {
		return "", mod, fmt.Errorf("%s names no module", filepath.Join(root, "go.mod"))
	}
	mod.Path = file.Module.Mod.Path
	below, err := filepath.Rel(root, dir)
	mod.Dir = filepath.ToSlash(below)
	return root, mod, err
}

// Parse reads a config's text. Errors name file; the error is an Errors when the text is at fault.
func Parse(file string, src []byte, mod model.Module) ([]model.Store, error) {
	stores, problems := (&decoder{file: file}).parse(src, mod)
	return stores, problems.orNil()
}

func (d *decoder) parse(src []byte, mod model.Module) ([]model.Store, Errors) {
	root := d.document(src)
	var stores []model.Store
	if root != nil {
		stores = d.config(root, mod)
	}
	return stores, d.sorted(src)
}

// unreadable finds bytes that are no text. The parser reports them at the file's beginning, wherever they are.
func (d *decoder) unreadable(src []byte) bool {
	for number, line := range bytes.Split(src, []byte("\n")) {
		for column := 0; column < len(line); {
			r, size := utf8.DecodeRune(line[column:])
			if reason := notText(r, size, line[column:]); reason != "" {
				d.add(number+1, utf8.RuneCount(line[:column])+1, "", reason)
				return true
			}
			column += size
		}
	}
	return false
}

// notText says what is wrong with the character that a rest of a line begins with; "" is nothing. The parser ends a line at
// characters at which an editor does not, and every place behind one would be another line's.
func notText(r rune, size int, rest []byte) string {
	switch {
	case r == utf8.RuneError && size <= 1 || unicode.IsControl(r) && r != '\t' && r != '\r':
		return fmt.Sprintf("the byte %#02x is no text (want UTF-8 without control characters)", rest[0])
	case unicode.In(r, unicode.Zl, unicode.Zp) || r == '\r' && len(rest) > 1:
		return fmt.Sprintf("%q ends no line (want \"\\n\" or \"\\r\\n\"; in a quoted string, an escape)", r)
	}
	return ""
}

// document returns the file's one document.
func (d *decoder) document(src []byte) *yaml.Node {
	if d.unreadable(src) {
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(src))
	if err != nil {
		d.add(1, 1, "", err.Error())
		return nil
	}
	var doc, second yaml.Node
	if err := loader.Load(&doc); err != nil {
		d.syntax(src, err)
		return nil
	}
	if err := loader.Load(&second); err == nil {
		d.add(second.Line, second.Column, "", "a second document (want one)")
	} else if !errors.Is(err, io.EOF) {
		d.syntax(src, err)
	}
	return doc.Content[0]
}
