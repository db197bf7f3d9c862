package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

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

func waysOf(hostOnly, oldSnapshots bool) []way {
	var ways []way
	for _, level := range levels {
		if !hostOnly {
			ways = append(ways, way{level: level})
		}
		ways = append(ways, way{host: true, level: level})
		if oldSnapshots {
			ways = append(ways, way{host: true, oldSnapshot: true, level: level})
		}
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
	l := newLab(t, h)
	cells := 0
	for _, first := range verbs() {
		for _, firstWay := range waysOf(false, false) {
			for _, second := range verbs() {
				for _, secondWay := range waysOf(false, true) {
					for _, rollback := range []bool{false, true} {
						if rollback && !firstWay.host {
							continue
						}
						l.run(t, cell{first, second, firstWay, secondWay, rollback})
						cells++
					}
				}
			}
		}
	}
	if n := h.stranded(t); n != 0 {
		t.Errorf("%d retired charts are still needed", n)
	}
	t.Logf("%d cells", cells)
}

// lab keeps the connections of a matrix, so that a cell costs no new ones.
type lab struct {
	h             *host
	free          *store.Store
	first, second *pgx.Conn
	pools         map[string]*store.Store
	poolPIDs      map[string]uint32
}

func newLab(t *testing.T, h *host) *lab {
	l := &lab{
		h: h, free: h.store(t), first: h.Conn(t), second: h.Conn(t),
		pools: map[string]*store.Store{}, poolPIDs: map[string]uint32{},
	}
	for _, level := range levels {
		pool := h.Pool(t, pgtest.MaxConns(1), pgtest.Isolation(level))
		conn, err := pool.Acquire(t.Context())
		must(t, err)
		l.pools[level], l.poolPIDs[level] = store.New(pool), conn.Conn().PgConn().PID()
		conn.Release()
	}
	return l
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
		return l.pools[w.level], nil, l.poolPIDs[w.level]
	}
	tx, err := conn.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.TxIsoLevel(w.level)})
	must(t, err)
	if w.oldSnapshot {
		_, err = tx.Exec(t.Context(), "SELECT FROM "+l.h.charts)
		must(t, err)
	}
	return store.New(nil).WithTx(tx), tx, pid(tx)
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
