package pgtest

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Blocked reports whether a backend waits for a lock of any kind. It asks from another session.
func (d *DB) Blocked(t testing.TB, pid uint32) bool {
	t.Helper()
	ctx, cancel := bounded()
	defer cancel()
	const sql = "SELECT EXISTS (SELECT FROM pg_catalog.pg_locks WHERE pid = $1 AND NOT granted)"
	var blocked bool
	if err := d.server.admin.QueryRow(ctx, sql, pid).Scan(&blocked); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return blocked
}

// AwaitBlocked waits until the backend waits for a lock.
func (d *DB) AwaitBlocked(t testing.TB, pid uint32) {
	t.Helper()
	Await(t, fmt.Sprintf("backend %d to wait for a lock", pid), func() bool { return d.Blocked(t, pid) })
}

// AdvisoryLocks counts the advisory locks that are held or awaited in this database.
func (d *DB) AdvisoryLocks(t testing.TB) int {
	t.Helper()
	return len(d.advisoryLocks(t))
}

// advisoryLocks describes the advisory locks in this database: of these backends, or of all if none is named.
func (d *DB) advisoryLocks(t testing.TB, pids ...uint32) []string {
	t.Helper()
	ctx, cancel := bounded()
	defer cancel()
	const sql = `
		SELECT format('(%s,%s) %s pid %s granted %s', l.classid, l.objid, l.mode, l.pid, l.granted)
		FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_database d ON d.oid = l.database
		WHERE l.locktype = 'advisory' AND d.datname = $1 AND ($2::bigint[] IS NULL OR l.pid = ANY ($2))`
	rows, _ := d.server.admin.Query(ctx, sql, d.name, pids) // CollectRows has the error
	locks, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return locks
}
