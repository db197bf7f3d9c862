package live_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/statigen/statigen/internal/ddl"
	"github.com/statigen/statigen/internal/host"
	"github.com/statigen/statigen/internal/live"
	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/pgtest"
	"github.com/statigen/statigen/internal/sqltext"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// read reads a store's tables, and leaves the connection as it was.
func read(t *testing.T, db *pgtest.DB, s model.Store) ddl.State {
	t.Helper()
	conn := db.Conn(t)
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

func sameState(t *testing.T, what string, want, got ddl.State) {
	t.Helper()
	byName := cmpopts.SortSlices(func(a, b ddl.Index) bool { return a.Name < b.Name })
	if diff := cmp.Diff(want, got, byName); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// schema.sql makes what package ddl says, columns in the same order, on every host of the matrix.
func TestTheSchemaIsTheLatestState(t *testing.T) {
	for _, s := range host.Stores(t) {
		t.Run(s.Name, func(t *testing.T) {
			schema, err := sqltext.Schema(s)
			if err != nil {
				t.Fatal(err)
			}
			sameState(t, "schema.sql", ddl.At(s, ddl.Latest()), read(t, pgtest.New(t, string(schema)), s))
		})
	}
}
