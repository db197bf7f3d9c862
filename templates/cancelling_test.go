package store_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// fuse ends a call's context at the nth read or write of any of the pool's connections.
type fuse struct {
	mu     sync.Mutex
	left   int
	cancel context.CancelFunc // nil when it is not lit, or has burnt down
}

func (f *fuse) light(left int, cancel context.CancelFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left, f.cancel = left, cancel
}

// burn counts one read or write.
func (f *fuse) burn() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left--; f.left < 0 && f.cancel != nil {
		f.cancel()
		f.cancel = nil
	}
}

// burnt puts the fuse out and says whether it had burnt down.
func (f *fuse) burnt() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.cancel == nil
	f.cancel = nil
	return out
}

// fusedConn is a client's connection that burns a fuse.
type fusedConn struct {
	net.Conn
	fuse *fuse
}

func (c *fusedConn) Read(p []byte) (int, error) {
	c.fuse.burn()
	return c.Conn.Read(p)
}

func (c *fusedConn) Write(p []byte) (int, error) {
	c.fuse.burn()
	return c.Conn.Write(p)
}

func fused(f *fuse) pgtest.Option {
	return func(c *pgxpool.Config) {
		c.ConnConfig.AfterNetConnect = func(_ context.Context, _ *pgconn.Config, conn net.Conn) (net.Conn, error) {
			return &fusedConn{conn, f}, nil
		}
	}
}

// An unlock on a context that has ended is not sent, and the connection goes back to the pool with its lock:
// https://github.com/mosamlife/wpmgr/issues/483. Every call is cancelled at each of its steps, on a pool of three, and no lock
// and no connection is lost.
func TestA14ACancelledCallLeavesNoLockInThePool(t *testing.T) {
	h := newHost(t)
	t.Run("every lock is a transaction's", func(t *testing.T) { onlyTransactionLocks(t) })
	t.Run("at every step", func(t *testing.T) { cancelledAtEveryStep(t, h) })
	t.Run("while it waits", func(t *testing.T) { cancelledWhileItWaits(t, h) })
	if n := h.stranded(t); n != 0 {
		t.Errorf("%d retired charts are still needed", n)
	}
}

// onlyTransactionLocks reads all that is emitted, Go as well.
func onlyTransactionLocks(t *testing.T) {
	calls := 0
	for _, folder := range []string{"*.go", "internal/db/*.go"} {
		files, err := filepath.Glob(folder)
		must(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			must(t, err)
			for _, call := range regexp.MustCompile(`pg_\w*advisory\w*`).FindAllString(string(text), -1) {
				if calls++; !strings.Contains(call, "advisory_xact_lock") {
					t.Errorf("%s has %s, which a session would hold", file, call)
				}
			}
		}
	}
	if calls < 4 {
		t.Errorf("found %d calls that lock, want at least 4", calls)
	}
}

func cancelledAtEveryStep(t *testing.T, h *host) {
	c := canceller{h: h, free: h.store(t)}
	c.pool = h.Pool(t, pgtest.MaxConns(3), fused(&c.fuse))
	for name, m := range methods() {
		for how, call := range m.calls {
			c.everyStep(t, name+" "+how+" on the pool", func(ctx context.Context, f *fixture) error {
				f.s = store.New(c.pool)
				return call.do(ctx, f)
			})
			c.everyStep(t, name+" "+how+" in a transaction", func(ctx context.Context, f *fixture) error {
				return pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
					f.s = store.New(nil).WithTx(tx)
					return call.do(ctx, f)
				})
			})
		}
	}
	if c.runs < 200 {
		t.Errorf("%d runs, want at least 200", c.runs)
	}
}

// canceller cancels calls on a pool whose connections burn its fuse.
type canceller struct {
	h    *host
	free *store.Store
	pool *pgxpool.Pool
	fuse fuse
	runs int
}

// everyStep makes the call again and again, cancelled one read or write later each time, until it is over before that.
func (c *canceller) everyStep(t *testing.T, name string, call func(ctx context.Context, f *fixture) error) {
	t.Helper()
	for step, burnt := 0, true; burnt; step++ {
		ctx, cancel := context.WithCancel(t.Context())
		f := newFixture(t, c.free)
		c.fuse.light(step, cancel)
		err := call(ctx, f)
		burnt = c.fuse.burnt()
		cancel()
		if code := sqlState(err); code != "" && code != "57014" {
			t.Errorf("%s, cancelled at step %d: %v", name, step, err)
		}
		c.h.nothingIsHeld(t, c.pool)
		c.runs++
	}
}

// nothingIsHeld demands that no lock is left and that the pool serves all its connections.
func (h *host) nothingIsHeld(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	pgtest.Await(t, "the locks of a cancelled call to be gone", func() bool { return h.AdvisoryLocks(t) == 0 })
	for range pool.Config().MaxConns {
		conn, err := pool.Acquire(t.Context())
		must(t, err)
		defer conn.Release()
		must(t, conn.Ping(t.Context()))
	}
}

// cancelledWhileItWaits cancels each verb when the server has it waiting for its lock.
func cancelledWhileItWaits(t *testing.T, h *host) {
	free := h.store(t)
	for _, v := range verbs() {
		hash := mustSave(t, free)
		_, holder := h.begin(t, "")
		for _, lock := range chartLocks(hash, "") {
			mustExec(t, holder, "SELECT pg_advisory_xact_lock($1::int4, $2::int4)", store.Namespace, int32(lock.ObjID))
		}
		s, backend := h.storeOfOne(t)
		ctx, cancel := context.WithCancel(t.Context())
		answered := make(chan error, 1)
		go func() { answered <- v.do(ctx, s, hash, "waiter") }()
		h.AwaitBlocked(t, backend)
		cancel()
		if err := <-answered; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want a cancellation", v.name, err)
		}
		pgtest.Await(t, "the waiter to be gone", func() bool { return h.AdvisoryLocks(t) == len(chartLocks(hash, "")) })
		must(t, holder.Rollback(t.Context()))
		must(t, v.do(t.Context(), s, hash, "again"))
	}
}
