package config

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"unicode"

	"github.com/statigen/statigen/internal/model"
)

// shown is text as a terminal may have it: what does not show, or moves what does, is an escape.
func shown(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		if model.Unprintable(r) {
			b.WriteString(strings.Trim(strconv.QuoteToASCII(string(r)), `"`))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// element is a key as part of a path: quoted unless it is a word, for a dot in it would make another path.
func element(key string) string {
	plain := func(r rune) bool { return r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	if key != "" && strings.IndexFunc(key, func(r rune) bool { return !plain(r) }) < 0 {
		return key
	}
	return strconv.Quote(key)
}

// readable is a file system's error whose path may be printed.
func readable(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return &fs.PathError{Op: of.Op, Path: shown(of.Path), Err: of.Err}
	}
	return err
}
