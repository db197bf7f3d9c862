package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

var levels = []string{"read committed", "repeatable read", "serializable"}

// A verb on a chart, and how the lock rule sees it.
type verb struct {
	name string
	do   func(ctx context.Context, s *store.Store, hash, who string) error
}

func (v verb) retires() bool { return v.name == "retire" }

func verbs() []verb {
	return []verb{
		{"create", func(ctx context.Context, s *store.Store, hash, who string) error {
			e := newExecution(hash)
			e.ExecutionID = who + " on " + hash
			_, err := s.CreateExecution(ctx, e)
			return err
		}},
		{"save", func(ctx context.Context, s *store.Store, hash, _ string) error {
			return s.SaveChart(ctx, newChart(hash))
		}},
		{"read", func(ctx context.Context, s *store.Store, hash, _ string) error {
			r, retired, err := s.Retirement(ctx, hash)
			if retired {
				return (*store.ChartRetiredError)(&r)
			}
			return err
		}},
		{"retire", func(ctx context.Context, s *store.Store, hash, who string) error {
			_, err := s.RetireChart(ctx, hash, by(who))
			return err
		}},
	}
}

// A way to call a verb: on a pool whose sessions default to a level, or in a host's transaction at one, which may
// have taken its snapshot before the other side began.
type way struct {
	host, oldSnapshot bool
	level             string
}

func (w way) String() string {
	switch {
	case w.oldSnapshot:
		return "old snapshot, " + w.level
	case w.host:
		return "host, " + w.level
	}
	return "pool, " + w.level
}

func (w way) readCommitted() bool { return w.level == "read committed" }

func onPools(levels ...string) []way {
	var ways []way
	for _, level := range levels {
		ways = append(ways, way{level: level})
	}
	return ways
}

func inHosts(levels ...string) []way {
	var ways []way
	for _, level := range levels {
		ways = append(ways, way{host: true, level: level})
	}
	return ways
}

func onOldSnapshots(levels ...string) []way {
	var ways []way
	for _, level := range levels {
		ways = append(ways, way{host: true, oldSnapshot: true, level: level})
	}
	return ways
}

// A cell is one interleaving: the first side acts and, in a host's transaction, stays open; the second comes;
// the first ends; the second answers.
type cell struct {
	first, second       verb
	firstWay, secondWay way
	rollback            bool
}

func (c cell) String() string {
	end := "commit"
	if c.rollback {
		end = "rollback"
	}
	return fmt.Sprintf("%s (%s, %s) then %s (%s)", c.first.name, c.firstWay, end, c.second.name, c.secondWay)
}

// outOfLevel: a retirement in a host's transaction at a higher level is refused at once, lock not taken.
func outOfLevel(v verb, w way) bool { return v.retires() && w.host && !w.readCommitted() }

func (c cell) waits() bool {
	if !c.firstWay.host || outOfLevel(c.first, c.firstWay) || outOfLevel(c.second, c.secondWay) {
		return false
	}
	return c.first.retires() || c.second.retires()
}

// answer is what the second side is told.
func (c cell) answer() string {
	effective := !c.rollback && !outOfLevel(c.first, c.firstWay)
	higher := c.secondWay.host && !c.secondWay.readCommitted()
	switch {
	case outOfLevel(c.second, c.secondWay):
		return "isolation"
	case effective && c.first.retires() && higher && (c.firstWay.host || c.secondWay.oldSnapshot):
		return "40001" // its snapshot is older than the tombstone
	case effective && c.first.retires():
		return "retired"
	case effective && c.first.name == "create" && c.second.retires():
		return "pinned"
	}
	return "ok"
}

func answerOf(err error) string {
	var (
		level   *store.IsolationError
		retired *store.ChartRetiredError
		pinned  *store.PinnedError
	)
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &level):
		return "isolation"
	case errors.As(err, &retired):
		return "retired"
	case errors.As(err, &pinned):
		return "pinned"
	case sqlState(err) != "":
		return sqlState(err)
	}
	return err.Error()
}

// Every pair of verbs, in every way on both sides: who waits for whom, what the second one is told, and that
// nothing is left that must not be.
func TestWhatWaitsOnWhat(t *testing.T) {
	h := newHost(t)
	firsts := slices.Concat(onPools(levels...), inHosts(levels...))
	newLab(t, h, h.labRoles(t)).runAll(t, firsts, append(firsts, onOldSnapshots(levels...)...))
}

