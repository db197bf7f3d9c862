package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// A scenario of two sessions in which the first one's backend is killed: the victim's. What it was told is compared with
// what is there, the other session must get on, and then the victim's verb is called once more.

// KillEverywhere kills the victim in front of each of its steps, when the other session has gone as far as it can: to its
// end, or to a lock that the victim holds.
func KillEverywhere(t *testing.T, scenarios ...Scenario) Result {
	t.Helper()
	return newLab(t).each(t, scenarios, func(t *testing.T, c *cast) {
		for step, more := 0, true; more && !t.Failed(); step++ {
			more = c.kill(t, func(ctx context.Context, t testing.TB, r *run) bool {
				return r.upTo(ctx, t, victim, func() bool { return int(r.taken.Load()) == step }) && r.farAsItCan(ctx, t, other)
			})
		}
	})
}

// KillWaiting kills the victim while it waits for what the other session holds, which is about to roll back.
func KillWaiting(t *testing.T, scenarios ...Scenario) Result {
	t.Helper()
	return newLab(t).each(t, scenarios, func(t *testing.T, c *cast) {
		waits := c.kill(t, func(ctx context.Context, t testing.TB, r *run) bool {
			held := r.upTo(ctx, t, other, func() bool { return r.steps[other] == "rollback" })
			return held && r.farAsItCan(ctx, t, victim) && r.states[victim] == waiting
		})
		if !waits {
			t.Error("the victim had nothing to wait for")
		}
	})
}

const (
	victim = iota
	other
)

// kill runs a schedule up to a point, if it gets there, kills the victim's backend, and checks what came of it.
func (c *cast) kill(t testing.TB, until func(context.Context, testing.TB, *run) bool) (killed bool) {
	t.Helper()
	c.result.Schedules++
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c.players[victim] = newPlayer(t, c.db, c.scenario.Sessions[victim], victim)
	r := c.begin(ctx, t)
	if !until(ctx, t, r) {
		r.finish(ctx, t)
		r.check(ctx, t)
		return false
	}
	waited := r.states[other] == waiting
	r.terminate(ctx, t)
	r.finish(ctx, t)
	r.checkKilled(ctx, t, waited)
	return true
}

// upTo lets one session take its steps until it pauses where it is wanted, and says whether it came there.
func (r *run) upTo(ctx context.Context, t testing.TB, i int, there func() bool) bool {
	t.Helper()
	for r.settle(ctx, t); r.states[i] == paused; r.settle(ctx, t) {
		if there() {
			return true
		}
		r.proceed(i)
	}
	return false
}

// farAsItCan lets one session go on until it ends or waits. It is true, for the sake of who calls it.
func (r *run) farAsItCan(ctx context.Context, t testing.TB, i int) bool {
	t.Helper()
	r.upTo(ctx, t, i, func() bool { return false })
	return true
}

// finish lets all go on to their ends.
func (r *run) finish(ctx context.Context, t testing.TB) {
	t.Helper()
	for i := range r.players {
		r.farAsItCan(ctx, t, i)
	}
	r.farAsItCan(ctx, t, victim) // which may have waited for the other one
}

// terminate kills the victim's backend, and lets the victim go into the step that it pauses in front of.
func (r *run) terminate(ctx context.Context, t testing.TB) {
	t.Helper()
	p := r.players[victim]
	r.log = append(r.log, p.Name+" killed in front of "+r.steps[victim])
	if _, err := r.watch.Exec(ctx, "SELECT pg_catalog.pg_terminate_backend($1)", p.pid); err != nil {
		t.Fatal(err)
	}
	pgtest.Await(t, fmt.Sprintf("the backend to end; %s", r), func() (gone bool) {
		const sql = "SELECT NOT EXISTS (SELECT FROM pg_catalog.pg_stat_activity WHERE pid = $1)"
		if err := r.watch.QueryRow(ctx, sql, p.pid).Scan(&gone); err != nil {
			t.Fatal(err)
		}
		return gone
	})
	if r.states[victim] == paused {
		p.gate.proceed <- struct{}{}
	}
	r.states[victim] = running
}

// checkKilled holds the end of a schedule whose victim was killed against what must always be. A step that has not begun,
// or that has not got its lock, is not done by a backend that is no more, nor is any before it that is not committed.
func (r *run) checkKilled(ctx context.Context, t testing.TB, waited bool) {
	t.Helper()
	violations := slices.Concat(r.stranded(ctx, t), r.wronglyTold(), r.overlaps(), r.wrongRows(ctx), r.wronglyEnded(ctx), r.retry(ctx))
	for _, violated := range violations {
		t.Errorf("%s\n%s\n%v", violated, r, r.answers)
	}
	words := []string{}
	for _, a := range r.answers {
		words = append(words, a.String())
	}
	slices.Sort(words)
	if waited {
		words = append(words, "released")
	}
	r.result.Outcomes[strings.Join(words, ", ")]++
}

// wronglyTold: the victim is told an error; on a pool perhaps that nobody knows, in a host's transaction, whose end is all
// that counts, never that. The other session is told what it would be told without the victim.
func (r *run) wronglyTold() (violations []string) {
	for _, a := range r.answers {
		unknown := errors.Is(a.err, store.ErrOutcomeUnknown)
		mine := a.who == r.players[victim]
		switch {
		case mine && a.err == nil:
			violations = append(violations, fmt.Sprintf("%s, and was killed before", a))
		case mine && unknown && (a.who.Host || a.verb.name == "read"):
			violations = append(violations, fmt.Sprintf("%s, where there is no doubt: %v", a, a.err))
		case !mine && (!a.allowed() || a.err != nil):
			violations = append(violations, fmt.Sprintf("%s, beside one that was killed: %v", a, a.err))
		}
	}
	if len(r.answers) != len(r.players) {
		violations = append(violations, fmt.Sprintf("%d answers of %d sessions", len(r.answers), len(r.players)))
	}
	return violations
}

// wronglyEnded: nobody has ended an execution, for the victim was killed and the other session rolls back.
func (r *run) wronglyEnded(ctx context.Context) (violations []string) {
	for _, execution := range r.scenario.Executions {
		e, err := r.store.Execution(ctx, r.world.executionID(execution))
		if err != nil || e.Status != store.Active {
			violations = append(violations, fmt.Sprintf("execution %s is %q, %v", execution, e.Status, err))
		}
	}
	return violations
}

// retry: what the victim did not do can be done, at once.
func (r *run) retry(ctx context.Context) (violations []string) {
	for _, v := range r.players[victim].Verbs {
		if err := v.do(ctx, r.store, r.world); err != nil {
			violations = append(violations, fmt.Sprintf("a retry of %s: %v", v, err))
		}
	}
	return violations
}
