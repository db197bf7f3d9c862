package main

import (
	"bytes"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

// sameTokens demands that two packages are the same Go but for comments and the text of strings. On stdout it names all
// that differs: each constant, each file of SQL constants, each file whose comments alone do, each that is not Go.
func sameTokens(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sametokens folder folder")
	}
	before, after := filesBelow(ts, args[0]), filesBelow(ts, args[1])
	names := slices.Sorted(maps.Keys(before))
	if diff := cmp.Diff(names, slices.Sorted(maps.Keys(after))); diff != "" {
		ts.Fatalf("files (-%s +%s):\n%s", args[0], args[1], diff)
	}
	for _, name := range names {
		if bytes.Equal(before[name], after[name]) {
			continue
		}
		for _, line := range differences(ts, name, before[name], after[name]) {
			fmt.Fprintln(ts.Stdout(), line)
		}
	}
}

func filesBelow(ts *testscript.TestScript, folder string) map[string][]byte {
	files := map[string][]byte{}
	dir := os.DirFS(ts.MkAbs(folder))
	ts.Check(fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[name], err = fs.ReadFile(dir, name)
		return err
	}))
	return files
}

func differences(ts *testscript.TestScript, name string, before, after []byte) []string {
	if filepath.Ext(name) != ".go" {
		return []string{name}
	}
	code, texts := tokens(ts, name, before)
	newCode, newTexts := tokens(ts, name, after)
	if diff := cmp.Diff(code, newCode); diff != "" {
		ts.Fatalf("%s: the code differs (-before +after):\n%s", name, diff)
	}
	if strings.HasSuffix(name, ".sql.go") {
		return []string{name + ": SQL"}
	}
	var lines []string
	for i := range texts {
		if texts[i] != newTexts[i] {
			lines = append(lines, name+": "+named(code, i))
		}
	}
	if lines == nil {
		return []string{name + ": comments"}
	}
	return lines
}

// tokens are a file's without its comments: the code with every string alike, and at the same index the strings' texts.
func tokens(ts *testscript.TestScript, name string, src []byte) (code, texts []string) {
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile(name, fset.Base(), len(src)), src, func(_ token.Position, msg string) { ts.Fatalf("%s: %s", name, msg) }, 0)
	for {
		_, tok, text := s.Scan()
		switch tok {
		case token.EOF:
			return code, texts
		case token.STRING:
			code, texts = append(code, "a string"), append(texts, text)
		case token.IDENT:
			code, texts = append(code, text), append(texts, "")
		default:
			code, texts = append(code, tok.String()), append(texts, "")
		}
	}
}

// named is what the string at an index is given to.
func named(code []string, at int) string {
	if at >= 2 && code[at-1] == token.ASSIGN.String() {
		return code[at-2]
	}
	return "a string that is no constant"
}
