package explore

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

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
	case "CreateExecution", "CreateExecutionForShare", "SaveChart", "ChartState", "ChartStateForShare", "SavePosition", "SavePositionForShare", "RetireChart":
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
		p.at.Store(0)
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
	for _, execution := range r.scenario.Parked {
		const park = "UPDATE statifier_executions SET status = 'needs_migration' WHERE execution_id = $1"
		if _, err := r.reader.Exec(ctx, park, r.world.executionID(execution)); err != nil {
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

func (r *run) String() string { return "schedule " + strings.Join(r.log, ", ") }
