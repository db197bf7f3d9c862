package config

import (
	"strconv"
	"strings"
	"unicode"
)

// element is a key as part of a path: quoted unless it is a word, for a dot in it would make another path.
func element(key string) string {
	plain := func(r rune) bool { return r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	if key != "" && strings.IndexFunc(key, func(r rune) bool { return !plain(r) }) < 0 {
		return key
	}
	return strconv.Quote(key)
}
