package store_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

var execModes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
	pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
}

// A route is how a verb's statements come to the server.
type route struct {
	name string
	open pgtest.Option
}

// routes are all exec modes on connections to the server itself and through PgBouncer, which lends a connection for a
// transaction or for a statement. Statements that are kept in a connection are left out there: Debian's PgBouncer
// does not follow them.
func (h *host) routes(t testing.TB) []route {
	t.Helper()
	transactions, statements := h.Bouncer(t, pgtest.TransactionPooling), h.Bouncer(t, pgtest.StatementPooling)
	var routes []route
	for _, mode := range execModes {
		routes = append(routes, route{mode.String(), pgtest.ExecMode(mode)})
		if mode != pgx.QueryExecModeCacheStatement {
			routes = append(
				routes,
				route{mode.String() + ", transaction pooling", both(pgtest.ExecMode(mode), transactions)},
				route{mode.String() + ", statement pooling", both(pgtest.ExecMode(mode), statements)},
			)
		}
	}
	return routes
}

// txRoutes are those on which a transaction may take several round trips.
func (h *host) txRoutes(t testing.TB) []route {
	return slices.DeleteFunc(h.routes(t), func(r route) bool { return strings.HasSuffix(r.name, "statement pooling") })
}

func both(one, other pgtest.Option) pgtest.Option {
	return func(c *pgxpool.Config) {
		one(c)
		other(c)
	}
}

// PgBouncer 1.21 and newer follow the statements that a client keeps in its connection. Before, a call that needs one
// fails, and has done nothing.
func TestStatementsKeptInAConnectionFailLoudlyBehindPooling(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	hash := mustSave(t, free)
	s := h.store(t, pgtest.ExecMode(pgx.QueryExecModeCacheStatement), h.Bouncer(t, pgtest.TransactionPooling), pgtest.MaxConns(8))
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for range 10 {
				e := newExecution(hash)
				_, err := s.CreateExecution(t.Context(), e)
				_, missing := free.Execution(t.Context(), e.ExecutionID)
				if (err == nil) != (missing == nil) || err != nil && sqlState(err) != "26000" && sqlState(err) != "42P05" {
					t.Errorf("create answered %v, and reading it %v", err, missing)
				}
			}
		})
	}
	clients.Wait()
}

// The second try of a pool at a higher level is a transaction over several round trips.
func TestBehindStatementPoolingAPoolAtAHigherLevelIsRefused(t *testing.T) {
	h := newHost(t)
	hash := mustSave(t, h.store(t))
	for _, level := range levels[1:] {
		role := h.Role(t, "ALTER ROLE %s SUPERUSER", "ALTER ROLE %s SET default_transaction_isolation = '"+level+"'")
		s := h.store(t, h.Bouncer(t, pgtest.StatementPooling, role), pgtest.As(role), pgtest.ExecMode(pgx.QueryExecModeExec))
		for what, err := range map[string]error{
			"create": second(s.CreateExecution(t.Context(), newExecution(hash))),
			"retire": second(s.RetireChart(t.Context(), hash, by("ops"))),
		} {
			if sqlState(err) != "08P01" || errors.Is(err, store.ErrOutcomeUnknown) {
				t.Errorf("%s: %s: %v, want PgBouncer's 08P01", level, what, err)
			}
		}
	}
	mustRetire(t, h.store(t), hash)
}

// Bounds of a wait, the caller's and the store's, hold behind a pooler too, and nothing of the call is left.
func TestWaitsBehindPoolingEnd(t *testing.T) {
	h := newHost(t)
	hash := mustPinned(t, h.store(t))
	for _, r := range h.routes(t) {
		pool := h.Pool(t, r.open)
		holder, holderTx := h.begin(t, "")
		wantAs[*store.PinnedError](t, second(holder.RetireChart(t.Context(), hash, by("ops"))))
		bounded := store.New(pool, store.WithLockTimeout(20*time.Millisecond))
		wantAs[*store.LockTimeoutError](t, second(bounded.CreateExecution(t.Context(), newExecution(hash))))
		save := func(ctx context.Context) error { return store.New(pool).SaveChart(ctx, newChart(hash)) }
		wantIs(t, h.cancelledWhileItWaits(t, r.name, save), store.ErrOutcomeUnknown)
		must(t, holderTx.Rollback(t.Context()))
		pgtest.Await(t, r.name+": all locks to be gone", func() bool { return h.AdvisoryLocks(t) == 0 })
	}
}

// Many clients share three connections, and each is answered what it asked.
func TestReadsBehindPoolingAreNotMixedUp(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	hash := mustSave(t, free)
	e := mustCreate(t, free, hash)
	for _, r := range h.routes(t) {
		s := h.store(t, r.open, pgtest.MaxConns(8))
		reads := []func() error{
			func() error { return second(s.Chart(t.Context(), hash)) },
			func() error { return second(s.Execution(t.Context(), e.ExecutionID)) },
			func() error { return second(s.CountExecutions(t.Context(), hash)) },
			func() error { return second(s.LockInfo(t.Context(), hash)) },
			func() error { return second2(s.Retirement(t.Context(), hash)) },
		}
		var readers sync.WaitGroup
		for i := range 10 {
			readers.Go(func() {
				for range 20 {
					if err := reads[i%len(reads)](); err != nil {
						t.Errorf("%s: %v", r.name, err)
						return
					}
				}
			})
		}
		readers.Wait()
	}
}
