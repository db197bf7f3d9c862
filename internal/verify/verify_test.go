package verify_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/ddl"
	"github.com/statigen/statigen/internal/generate"
	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/pgtest"
	"github.com/statigen/statigen/internal/reference"
	"github.com/statigen/statigen/internal/sqltext"
	"github.com/statigen/statigen/internal/verify"
)

func TestMain(m *testing.M) {
	generate.Child()
	os.Exit(pgtest.Main(m))
}

func parse(t *testing.T, file, text string) []model.Store {
	t.Helper()
	stores, err := config.Parse(file, []byte(text), model.Module{Path: "example.com/host", Dir: "."})
	if err != nil {
		t.Fatal(err)
	}
	return stores
}

// subjects are the stores with their statements.
func subjects(t *testing.T, stores ...model.Store) []verify.Subject {
	t.Helper()
	statements, err := generate.Statements(t.Context(), stores)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]verify.Subject, len(stores))
	for i, s := range stores {
		all[i] = verify.Subject{Store: s, Statements: statements[i]}
	}
	return all
}

// matrix are the hosts of the matrix. sqlc runs once for all of them.
var matrix = struct {
	once sync.Once
	all  []verify.Subject
}{}

func hosts(t *testing.T) []verify.Subject {
	t.Helper()
	matrix.once.Do(func() {
		var all []model.Store
		for _, file := range []string{"hosts.yaml", "columns.yaml"} {
			text, err := os.ReadFile("../matrix/" + file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, parse(t, file, string(text))...)
		}
		matrix.all = subjects(t, all...)
	})
	return matrix.all
}

// host is a store of the matrix.
func host(t *testing.T, name string) verify.Subject {
	t.Helper()
	for _, h := range hosts(t) {
		if h.Store.Name == name {
			return h
		}
	}
	t.Fatalf("no host %s", name)
	return verify.Subject{}
}

func schema(t *testing.T, s model.Store) string {
	t.Helper()
	text, err := sqltext.Schema(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// verified is what is found on a connection.
func verified(t *testing.T, conn *pgx.Conn, role string, of ...verify.Subject) []verify.Finding {
	t.Helper()
	job := verify.Job{Subjects: of, Role: role}
	for _, s := range of {
		job.Config = append(job.Config, s.Store)
	}
	found, err := verify.Run(t.Context(), conn, job)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// line is a finding in one line.
func line(f verify.Finding) string {
	words := []string{string(f.Kind)}
	if f.Object != "" {
		words = append(words, f.Object)
	}
	return strings.Join(append(words, f.Text), ": ")
}

func lines(found []verify.Finding) []string {
	var all []string
	for _, f := range found {
		all = append(all, line(f))
	}
	return all
}

func want(t *testing.T, what string, found []verify.Finding, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, lines(found)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// mend runs what the findings print, as psql would: each statement by itself.
func mend(t *testing.T, conn *pgx.Conn, found []verify.Finding) {
	t.Helper()
	for _, f := range found {
		for _, s := range f.SQL {
			exec(t, conn, s.SQL)
		}
	}
}

func exec(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%v\n%s", err, sql)
		}
	}
}

// Whichever way the tables were made, nothing is found.
func TestNothingIsFoundOnTheTablesOfEveryHost(t *testing.T) {
	for i, h := range hosts(t) {
		t.Run(h.Store.Name, func(t *testing.T) {
			want(t, "schema.sql", verified(t, pgtest.New(t, schema(t, h.Store)).Conn(t), "", h))
			if i >= 9 {
				return // the others have other columns, of which the ways make no difference
			}
			conn := pgtest.New(t, "").Conn(t)
			for v := 1; v <= 8; v++ {
				exec(t, conn, reference.Migration(h.Store, v)...)
			}
			for _, step := range ddl.Steps(h.Store, 8, ddl.Latest()) {
				for _, s := range step.Statements {
					exec(t, conn, s.SQL)
				}
			}
			want(t, "the reference's migrations", verified(t, conn, "", h))
		})
	}
}

// A database at any version is recognized, with the names of today and those of before version 6, and what is printed
// makes it the latest.
func TestEachVersionIsRecognized(t *testing.T) {
	words := map[int]string{1: "1", 2: "2", 3: "3 or 4", 4: "3 or 4", 5: "5 or 6", 6: "5 or 6", 7: "7", 8: "8"}
	from := map[int]string{1: "1", 2: "2", 3: "4", 4: "4", 5: "6", 6: "6", 7: "7", 8: "8"}
	for _, name := range []string{"plain", "loans", "odd", "serials"} {
		h := host(t, name)
		object := h.Store.StoreString()
		if h.Store.Schema == "" {
			object = `"public".` + object
		}
		for v := 1; v <= 8; v++ {
			text := "version: %s: and the tables that belong to it are at version %s%s (want version 8.1, by the statements of: statigen ddl --store %s --from %s)"
			t.Run(fmt.Sprintf("%s at %d", name, v), func(t *testing.T) {
				recognized(t, h, v, reference.Migration, fmt.Sprintf(text, object, words[v], "", name, from[v]))
			})
			if v < 6 {
				words := strings.TrimSuffix(words[v], " or 6")
				from := strings.Replace(from[v], "6", "5", 1)
				t.Run(fmt.Sprintf("%s at %d, with runs", name, v), func(t *testing.T) {
					recognized(t, h, v, reference.BeforeRenaming, fmt.Sprintf(text, object, words, ", with the names that executions had before version 6", name, from))
				})
			}
		}
	}
}

func recognized(t *testing.T, h verify.Subject, v int, made func(model.Store, int) []string, text string) {
	conn := pgtest.New(t, "").Conn(t)
	for m := 1; m <= v; m++ {
		exec(t, conn, made(h.Store, m)...)
	}
	found := verified(t, conn, "", h)
	want(t, "before", found, text)
	mend(t, conn, found)
	want(t, "mended", verified(t, conn, "", h))
}

// With nothing there, all is printed.
func TestAnEmptyDatabaseIsRecognized(t *testing.T) {
	for _, name := range []string{"plain", "loans"} {
		h := host(t, name)
		db := pgtest.New(t, "")
		role := db.Role(t)
		conn := db.Conn(t)
		found := verified(t, conn, role, h)
		if len(found) < 4 || found[0].Kind != verify.Version || !strings.Contains(found[0].Text, "are not there (want version 8.1") || found[1].Kind != verify.Privilege {
			t.Errorf("%s: found %q", name, lines(found))
		}
		mend(t, conn, found)
		want(t, "mended", verified(t, conn, role, h))
	}
}