// Through PgBouncer too, where the first side's connection is its own for as long as its transaction lasts.
func TestWhatWaitsOnWhatBehindTransactionPooling(t *testing.T) {
	h := newHost(t)
	for _, mode := range execModes[1:] {
		roles := h.labRoles(t)
		via := h.Bouncer(t, pgtest.TransactionPooling, slices.Collect(maps.Values(roles))...)
		ways := slices.Concat(onPools("read committed", "repeatable read"), inHosts("read committed"))
		newLab(t, h, roles, via, pgtest.ExecMode(mode)).runAll(t, ways, ways)
	}
}

// Behind statement pooling there are no hosts' transactions: the first side's goes straight to the server.
func TestWhatWaitsOnWhatBehindStatementPooling(t *testing.T) {
	h := newHost(t)
	for _, mode := range execModes[1:] {
		roles := h.labRoles(t)
		l := newLab(t, h, roles)
		l.openPools(t, roles, h.Bouncer(t, pgtest.StatementPooling, slices.Collect(maps.Values(roles))...), pgtest.ExecMode(mode))
		l.runAll(t, inHosts(levels...), onPools("read committed"))
	}
}

// lab keeps the connections of a matrix, so that a cell costs no new ones. Each belongs to a role that has no other:
// so it keeps its backend, through a pooler too.
type lab struct {
	h             *host
	free          *store.Store
	first, second *pgx.Conn
	pools         map[string]*pgxpool.Pool // by level
	backends      map[querier]uint32
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func backend(t *testing.T, of querier) uint32 {
	t.Helper()
	var pid uint32
	must(t, of.QueryRow(t.Context(), "SELECT pg_backend_pid()").Scan(&pid))
	return pid
}

// labRoles makes a lab's roles: for both connections, and for a pool of each level.
func (h *host) labRoles(t *testing.T) map[string]string {
	t.Helper()
	roles := map[string]string{"first": h.Role(t, "ALTER ROLE %s SUPERUSER"), "second": h.Role(t, "ALTER ROLE %s SUPERUSER")}
	for _, level := range levels {
		roles[level] = h.Role(t, "ALTER ROLE %s SUPERUSER", "ALTER ROLE %s SET default_transaction_isolation = '"+level+"'")
	}
	return roles
}

func newLab(t *testing.T, h *host, roles map[string]string, opts ...pgtest.Option) *lab {
	t.Helper()
	l := &lab{
		h: h, free: h.store(t),
		first:  h.Conn(t, append(opts, pgtest.As(roles["first"]))...),
		second: h.Conn(t, append(opts, pgtest.As(roles["second"]))...),
	}
	l.backends = map[querier]uint32{l.first: backend(t, l.first), l.second: backend(t, l.second)}
	l.openPools(t, roles, opts...)
	return l
}

func (l *lab) openPools(t *testing.T, roles map[string]string, opts ...pgtest.Option) {
	t.Helper()
	l.pools = map[string]*pgxpool.Pool{}
	for _, level := range levels {
		pool := l.h.Pool(t, append(opts, pgtest.MaxConns(1), pgtest.As(roles[level]))...)
		l.pools[level], l.backends[pool] = pool, backend(t, pool)
	}
}

// runAll runs every pair of verbs in every one of the ways.
func (l *lab) runAll(t *testing.T, firsts, seconds []way) {
	t.Helper()
	cells := cellsOf(firsts, seconds)
	for _, c := range cells {
		l.run(t, c)
	}
	if n := l.h.stranded(t); n != 0 {
		t.Errorf("%d retired charts are still needed", n)
	}
	for of, pid := range l.backends {
		if now := backend(t, of); now != pid {
			t.Errorf("a connection of the lab's had the backend %d and has %d now", pid, now)
		}
	}
	t.Logf("%d cells", len(cells))
}

func cellsOf(firsts, seconds []way) []cell {
	var cells []cell
	for _, first := range verbs() {
		for _, firstWay := range firsts {
			for _, second := range verbs() {
				for _, secondWay := range seconds {
					cells = append(cells, cell{first, second, firstWay, secondWay, false})
					if firstWay.host {
						cells = append(cells, cell{first, second, firstWay, secondWay, true})
					}
				}
			}
		}
	}
	return cells
}

func (l *lab) run(t *testing.T, c cell) {
	t.Helper()
	hash := mustSave(t, l.free)
	second, secondTx, secondPID := l.enter(t, l.second, c.secondWay)
	first, firstTx, _ := l.enter(t, l.first, c.firstWay)
	firstErr := c.first.do(t.Context(), first, hash, "first")
	if want := firstAnswer(c); answerOf(firstErr) != want {
		t.Errorf("%s: first side answered %v, want %s", c, firstErr, want)
	}

	answered := make(chan error, 1)
	go func() { answered <- c.second.do(t.Context(), second, hash, "second") }()
	waited, err := l.blockedOrDone(t, secondPID, answered)
	if waited != c.waits() {
		t.Errorf("%s: waits = %v, want %v", c, waited, c.waits())
	}
	end(t, firstTx, c.rollback)
	if waited {
		err = <-answered
	}
	if err == nil && secondTx != nil {
		err = secondTx.Commit(t.Context())
	} else {
		end(t, secondTx, true)
	}
	l.check(t, c, hash, firstErr, err)
}

func firstAnswer(c cell) string {
	if outOfLevel(c.first, c.firstWay) {
		return "isolation"
	}
	return "ok"
}

func (l *lab) enter(t *testing.T, conn *pgx.Conn, w way) (*store.Store, pgx.Tx, uint32) {
	t.Helper()
	if !w.host {
		pool := l.pools[w.level]
		return store.New(pool), nil, l.backends[pool]
	}
	tx, err := conn.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.TxIsoLevel(w.level)})
	must(t, err)
	if w.oldSnapshot {
		_, err = tx.Exec(t.Context(), "SELECT FROM "+l.h.charts)
		must(t, err)
	}
	return store.New(nil).WithTx(tx), tx, l.backends[conn]
}

