package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/statigen/statigen/internal/model"
)

// Error is one problem of a config, at its line.
type Error struct {
	File         string
	Line, Column int
	Path         string // the key's path, such as stores.loans.id
	Text         string
}

func (e Error) Error() string {
	if e.Path == "" {
		return model.Shown(fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Text))
	}
	return model.Shown(fmt.Sprintf("%s:%d:%d: %s: %s", e.File, e.Line, e.Column, e.Path, e.Text))
}

// Errors is every problem of a config, in the file's order.
type Errors []Error

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, problem := range e {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// orNil is the error that a function returns: none if there are no problems.
func (e Errors) orNil() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

func (d *decoder) sorted(src []byte) Errors {
	for i := range d.errors {
		d.errors[i].inside(bytes.Split(src, []byte("\n")))
	}
	slices.SortStableFunc(d.errors, func(a, b Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return d.errors
}

// inside moves a place behind the text to its end: where something is missed there, the parser names a line that is none.
func (e *Error) inside(lines [][]byte) {
	if e.Line > len(lines) {
		e.Line, e.Column = len(lines), utf8.RuneCount(lines[len(lines)-1])+1
	}
}

func (d *decoder) add(line, column int, path, text string) {
	d.errors = append(d.errors, Error{d.file, max(line, 1), max(column, 1), path, text})
}

func (d *decoder) report(n *yaml.Node, path, format string, args ...any) {
	d.add(n.Line, n.Column, path, fmt.Sprintf(format, args...))
}

// syntax reports what the YAML parser found, at the place that it names.
func (d *decoder) syntax(src []byte, err error) {
	if errors.Is(err, io.EOF) {
		d.add(1, 1, "", "an empty file (want version and stores)")
		return
	}
	var load *yaml.LoadError
	if errors.As(err, &load) {
		text := load.Message
		if tabAt(src, load.Mark.Line, load.Mark.Column) {
			text = "a tab (want spaces)"
		}
		d.add(load.Mark.Line, load.Mark.Column, "", text)
		return
	}
	d.add(1, 1, "", strings.TrimPrefix(err.Error(), "yaml: "))
}

func tabAt(src []byte, line, column int) bool {
	lines := bytes.Split(src, []byte("\n"))
	return line >= 1 && line <= len(lines) && column >= 1 && column <= len(lines[line-1]) && lines[line-1][column-1] == '\t'
}
