package ddl_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/ddl"
	"github.com/statigen/statigen/internal/host"
	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/live"
	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/pgtest"
	"github.com/statigen/statigen/internal/reference"
	"github.com/statigen/statigen/internal/sqltext"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func run(t *testing.T, conn *pgx.Conn, statements []string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%v\n%s", err, sql)
		}
	}
}

// take takes steps as a host's tool would: what stands together in one transaction, what stands alone without one.
func take(t *testing.T, conn *pgx.Conn, steps []ddl.Step) {
	t.Helper()
	for _, step := range steps {
		for _, unit := range ddl.Units(step.Statements) {
			if !unit.Alone {
				unit.SQL = "BEGIN;" + unit.SQL + ";COMMIT"
			}
			run(t, conn, []string{unit.SQL})
		}
	}
}

func read(t *testing.T, conn *pgx.Conn, s model.Store) ddl.State {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	state, err := live.Read(t.Context(), tx, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	return state
}

// demand compares the tables that are there with those of a version.
func demand(t *testing.T, what string, conn *pgx.Conn, s model.Store, v ddl.Version) {
	t.Helper()
	want, got := ddl.At(s, v), read(t, conn, s)
	got.Version = v
	byName := cmpopts.SortSlices(func(a, b ddl.Index) bool { return a.Name < b.Name })
	if diff := cmp.Diff(want, got, byName, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s: not as at version %s (-want +got):\n%s", what, v, diff)
	}
}

// The reference's migrations, one after the other, make what At says, on every host of the matrix.
func TestEachVersionIsTheReferences(t *testing.T) {
	for _, s := range host.Stores(t) {
		t.Run(s.Name, func(t *testing.T) {
			conn := pgtest.New(t, "").Conn(t)
			for v := 1; v <= 8; v++ {
				run(t, conn, reference.Migration(s, v))
				demand(t, "the reference", conn, s, ddl.Version(v))
			}
		})
	}
}

// From nothing, our steps make what schema.sql makes, columns in the same order; and back, one at a time, to nothing.
func TestStepsFromNothingAndBack(t *testing.T) {
	for _, s := range host.Stores(t) {
		t.Run(s.Name, func(t *testing.T) {
			conn := pgtest.New(t, "").Conn(t)
			for v := range ddl.Latest() {
				take(t, conn, ddl.Steps(s, 0, ddl.Latest())[v:v+1])
				demand(t, "up", conn, s, v+1)
			}
			for v := ddl.Latest(); v > 0; v-- {
				take(t, conn, ddl.Steps(s, v, v-1))
				demand(t, "down", conn, s, v-1)
			}
		})
	}
}

// plant writes a row into each table, and returns what is there then, and what reads it by the names that it will have.
func plant(t *testing.T, conn *pgx.Conn, s model.Store, tables ...string) (rows, reread []string) {
	t.Helper()
	for _, table := range tables {
		columns := columnsOf(t, conn, s, table)
		names, values := []string{}, []string{}
		for _, c := range columns {
			if c.name != "id" || s.ID != model.Bigserial {
				names, values = append(names, keyspec.QuoteIdent(c.name)), append(values, c.value())
			}
		}
		run(t, conn, []string{"INSERT INTO " + relation(s, table) + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"})
		rows = append(rows, texts(t, conn, []string{"SELECT ROW(" + strings.Join(names, ", ") + ")::text FROM " + relation(s, table)})...)
		renamed := strings.NewReplacer(`"run_id"`, `"execution_id"`)
		if table == s.FormerRuns {
			table = s.Executions.Name
		}
		reread = append(reread, "SELECT ROW("+renamed.Replace(strings.Join(names, ", "))+")::text FROM "+relation(s, table))
	}
	return rows, reread
}

type planted struct{ name, typ string }

func columnsOf(t *testing.T, conn *pgx.Conn, s model.Store, table string) []planted {
	t.Helper()
	rows, err := conn.Query(t.Context(), "SELECT attname::text, format_type(atttypid, -1) FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped", relation(s, table))
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c planted, err error) { return c, row.Scan(&c.name, &c.typ) })
	if err != nil || len(all) == 0 {
		t.Fatalf("table %s has %d columns: %v", table, len(all), err)
	}
	return all
}

// value is a value of the column's type, other bytes than any default's.
func (c planted) value() string {
	switch {
	case strings.HasSuffix(c.typ, "[]"):
		return "'{}'"
	case strings.HasPrefix(c.typ, "timestamp"), c.typ == "date":
		return "'2020-01-02 03:04:05.678901'"
	case strings.HasPrefix(c.typ, "character"), c.typ == "text":
		return "'p'"
	}
	return map[string]string{
		"uuid": "'11111111-2222-4333-8444-555555555555'", "bytea": `'\x00ff'`, "boolean": "true", "jsonb": `'{"a": [1, "\\u00e9"]}'`,
	}[c.typ] + map[bool]string{true: "'3'"}[c.typ == "bigint" || c.typ == "integer" || c.typ == "smallint" || c.typ == "numeric"]
}

func relation(s model.Store, name string) string { return s.Relation(model.Table{Name: name}) }

func texts(t *testing.T, conn *pgx.Conn, queries []string) []string {
	t.Helper()
	var all []string
	for _, sql := range queries {
		var text string
		if err := conn.QueryRow(t.Context(), sql).Scan(&text); err != nil {
			t.Fatalf("%v\n%s", err, sql)
		}
		all = append(all, text)
	}
	return all
}

// everyVersion is how many hosts are tried at every version. The others have other columns, and those come with the tables:
// in versions 1 and 5.
const everyVersion = 9

// A database that the reference made, at each of its versions and with rows, becomes by our steps what schema.sql makes,
// and its rows stay what they were; and so does one from before an execution was called one.
func TestStepsFromEachVersionOfTheReference(t *testing.T) {
	for i, s := range host.Stores(t) {
		for v := 1; v <= 8; v++ {
			if v != 1 && v != 5 && i >= everyVersion {
				continue
			}
			t.Run(fmt.Sprintf("%s at %d", s.Name, v), func(t *testing.T) { upgraded(t, s, v, reference.Migration) })
			if v < 6 {
				t.Run(fmt.Sprintf("%s at %d, with runs", s.Name, v), func(t *testing.T) { upgraded(t, s, v, reference.BeforeRenaming) })
			}
		}
	}
}

func upgraded(t *testing.T, s model.Store, from int, made func(model.Store, int) []string) {
	conn := pgtest.New(t, "").Conn(t)
	for v := 1; v <= from; v++ {
		run(t, conn, made(s, v))
	}
	tables := []string{s.Charts.Name, s.Positions.Name, s.Executions.Name}
	if old := strings.Join(made(s, 1), " "); strings.Contains(old, "run_id") && s.FormerRuns != "" {
		tables[2] = s.FormerRuns
	}
	if from >= 5 {
		tables = append(tables, s.Inputs.Name)
	}
	rows, reread := plant(t, conn, s, tables...)
	take(t, conn, ddl.Steps(s, ddl.Version(from), ddl.Latest()))
	demand(t, "our steps", conn, s, ddl.Latest())
	if diff := cmp.Diff(catalog(t, fresh(t, s), s), catalog(t, conn, s)); diff != "" {
		t.Errorf("the catalogs differ (-fresh +upgraded):\n%s", diff)
	}
	if diff := cmp.Diff(rows, texts(t, conn, reread)); diff != "" {
		t.Errorf("the rows differ (-planted +read):\n%s", diff)
	}
	take(t, conn, ddl.Steps(s, ddl.Latest(), ddl.Version(from)))
	demand(t, "and back", conn, s, ddl.Version(from))
	if diff := cmp.Diff(rows, texts(t, conn, reread)); diff != "" {
		t.Errorf("the rows differ (-planted +read):\n%s", diff)
	}
}

func fresh(t *testing.T, s model.Store) *pgx.Conn {
	t.Helper()
	schema, err := sqltext.Schema(s)
	if err != nil {
		t.Fatal(err)
	}
	return pgtest.New(t, string(schema)).Conn(t)
}

// catalog is what the server itself says of the store's tables, but for the names of primary keys and sequences.
func catalog(t *testing.T, conn *pgx.Conn, s model.Store) []string {
	t.Helper()
	const columns = `SELECT c.relname || '.' || a.attnum || ' ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull
		|| ' ' || a.attcollation || ' ' || COALESCE(regexp_replace(pg_get_expr(d.adbin, d.adrelid), 'nextval.*', 'nextval'), '')
		FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
		WHERE c.relname = ANY ($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1`
	const indexes = `SELECT CASE WHEN i.indisprimary THEN regexp_replace(pg_get_indexdef(i.indexrelid), 'INDEX .* ON', 'INDEX ON') ELSE pg_get_indexdef(i.indexrelid) END
		|| ' ' || i.indisvalid FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid WHERE c.relname = ANY ($1) ORDER BY 1`
	const rest = `SELECT o.conname || pg_get_constraintdef(o.oid) FROM pg_constraint AS o JOIN pg_class AS c ON c.oid = o.conrelid
		WHERE c.relname = ANY ($1) AND o.contype NOT IN ('p', 'n') ORDER BY 1`
	names := []string{}
	for _, table := range s.Tables() {
		names = append(names, table.Name)
	}
	var all []string
	for _, sql := range []string{columns, indexes, rest} {
		rows, err := conn.Query(t.Context(), sql, names)
		if err != nil {
			t.Fatal(err)
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

// A tombstone cannot be told from a chart that was never saved whole once its columns are gone.
func TestNoWayDownOverTombstones(t *testing.T) {
	s := host.Stores(t)[0]
	conn := fresh(t, s)
	run(t, conn, []string{"INSERT INTO " + s.Relation(s.Charts) + ` (id, content_hash, retired_at, retired_by, inserted_at, updated_at)
		VALUES ('chart_1', 'sha256:1', now(), 'ops', now(), now())`})
	take(t, conn, ddl.Steps(s, ddl.Latest(), 7))
	refused := ddl.Units(ddl.Steps(s, 7, 6)[0].Statements)
	_, err := conn.Exec(t.Context(), refused[0].SQL)
	if want := "ERROR: charts of " + s.StoreString() + " are retired: the tables stay at version 7 (SQLSTATE P0001)"; err == nil || err.Error() != want {
		t.Errorf("the way down: %v, want %s", err, want)
	}
	demand(t, "after the refusal", conn, s, 7)
}

// A concurrent build that fails leaves an index that serves nobody, under the name of the one that is wanted.
func TestABuildThatFailedIsMadeWholeByTheSameStep(t *testing.T) {
	s := host.Stores(t)[0]
	conn := pgtest.New(t, "").Conn(t)
	take(t, conn, ddl.Steps(s, 0, 8))
	rows := "INSERT INTO " + s.Relation(s.Positions) + " SELECT g, g, 'h', '', '', now(), now() FROM generate_series(1, 2) AS g"
	index := s.Positions.Index("content_hash")
	run(t, conn, []string{rows})
	if _, err := conn.Exec(t.Context(), "CREATE UNIQUE INDEX CONCURRENTLY "+index+" ON "+s.Relation(s.Positions)+" (content_hash)"); err == nil {
		t.Fatal("the build was to fail")
	}
	if got, _ := read(t, conn, s).Table("positions"); !slices.ContainsFunc(got.Indexes, func(i ddl.Index) bool { return i.Invalid }) {
		t.Fatal("no index is invalid; the test shows nothing")
	}
	take(t, conn, ddl.Steps(s, 8, ddl.Latest()))
	demand(t, "after the step", conn, s, ddl.Latest())
}
