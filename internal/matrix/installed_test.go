package matrix

import (
	"context"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/statigen/statigen/internal/generate"
	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/pgtest"
	"github.com/statigen/statigen/internal/sqlc"
)

// installed creates the tables of a store in a database of their own, prepares every statement of its package there, and
// demands that the catalog has the names of the model and no others.
func installed(t *testing.T, s model.Store) *pgx.Conn {
	t.Helper()
	packages, err := generate.Packages(t.Context(), []model.Store{s})
	if err != nil {
		t.Fatal(err)
	}
	conn := create(t, string(packages[0]["schema.sql"]))
	for name, text := range packages[0] {
		if path.Dir(name) == "internal/db" && strings.HasSuffix(name, ".sql.go") {
			prepare(t, conn, name, text)
		}
	}
	sameNames(t, conn, s)
	return conn
}

// create runs a schema. The server cuts a long name with no more than a notice.
func create(t *testing.T, schema string) *pgx.Conn {
	t.Helper()
	cfg := pgtest.New(t, "").Config(t).ConnConfig
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.Code == "42622" {
			t.Errorf("the server notes: %s", n.Message)
		}
	}
	conn, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), schema); err != nil {
		t.Fatalf("the server refuses the schema: %v", err)
	}
	return conn
}

func prepare(t *testing.T, conn *pgx.Conn, file string, text []byte) {
	t.Helper()
	statements, err := sqlc.Constants(file, text)
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range statements {
		if _, err := conn.Prepare(t.Context(), "", sql); err != nil {
			t.Errorf("%s: %v\n%.300s", file, err, sql)
		}
	}
}

// sameNames compares the relations and columns that a server has with those of the store.
func sameNames(t *testing.T, conn *pgx.Conn, s model.Store) {
	t.Helper()
	schema := s.Schema
	if schema == "" {
		schema = "public"
	}
	want := []string{}
	for _, table := range s.Tables() {
		want = append(append(want, table.Name), s.Indexes()[table.Concept]...)
		sameColumns(t, conn, schema, table, s.Leading)
	}
	const relations = "SELECT c.relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace " +
		"WHERE n.nspname = $1 AND c.relkind IN ('r', 'i')"
	sameSet(t, "relations of "+schema, want, texts(t, conn, relations, schema))
}

func sameColumns(t *testing.T, conn *pgx.Conn, schema string, table model.Table, leading []model.Column) {
	t.Helper()
	want := slices.Clone(model.OwnColumns()[table.Concept])
	for _, c := range leading {
		want = append(want, c.Name)
	}
	const columns = "SELECT a.attname::text FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid " +
		"JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0"
	sameSet(t, "columns of "+table.Name, want, texts(t, conn, columns, schema, table.Name))
}

func sameSet(t *testing.T, what string, want, got []string) {
	t.Helper()
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-model +catalog):\n%s", what, diff)
	}
}

func texts(t *testing.T, conn *pgx.Conn, sql string, args ...any) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}