func end(t *testing.T, tx pgx.Tx, rollback bool) {
	t.Helper()
	switch {
	case tx == nil:
	case rollback:
		must(t, tx.Rollback(t.Context()))
	default:
		must(t, tx.Commit(t.Context()))
	}
}

// blockedOrDone waits until the second side has answered or waits for a lock.
func (l *lab) blockedOrDone(t *testing.T, pid uint32, answered chan error) (blocked bool, err error) {
	t.Helper()
	pgtest.Await(t, "an answer or a wait", func() bool {
		select {
		case err = <-answered:
			return true
		default:
			blocked = l.h.Blocked(t, pid)
			return blocked
		}
	})
	return blocked, err
}

func (l *lab) check(t *testing.T, c cell, hash string, firstErr, err error) {
	t.Helper()
	got, want := answerOf(err), c.answer()
	// Two SERIALIZABLE transactions on one chart may also be told apart by the server's own predicate locks.
	bothSerializable := c.firstWay.host && c.secondWay.host && c.firstWay.level == "serializable" && c.secondWay.level == "serializable"
	if got != want && (got != "40001" || !bothSerializable) {
		t.Errorf("%s: second side answered %v (%s), want %s", c, err, got, want)
	}
	if c.second.name == "create" {
		_, missing := l.free.Execution(t.Context(), "second on "+hash)
		if errors.Is(missing, store.ErrExecutionNotFound) == (err == nil) {
			t.Errorf("%s: answered %v, and reading the execution %v", c, err, missing)
		}
	}
	r, retired, readErr := l.free.Retirement(t.Context(), hash)
	must(t, readErr)
	wantBy := ""
	switch {
	case c.first.retires() && firstErr == nil && !c.rollback:
		wantBy = "first"
	case c.second.retires() && err == nil:
		wantBy = "second"
	}
	if retired != (wantBy != "") || r.RetiredBy != wantBy {
		t.Errorf("%s: retired = %v by %q, want by %q", c, retired, r.RetiredBy, wantBy)
	}
	var tombstone *store.ChartRetiredError
	if errors.As(err, &tombstone) && *tombstone != store.ChartRetiredError(r) {
		t.Errorf("%s: told of %+v, want the first retirement's facts %+v", c, *tombstone, r)
	}
}
