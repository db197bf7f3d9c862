package migrations

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/statigen/statigen/internal/ddl"
	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/live"
	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/pgtest"
)

// ugly is a host whose names are what each tool looks for in its files, and what the readers of SQL in them stumble over.
const ugly = `version: 1
stores:
  ugly:
    out: ugly
    prefix: '---- create above / drop below ----'
    tables: {charts: '{{/* x */}}-- +goose Down', executions: 'e''; -- +goose StatementEnd', inputs: '{{{$x$', positions: '/*;'}
    leading_columns:
      - {name: '---- tern: disable-tx ----', type: text, not_null: true, default: "-- +goose Up\n---- create above / drop below ----\n{{.x}}\\"}
      - {name: 'it''s "q" \', type: text, default: 'E''\'';$$'}
      - {name: '$statigen$;', type: bigint}
      - {name: '-- +goose ENVSUB ON ${HOME}', type: text}
`

// hosts are the ugly host, and those of the matrix whose names and columns are far from plain.
func hosts(t *testing.T) []model.Store {
	t.Helper()
	all := parsed(t, "ugly.yaml", ugly)
	for _, file := range []string{"hosts.yaml", "columns.yaml"} {
		text, err := os.ReadFile("../matrix/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range parsed(t, file, string(text)) {
			if slices.Contains([]string{"plain", "odd", "serials", "signs", "long", "collated"}, s.Name) {
				all = append(all, s)
			}
		}
	}
	if len(all) != 7 {
		t.Fatalf("%d hosts, want 7: the matrix has others", len(all))
	}
	return all
}

// everyWay runs a test on each host, with each tool.
func everyWay(t *testing.T, test func(*testing.T, model.Store, tool)) {
	for _, s := range hosts(t) {
		for _, with := range tools() {
			t.Run(s.Name+" with "+with.format, func(t *testing.T) { test(t, s, with) })
		}
	}
}

