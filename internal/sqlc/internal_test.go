package sqlc

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

var tokens = regexp.MustCompile(`(?s)"(?:[^"]|"")*"|\bE'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'` + // quoted
	`|@\w+|\$\w+|sqlc\.n?arg\(\w+\)` + // parameter
	`|(?:--[^\n]*\n?|[ \t\r\n])+`) // comments and white space

// slowly is normal as one regular expression: slower, and easier to believe.
func slowly(sql string) string {
	out := tokens.ReplaceAllStringFunc(sql, func(t string) string {
		switch {
		case t[0] == '@', t[0] == '$', strings.HasPrefix(t, "sqlc."):
			return "?"
		case strings.HasPrefix(t, "--"), strings.TrimLeft(t[:1], " \t\r\n") == "":
			return " "
		}
		return t
	})
	return strings.TrimRight(strings.TrimSpace(out), "; ")
}

func TestBothNormalFormsAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{`"`, `'`, `E'`, `e'`, `\`, "\n", " ", "\t", "--", "-", "@", "$", "1", "a", "sqlc.arg(", "sqlc.narg(", "sqlc.", ")", ";", "é", "@x", "$12", "::text", "''", `""`}
	for range 200_000 {
		var sql strings.Builder
		for range random.IntN(12) {
			sql.WriteString(pieces[random.IntN(len(pieces))])
		}
		if got, want := normal(sql.String()), slowly(sql.String()); got != want {
			t.Fatalf("normal(%q) = %q, want %q", sql.String(), got, want)
		}
	}
}

func TestTheNormalFormKeepsWhatMeansSomething(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT  1 -- one\n;\n":                     "SELECT 1",
		`SELECT "a -- b  @c $1" FROM x`:             `SELECT "a -- b  @c $1" FROM x`,
		`SELECT 'it''s  @c', E'\'  -- \\', @a::int`: `SELECT 'it''s  @c', E'\'  -- \\', ?::int`,
		"sqlc.arg(a) sqlc.narg(b) $1 $23 @c_1":      "? ? ? ? ?",
		`xE'a  \' y'`:                               `xE'a  \' y'`, // E is the end of a word: no escape, and y is outside
	} {
		if got := normal(sql); got != want {
			t.Errorf("normal(%q) = %q, want %q", sql, got, want)
		}
	}
}

func TestAFullDiskIsNoFaultOfTheSQL(t *testing.T) {
	var refusal *Refusal
	if err := failure("open q.sql.go: no space left on device", nil); errors.As(err, &refusal) {
		t.Errorf("got %v", err)
	}
	if err := failure("0/queries/q.sql:1:1: syntax error", []Input{{Name: "s"}}); !errors.As(err, &refusal) {
		t.Errorf("got %v", err)
	}
}
