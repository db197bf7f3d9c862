package sqlc

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
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

var nameLine = regexp.MustCompile(`(?m)^-- name: (\w+) :\w+\n`)

// queries splits a file at sqlc's name lines.
func queries(text string) map[string]string {
	all := map[string]string{}
	at := nameLine.FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		all[text[m[2]:m[3]]] = text[m[1]:end]
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
