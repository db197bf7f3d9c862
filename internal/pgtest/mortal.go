package pgtest

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Mortal is a database on a server that a test may kill: a throwaway one of the test's own, whatever server the other tests
// use, that ends with it.
type Mortal struct {
	*DB
	cluster cluster
}

// NewMortal starts a server and makes a database that holds schemaSQL on it. Unlike the other throwaway servers it syncs
// what it writes, as one does that is to survive. (A SIGKILL alone takes nothing out of the system's memory; what must
// stand there is the log, before anybody is told of a commit: synchronous_commit, which is on everywhere.)
func NewMortal(t testing.TB, schemaSQL string) *Mortal {
	t.Helper()
	c, err := startCluster()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	d := clusterDB(t, c, func(s *server) (*DB, error) { return onServer(s).database(schemaSQL) })
	m := &Mortal{d, c}
	for _, setting := range []string{"fsync", "full_page_writes"} {
		m.Set(t, setting, "on")
	}
	return m
}

// Set changes a setting of the server's configuration that needs no restart, and waits until new sessions have it.
func (m *Mortal) Set(t testing.TB, name, value string) {
	t.Helper()
	for _, sql := range []string{fmt.Sprintf("ALTER SYSTEM SET %s = '%s'", name, value), "SELECT pg_catalog.pg_reload_conf()"} {
		if err := m.server.exec(sql); err != nil {
			t.Fatalf("pgtest: %v", err)
		}
	}
	Await(t, name+" to be "+value, func() bool {
		ctx, cancel := bounded()
		defer cancel()
		var now string
		err := m.server.admin.QueryRow(ctx, "SELECT pg_catalog.current_setting($1)", name).Scan(&now)
		return err == nil && now == value
	})
}

// Kill ends every process of the server by SIGKILL, at once.
func (m *Mortal) Kill(t testing.TB) {
	t.Helper()
	ctx, cancel := bounded()
	defer cancel()
	// A session that is there already: the postmaster, stopped, lets nobody in.
	watch, err := m.server.admin.Acquire(ctx)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	defer watch.Release()
	postmaster, err := postmasterIn(filepath.Join(m.cluster.folder, "data"))
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	if err := killServer(postmaster, func() ([]int, error) { return processes(ctx, watch.Conn()) }); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
}

// processes are those of the server, but for the postmaster.
func processes(ctx context.Context, conn *pgx.Conn) ([]int, error) {
	rows, _ := conn.Query(ctx, "SELECT pid FROM pg_catalog.pg_stat_activity") // CollectRows has the error
	return pgx.CollectRows(rows, pgx.RowTo[int])
}

// Restart starts the server again, on the data that it left, and waits until it answers.
func (m *Mortal) Restart(t testing.TB) {
	t.Helper()
	if err := m.cluster.restart(12 * patience); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	m.server.admin.Reset() // its connections lead nowhere
}
