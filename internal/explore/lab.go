package explore

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// lab is the database that scenarios are run in, and what came of them.
type lab struct {
	db     *pgtest.DB
	reader *pgxpool.Pool // nobody's session
	store  *store.Store  // the same
	watch  *pgx.Conn     // sees who waits
	result Result
}

func newLab(t *testing.T) *lab {
	t.Helper()
	db := pgtest.New(t, store.Schema)
	reader := db.Pool(t)
	return &lab{db: db, reader: reader, store: store.New(reader), watch: db.Conn(t), result: Result{Outcomes: map[string]int{}}}
}

// cast is a scenario and its players, who keep their connections from one schedule to the next.
type cast struct {
	*lab
	scenario Scenario
	players  []*player
}

func (l *lab) each(t *testing.T, scenarios []Scenario, explore func(*testing.T, *cast)) Result {
	t.Helper()
	for _, s := range scenarios {
		held := t.Run(s.String(), func(t *testing.T) {
			c := &cast{lab: l, scenario: s}
			for i, session := range s.Sessions {
				c.players = append(c.players, newPlayer(t, l.db, session, i))
			}
			explore(t, c)
		})
		if !held {
			break
		}
	}
	return l.result
}

// state is where a session is in a schedule.
type state int

const (
	running state = iota
	paused
	waiting // for a lock that a paused session holds
	ended
)

// run is one schedule while it runs.
type run struct {
	*cast
	world  *World
	states []state
	steps  []string // what each session pauses in front of
	done   []chan struct{}
	trail  []choice
	log    []string // the schedule, for who has to understand a violation

	mu      sync.Mutex
	answers []told
	taken   atomic.Int64 // how many steps
}

// acts says whether a statement is one that its verb's lock is for.
func acts(step string) bool {
	switch step {
	case "CreateExecution", "CreateExecutionForShare", "SaveChart", "ChartState", "ChartStateForShare", "RetireChart":
		return true
	}
	return false
}

// schedule runs one schedule and checks it. pick chooses among the sessions that can take a step.
func (c *cast) schedule(t testing.TB, pick func(step, of int) int) []choice {
	t.Helper()
	c.result.Schedules++
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := c.begin(ctx, t)
	for step := 0; ; step++ {
		r.settle(ctx, t)
		able := r.able()
		if len(able) == 0 {
			break
		}
		taken := pick(step, len(able))
		r.trail = append(r.trail, choice{taken, len(able)})
		r.proceed(able[taken])
	}
	r.check(ctx, t)
	return r.trail
}

func (c *cast) begin(ctx context.Context, t testing.TB) *run {
	t.Helper()
	r := &run{cast: c, world: &World{serial: fmt.Sprintf("%d", c.result.Schedules)}}
	r.prepare(ctx, t)
	for _, p := range c.players {
		r.states, r.steps = append(r.states, running), append(r.steps, "")
		done := make(chan struct{})
		r.done = append(r.done, done)
		p.gate.open.Store(false)
		go func() {
			defer close(done)
			defer p.gate.open.Store(true)
			if err := p.play(ctx, r); err != nil {
				r.tell(ctx, p, answer{verb: Verb{name: "session"}, err: err})
			}
		}()
	}
	return r
}

func (r *run) prepare(ctx context.Context, t testing.TB) {
	t.Helper()
	var given []Verb
	for _, chart := range r.scenario.Charts {
		given = append(given, Save(chart))
	}
	for _, execution := range r.scenario.Executions {
		given = append(given, Create(execution, r.scenario.Charts[0]))
	}
	for _, v := range given {
		if err := v.do(ctx, r.store, r.world); err != nil {
			t.Fatal(err)
		}
	}
}

func (r *run) able() []int {
	var able []int
	for i, s := range r.states {
		if s == paused {
			able = append(able, i)
		}
	}
	return able
}

// proceed lets a session take its step.
func (r *run) proceed(i int) {
	p := r.players[i]
	r.log = append(r.log, p.Name+": "+r.steps[i])
	if now := r.taken.Add(1); acts(r.steps[i]) {
		p.at.Store(now)
	}
	r.states[i] = running
	p.gate.proceed <- struct{}{}
}

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

func (r *run) String() string { return "schedule " + strings.Join(r.log, ", ") }
