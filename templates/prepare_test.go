package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statigen/statigen/templates/internal/db"
)

// sqlc checks SQL against its own catalog and takes what it does not know for an interface{}; the server is the
// one that has to run it.
func TestEveryEmittedStatementIsPreparedByAServer(t *testing.T) {
	h := newHost(t)
	conn := h.Conn(t)
	statements := emittedSQL(t)
	for name, sql := range statements {
		if _, err := conn.Prepare(t.Context(), name, sql); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(statements) < 15 {
		t.Errorf("found %d statements in internal/db, want at least 15", len(statements))
	}
}

func TestVerifyPreparesEveryEmittedStatement(t *testing.T) {
	if diff := cmp.Diff(slices.Sorted(maps.Values(emittedSQL(t))), slices.Sorted(slices.Values(db.Statements()))); diff != "" {
		t.Errorf("statements (-emitted +listed):\n%s", diff)
	}
}

// emittedSQL reads sqlc's constants.
func emittedSQL(t *testing.T) map[string]string {
	t.Helper()
	statements := map[string]string{}
	files, err := filepath.Glob("internal/db/*.sql.go")
	must(t, err)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		must(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if ok && len(spec.Values) == 1 {
				sql, err := strconv.Unquote(sqlLiteral(spec.Values[0]))
				must(t, err)
				statements[spec.Names[0].Name] = sql
			}
			return true
		})
	}
	return statements
}

// sqlLiteral joins the pieces that sqlc writes where the SQL holds a backquote.
func sqlLiteral(e ast.Expr) string {
	if binary, ok := e.(*ast.BinaryExpr); ok {
		left, _ := strconv.Unquote(sqlLiteral(binary.X))
		right, _ := strconv.Unquote(sqlLiteral(binary.Y))
		return strconv.Quote(left + right)
	}
	return e.(*ast.BasicLit).Value
}

func TestNoEmittedTypeIsAnInterface(t *testing.T) {
	files, err := filepath.Glob("internal/db/*.sql.go")
	must(t, err)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		must(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok {
				return true
			}
			if _, untyped := field.Type.(*ast.InterfaceType); untyped {
				t.Errorf("%s: field %s has no type", file, strings.Join(fieldNames(field), ", "))
			}
			return true
		})
	}
}

// Raw queries are for the handles alone: a verb that called one would go round the lock, as in
// https://github.com/formbricks/hub/pull/87.
func TestA10NoVerbReachesARawQuery(t *testing.T) {
	files, err := filepath.Glob("*.go")
	must(t, err)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		must(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := selector.X.(*ast.Ident)
			if ok && x.Name == "db" && (selector.Sel.Name == "New" || selector.Sel.Name == "Queries") {
				t.Errorf("%s uses db.%s", file, selector.Sel.Name)
			}
			return true
		})
	}
}

// The handle without a lock has no statement that writes or locks a row.
func TestA10NothingWritesThroughTheHandleWithoutALock(t *testing.T) {
	handle, statements := reflect.TypeFor[db.ReadQueries](), emittedSQL(t)
	for i := range handle.NumMethod() {
		name := handle.Method(i).Name
		sql, ok := statements[strings.ToLower(name[:1])+name[1:]]
		if write := regexp.MustCompile(`\b(INSERT INTO|UPDATE|DELETE FROM|MERGE INTO|TRUNCATE|FOR (SHARE|KEY SHARE|NO KEY UPDATE))\b`).FindString(sql); !ok || write != "" {
			t.Errorf("%s is run without a lock (found: %v), and has %q", name, ok, write)
		}
	}
}

func fieldNames(f *ast.Field) []string {
	var names []string
	for _, n := range f.Names {
		names = append(names, n.Name)
	}
	return names
}
