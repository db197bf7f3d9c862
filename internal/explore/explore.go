// Package explore runs every interleaving of a few sessions on a real server: model checking with Postgres itself as the
// model. It is for tests alone.
//
// A session is what one connection does. It pauses in front of each of its steps, and the explorer lets one session at a
// time take one step: a statement of those that its verbs send, or a whole verb. A step that has to wait for a lock is seen
// in pg_blocking_pids, and the others go on. When all have ended, the schedule is checked, and the next one begins with
// the first choice that can be made otherwise. So each schedule is run once, on a chart of its own.
package explore

import (
	"math/rand/v2"
	"testing"
)

// choice is which of the sessions that could take a step did.
type choice struct{ taken, of int }

// Result is how many schedules were run, and how many ended in each way: the answers of all sessions.
type Result struct {
	Schedules int
	Outcomes  map[string]int
}

// All runs every schedule of each scenario, up to the first violation.
func All(t *testing.T, scenarios ...Scenario) Result {
	t.Helper()
	return newLab(t).each(t, scenarios, func(t *testing.T, c *cast) {
		for next, more := []int{}, true; more && !t.Failed(); {
			next, more = successor(c.schedule(t, follow(next)))
		}
	})
}

// Sample runs n schedules of each scenario, which a seed chooses.
func Sample(t *testing.T, n int, seed uint64, scenarios ...Scenario) Result {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	return newLab(t).each(t, scenarios, func(t *testing.T, c *cast) {
		for i := 0; i < n && !t.Failed(); i++ {
			c.schedule(t, func(_, of int) int { return random.IntN(of) })
		}
	})
}

// follow repeats the choices of a schedule up to a point, and takes the first session from there on.
func follow(choices []int) func(step, of int) int {
	return func(step, of int) int {
		if step < len(choices) {
			return min(choices[step], of-1)
		}
		return 0
	}
}

// successor is the next schedule in the order of a dictionary: the last choice that could be another is that other.
func successor(trail []choice) (next []int, more bool) {
	for i := len(trail) - 1; i >= 0; i-- {
		if trail[i].taken+1 < trail[i].of {
			for _, c := range trail[:i] {
				next = append(next, c.taken)
			}
			return append(next, trail[i].taken+1), true
		}
	}
	return nil, false
}
