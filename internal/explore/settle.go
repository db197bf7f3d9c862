package explore

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/pgtest"
)

// settle waits until every session pauses, has ended, or waits for a lock that a paused one holds. A wait for anything else
// ends by itself; if it does not, that is a violation of its own.
func (r *run) settle(ctx context.Context, t testing.TB) {
	t.Helper()
	pgtest.Await(t, "every session to pause, to end or to wait; "+r.String(), func() bool {
		r.look(ctx, t)
		for _, s := range r.states {
			if s == running {
				return false
			}
		}
		return true
	})
}

func (r *run) look(ctx context.Context, t testing.TB) {
	t.Helper()
	busy := false
	for i, s := range r.states {
		if s == running || s == waiting {
			r.states[i] = r.arrival(i)
			busy = busy || r.states[i] == running
		}
	}
	if busy {
		r.lookForWaits(ctx, t)
	}
}

// arrival waits a moment for the session to pause or to end.
func (r *run) arrival(i int) state {
	moment := time.NewTimer(time.Millisecond)
	defer moment.Stop()
	select {
	case r.steps[i] = <-r.players[i].gate.arrived:
		return paused
	case <-r.done[i]:
		return ended
	case <-moment.C:
		return running
	}
}

// lookForWaits takes a session that runs for one that waits if, in the end, it waits for one that is paused.
func (r *run) lookForWaits(ctx context.Context, t testing.TB) {
	t.Helper()
	blockers := r.blockers(ctx, t)
	for i, s := range r.states {
		if s == running && r.waitsForPaused(i, blockers, map[int]bool{}) {
			r.states[i] = waiting
		}
	}
}

func (r *run) waitsForPaused(i int, blockers map[uint32][]uint32, seen map[int]bool) bool {
	if seen[i] {
		return false
	}
	seen[i] = true
	for j, p := range r.players {
		for _, pid := range blockers[r.players[i].pid] {
			if pid == p.pid && (r.states[j] == paused || r.waitsForPaused(j, blockers, seen)) {
				return true
			}
		}
	}
	return false
}

// blockers are the backends that each session's backend waits for.
func (r *run) blockers(ctx context.Context, t testing.TB) map[uint32][]uint32 {
	t.Helper()
	pids := make([]int32, len(r.players))
	for i, p := range r.players {
		pids[i] = int32(p.pid)
	}
	rows, _ := r.watch.Query(ctx, "SELECT p, pg_catalog.pg_blocking_pids(p) FROM pg_catalog.unnest($1::int4[]) AS p", pids)
	blockers := map[uint32][]uint32{}
	var pid uint32
	var by []uint32
	_, err := pgx.ForEachRow(rows, []any{&pid, &by}, func() error {
		blockers[pid] = append([]uint32(nil), by...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return blockers
}
