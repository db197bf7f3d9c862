package pgtest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Config is what Pool and Conn connect with: as a superuser, with pgx's defaults, changed by the options.
func (d *DB) Config(t testing.TB, opts ...Option) *pgxpool.Config {
	t.Helper()
	config, err := pgxpool.ParseConfig(d.URL())
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	for _, opt := range opts {
		opt(config)
	}
	return config
}

// Pool is closed at the test's end. The test fails if a connection of it was not released by then, or if a connection that
// was released holds a session's advisory lock. It connects when it is first used.
func (d *DB) Pool(t testing.TB, opts ...Option) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.NewWithConfig(context.Background(), d.Config(t, opts...))
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() { d.closePool(t, pool) })
	return pool
}

func (d *DB) closePool(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	acquired := func() int32 { return pool.Stat().AcquiredConns() }
	if !within(d.patience, func() bool { return acquired() == 0 }) {
		t.Errorf("pgtest: %d connections of a pool were not released by the test's end", acquired())
		go pool.Close() // waits for those connections, so nobody must wait for it
		return
	}
	defer pool.Close()
	if left := d.advisoryLocks(t, idlePIDs(pool)...); len(left) > 0 {
		t.Errorf("pgtest: advisory locks are left in idle connections of a pool: %q", left)
	}
}

// idlePIDs are the backends of the connections that lie in the pool.
func idlePIDs(pool *pgxpool.Pool) []uint32 {
	pids := []uint32{} // not nil, which would mean all backends
	for _, conn := range pool.AcquireAllIdle(context.Background()) {
		pids = append(pids, conn.Conn().PgConn().PID())
		conn.Release()
	}
	return pids
}

// Conn is closed at the test's end.
func (d *DB) Conn(t testing.TB, opts ...Option) *pgx.Conn {
	t.Helper()
	ctx, cancel := bounded()
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, d.Config(t, opts...).ConnConfig)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() { closeConn(conn) })
	return conn
}

// closeConn reports nothing: a test may have broken the connection on purpose.
func closeConn(conn *pgx.Conn) {
	ctx, cancel := bounded()
	defer cancel()
	_ = conn.Close(ctx)
}

// Exec runs SQL as a superuser on a connection of its own; several statements if there are no arguments.
func (d *DB) Exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	ctx, cancel := bounded()
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, d.Config(t).ConnConfig)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	defer closeConn(conn)
	if _, err := conn.Exec(ctx, sql, args...); err != nil {
		t.Fatalf("pgtest: %v\n%s", err, sql)
	}
}
