package sqlc

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// compare demands that the SQL constants in sqlc's Go are the queries that it was given, but for the numbers of
// parameters. sqlc edits text: it drops lines that look like comments, even inside a quoted name, and a key with a line
// missing would be another key, with nothing to show for it.
func compare(in Input, files map[string][]byte) error {
	want := map[string]string{}
	for _, text := range in.Queries {
		for name, sql := range queries(string(text)) {
			want[name] = normal(sql)
		}
	}
	for file, text := range files {
		constants, err := Constants(file, text)
		if err != nil {
			return err
		}
		for _, sql := range constants {
			for name, got := range queries(sql) {
				if normal(got) != want[name] {
					return &Refusal{fmt.Sprintf("store %s: query %s came back changed: %s", in.Name, name, difference(want[name], normal(got)))}
				}
				delete(want, name)
			}
		}
	}
	for name := range want {
		return &Refusal{fmt.Sprintf("store %s: query %s did not come back", in.Name, name)}
	}
	return nil
}

// queries splits a file at sqlc's name lines, which are "-- name: Name :one".
func queries(text string) map[string]string {
	const opening = "-- name: "
	all := map[string]string{}
	for _, part := range strings.Split("\n"+text, "\n"+opening)[1:] {
		line, sql, _ := strings.Cut(part, "\n")
		name, _, _ := strings.Cut(line, " ")
		all[name] = sql
	}
	return all
}

// Constants returns the string constants of a Go file, its SQL. sqlc writes a backquote as a string of its own between two.
func Constants(name string, text []byte) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, &Refusal{fmt.Sprintf("what sqlc wrote is no Go: %v", err)}
	}
	var constants []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			constants = append(constants, joined(spec.Values[0]))
			return false
		}
		return true
	})
	return constants, nil
}

func joined(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return joined(e.X) + joined(e.Y)
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return text
		}
	}
	return ""
}

// difference shows where two texts part.
func difference(want, got string) string {
	i := 0
	for i < len(want) && i < len(got) && want[i] == got[i] {
		i++
	}
	around := func(s string) string { return strconv.Quote(s[max(0, i-20):min(len(s), i+40)]) }
	return fmt.Sprintf("want … %s …, got … %s …", around(want), around(got))
}