// demand holds the tables that are there against a state, but for the order of columns and indexes.
func demand(t *testing.T, what string, db *pgtest.DB, s model.Store, want ddl.State) {
	t.Helper()
	conn := db.Conn(t)
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := live.Read(t.Context(), tx, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	got.Version = want.Version
	sorted := cmp.Options{
		cmpopts.SortSlices(func(a, b ddl.Index) bool { return a.Name < b.Name }),
		cmpopts.SortSlices(func(a, b ddl.Column) bool { return a.Name < b.Name }), cmpopts.EquateEmpty(),
	}
	if diff := cmp.Diff(want, got, sorted); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// upDownUp takes the folder's migrations, but for the first ones, up, down and up again.
func (f folder) upDownUp(t *testing.T, with tool, db *pgtest.DB, after int, s model.Store, before func()) {
	t.Helper()
	latest := ddl.At(s, ddl.Latest())
	must(t, with.up(t, db, f.later(with, after)))
	demand(t, "up", db, s, latest)
	must(t, with.downTo(t, db, f.fsys(), after))
	before()
	must(t, with.up(t, db, f.later(with, after)))
	demand(t, "up again", db, s, latest)
}

func TestFromNothing(t *testing.T) {
	everyWay(t, func(t *testing.T, s model.Store, with tool) {
		f, db := folder{}, pgtest.New(t, "")
		f.plan(t, f.request(s, with.format, "empty"))
		f.upDownUp(t, with, db, 0, s, func() { demand(t, "down", db, s, ddl.At(s, 0)) })
	})
}

// asOf makes the tables of a version, with the names of runs.
func asOf(t *testing.T, s model.Store, v ddl.Version) *pgtest.DB {
	t.Helper()
	db := pgtest.New(t, "")
	for _, step := range ddl.Steps(s, 0, v) {
		for _, unit := range ddl.Units(step.Statements) {
			db.Exec(t, unit.SQL)
		}
	}
	former := model.Table{Name: s.FormerRuns}
	if former.Name == "" {
		former.Name = s.Executions.Name
	}
	relation := func(name string) string { return keyspec.Relation(s.Schema, name) }
	rename := func(from, to string) string {
		return "ALTER INDEX " + relation(from) + " RENAME TO " + keyspec.QuoteIdent(to)
	}
	db.Exec(t, rename(s.Executions.DerivedIndex("execution_id"), former.DerivedIndex("run_id")))
	db.Exec(t, "ALTER TABLE "+s.Relation(s.Executions)+" RENAME COLUMN execution_id TO run_id")
	if former.Name != s.Executions.Name {
		db.Exec(t, "ALTER TABLE "+s.Relation(s.Executions)+" RENAME TO "+keyspec.QuoteIdent(former.Name))
		db.Exec(t, rename(s.Executions.Index("metadata_gin"), former.Index("metadata_gin")))
	}
	if v >= 5 {
		db.Exec(t, "ALTER TABLE "+s.Relation(s.Inputs)+" RENAME COLUMN execution_id TO run_id")
		db.Exec(t, rename(s.Inputs.DerivedIndex("execution_id_seq"), s.Inputs.DerivedIndex("run_id_seq")))
	}
	return db
}

func TestFromTablesWithTheNamesOfRuns(t *testing.T) {
	for _, v := range []ddl.Version{3, 5} {
		everyWay(t, func(t *testing.T, s model.Store, with tool) {
			f, db := folder{}, asOf(t, s, v)
			f.plan(t, f.request(s, with.format, v.String()))
			f.upDownUp(t, with, db, 0, s, func() { demand(t, "down", db, s, ddl.At(s, v)) })
		})
	}
}

// Leading columns come to tables that are there: one that takes NULL, and one that has a default.
func TestANewLeadingColumn(t *testing.T) {
	everyWay(t, func(t *testing.T, s model.Store, with tool) {
		f, db := folder{}, pgtest.New(t, "")
		before, columns := s, hosts(t)[0].Leading
		before.Leading = slices.Clone(s.Leading)
		f.plan(t, f.request(before, with.format, "empty"))
		must(t, with.up(t, db, f.fsys()))
		after := f.migrations()
		for _, c := range columns[:2] {
			c.Name = "new; " + c.Name
			s.Leading = append(slices.Clone(s.Leading), c)
		}
		f.plan(t, f.request(s, "", ""))
		f.upDownUp(t, with, db, after, s, func() { demand(t, "down", db, before, ddl.At(before, ddl.Latest())) })
	})
}

// A tombstone keeps the tables at version 7.
func TestTheWayBackStopsAtATombstone(t *testing.T) {
	everyWay(t, func(t *testing.T, s model.Store, with tool) {
		f, db := folder{}, asOf(t, s, 5)
		f.plan(t, f.request(s, with.format, "5"))
		must(t, with.up(t, db, f.fsys()))
		db.Exec(t, plantTombstone(s))
		err := with.downTo(t, db, f.fsys(), 0)
		if want := "are retired: the tables stay at version 7"; err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("the way down: %v", err)
		}
		db.Exec(t, "SELECT retired_at FROM "+s.Relation(s.Charts))
	})
}

// plantTombstone writes a value into each column of the charts that must have one.
func plantTombstone(s model.Store) string {
	names, values := []string{"content_hash", "retired_at", "inserted_at", "updated_at"}, []string{"'h'", "now()", "now()", "now()"}
	if s.ID != model.Bigserial {
		names, values = append(names, "id"), append(values, "'c'")
	}
	charts := ddl.At(s, ddl.Latest()).Tables[0]
	for _, c := range s.Leading {
		if column, _ := charts.Column(c.Name); column.NotNull && column.Default == "" {
			names, values = append(names, keyspec.QuoteIdent(c.Name)), append(values, "'1'")
		}
	}
	return "INSERT INTO " + s.Relation(s.Charts) + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
}

// What is to be considered does not run, neither up nor down, until somebody has edited it; then it does.
func TestWhatIsConsideredRunsOnceItIsEdited(t *testing.T) {
	for _, with := range tools() {
		t.Run(with.format, func(t *testing.T) {
			s := loans(t, ", leading_columns: [{name: old, type: text}]")
			f, db := folder{}, pgtest.New(t, "")
			f.plan(t, f.request(s, with.format, "empty"))
			must(t, with.up(t, db, f.fsys()))
			after := f.migrations()
			r := f.request(loans(t, ", leading_columns: [{name: new, type: text, not_null: true}]"), "", "")
			r.Considered = true
			f.plan(t, r)
			if err := with.up(t, db, f.later(with, after)); err == nil || !strings.Contains(err.Error(), "this migration is to be reviewed") {
				t.Fatalf("up: %v", err)
			}
			demand(t, "refused", db, s, ddl.At(s, ddl.Latest()))
			f, db = f.edited(), pgtest.New(t, "")
			must(t, with.up(t, db, f.upTo(after)))
			f.upDownUp(t, with, db, after, r.Store, func() { demand(t, "down", db, s, ddl.At(s, ddl.Latest())) })
		})
	}
}

// edited is the folder as somebody leaves it who takes all for what it says.
func (f folder) edited() folder {
	edited := folder{}
	for name, text := range f {
		var lines []string
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "DO $statigen$ BEGIN RAISE") {
				line = "SELECT 1;\n"
			}
			if sql, found := strings.CutPrefix(line, "-- ALTER"); found {
				line = "ALTER" + sql
			}
			lines = append(lines, line)
		}
		edited[name] = []byte(strings.Join(lines, ""))
	}
	return edited
}

// later is what the tool gets to run: one that keeps no record gets only what it has not run.
func (f folder) later(with tool, after int) fs.FS {
	if with.versions != "" {
		return f.fsys()
	}
	return f.without(func(number int) bool { return number <= after })
}

func (f folder) upTo(after int) fs.FS {
	return f.without(func(number int) bool { return number > after })
}

func (f folder) without(left func(int) bool) fs.FS {
	some := folder{}
	for name, text := range f {
		var number int
		if _, err := fmt.Sscanf(name, "%d_", &number); err == nil && !left(number) {
			some[name] = text
		}
	}
	return some.fsys()
}

// A concurrent build that fails leaves an index that serves nobody; the same migration makes it whole.
func TestABuildThatFailedIsMadeWholeByTheSameMigration(t *testing.T) {
	for _, with := range tools() {
		t.Run(with.format, func(t *testing.T) {
			s := loans(t, "")
			f, db := folder{}, asOf(t, s, 5)
			f.plan(t, f.request(s, with.format, "5"))
			name := keyspec.QuoteIdent(s.Positions.Index("content_hash"))
			db.Exec(t, "INSERT INTO "+s.Relation(s.Positions)+" SELECT g, g, 'h', '', '', now(), now() FROM generate_series(1, 2) AS g")
			conn := db.Conn(t)
			if _, err := conn.Exec(t.Context(), "CREATE UNIQUE INDEX CONCURRENTLY "+name+" ON "+s.Relation(s.Positions)+" (content_hash)"); err == nil {
				t.Fatal("the build was to fail")
			}
			must(t, with.up(t, db, f.fsys()))
			demand(t, "up", db, s, ddl.At(s, ddl.Latest()))
		})
	}
}
