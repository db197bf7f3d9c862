package generate_test

import (
	"go/scanner"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tokens are a file's, comments left out, and with every string constant told apart from the rest.
func tokens(t *testing.T, src []byte) (code, constants []string) {
	t.Helper()
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", fset.Base(), len(src)), src, func(_ token.Position, msg string) { t.Fatal(msg) }, 0)
	for {
		_, tok, text := s.Scan()
		switch tok {
		case token.EOF:
			return code, constants
		case token.STRING:
			code, constants = append(code, "a string"), append(constants, text)
		default:
			code = append(code, tok.String()+" "+text)
		}
	}
}

// Another prefix is another lock key: it changes SQL, two constants that tell of it, and no Go identifier.
func TestAnotherPrefixChangesTextAlone(t *testing.T) {
	plain, prefixed := defaultStore(t), defaultStore(t)
	prefixed.Schema = "loans"
	before, after := packageOf(t, plain), packageOf(t, prefixed)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after))); diff != "" {
		t.Fatalf("files (-plain +prefixed):\n%s", diff)
	}
	var changed []string
	for name, src := range before {
		if filepath.Ext(name) != ".go" {
			continue
		}
		code, constants := tokens(t, src)
		newCode, newConstants := tokens(t, after[name])
		if diff := cmp.Diff(code, newCode); diff != "" {
			t.Errorf("%s: the code changed (-plain +prefixed):\n%s", name, diff)
		}
		if !slices.Equal(constants, newConstants) {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	want := []string{
		"internal/db/charts.sql.go", "internal/db/executions.sql.go", "internal/db/locks.sql.go", "internal/db/retire.sql.go",
		"lock.go", "schema.go",
	}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Errorf("files whose strings changed (-want +got):\n%s", diff)
	}
}
