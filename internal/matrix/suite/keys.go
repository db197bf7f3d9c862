package suite

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/pgtest"
)

// A key that leaves out the schema or the table makes stores wait on each other that have nothing in common:
// https://github.com/golang-migrate/migrate/issues/118. The namespace is one for all, the store string is in the key, and two
// configs with one store string are one store. The other way round, and every pair, is whichStoresWait's.
func aKeyOfItsOwn(t *testing.T, packages map[string]Package) {
	db := newDB(t, packages)
	first, second := session{db.Conn(t)}, session{db.Conn(t)}
	for pair, want := range waiting() {
		a, b, _ := strings.Cut(pair, " ")
		if got := createWaits(t, db, first, second, packages[a], packages[b], "sha256:"+pair); got != want {
			t.Errorf("a create in %s waits for a retirement in %s: %v, want %v", b, a, got, want)
		}
	}
}

func createWaits(t *testing.T, db *pgtest.DB, first, second session, retires, creates Package, hash string) bool {
	t.Helper()
	for _, p := range []Package{retires, creates} {
		s, tx := second.begin(t, p)
		must(t, s.Save(t.Context(), hash))
		must(t, tx.Commit(t.Context()))
	}
	retiring, retireTx := first.begin(t, retires)
	must(t, retiring.Retire(t.Context(), hash))
	creating, createTx := second.begin(t, creates)
	waited, answer := begun(t, db, second, func() error { return creating.Create(t.Context(), "execution on "+hash, hash, "a") })
	if !waited {
		holds(t, db, first, retires.keys(hash))
		holds(t, db, second, creates.keys(hash))
	}
	must(t, retireTx.Rollback(t.Context()))
	must(t, answer())
	must(t, createTx.Rollback(t.Context()))
	return waited
}

// holds demands that a session has these chart locks, as the server shows them, and no others.
func holds(t *testing.T, db *pgtest.DB, s session, want []int32) {
	t.Helper()
	const sql = "SELECT CASE WHEN objid::int8 > 2147483647 THEN objid::int8 - 4294967296 ELSE objid::int8 END FROM pg_locks " +
		"WHERE locktype = 'advisory' AND objsubid = 2 AND classid::int8 = $1 AND pid = $2 ORDER BY 1"
	conn := db.Conn(t)
	rows, err := conn.Query(t.Context(), sql, int64(keyspec.Namespace), s.pid())
	must(t, err)
	got, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	must(t, err)
	must(t, conn.Close(t.Context()))
	if !slices.Equal(got, want) {
		t.Errorf("the server shows the keys %d, want %d", got, want)
	}
}
