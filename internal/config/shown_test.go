package config_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/statigen/statigen/internal/config"
)

// A terminal shows what an error says: nothing in it moves the cursor, colours, breaks the line or reorders it.
func TestErrorsHoldNothingThatATerminalObeys(t *testing.T) {
	const odd = `\e[31m\u202E\u2028\n\x7f`
	for _, text := range []string{
		`{"` + odd + `": 1}`,
		`{version: "` + odd + `"}`,
		`{version: 1, stores: {"` + odd + `": {}}}`,
		`{version: 1, stores: {s: "` + odd + `"}}`,
		"{version: 1, stores: {s: {out: \u202e\u2028}}}",
		`{version: 1, stores: {s: {out: "` + odd + `", package: "` + odd + `", prefix: "` + odd + `", id: "` + odd + `", table_prefix: "` + odd + `"}}}`,
		`{version: 1, stores: {s: {out: a, leading_columns: [{name: "` + odd + `", type: "` + odd + `", default: "` + odd + `"}, {name: a, type: date, default: "` + odd + `"}]}}}`,
		`{version: 1, stores: {s: {out: a, leading_columns: [{name: a, type: text, collation: "` + odd + `"}], column_collations: {"` + odd + `": C, door: "` + odd + `"}}}}`,
		"{version: 1, stores: *\u202e}",
		"{version: 1, stores: !\u202e x}",
		"{version: 1, stores: \"\\\u202e\"}",
		"%\u202e\n---\n{}",
	} {
		_, err := config.Parse("c\x1b\u202e.yaml", []byte(text), host())
		if err == nil {
			t.Errorf("%q is taken", text)
			continue
		}
		printable(t, err)
	}
}

func printable(t *testing.T, err error) {
	t.Helper()
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsGraphic(r) }) {
			t.Errorf("an error holds what a terminal obeys: %q", line)
		}
	}
}
