package explore_test

import (
	"testing"

	"github.com/statigen/statigen/internal/explore"
)

// Alice and Carol put executions on a chart while Bob retires it: their locks are shared, so neither waits for the
// other, and he waits for both.
func TestTwoCreatesAgainstRetire(t *testing.T) {
	scenario := explore.Scenario{
		Charts: []string{"loan"},
		Sessions: []explore.Session{
			{Name: "alice", Verbs: []explore.Verb{explore.Create("a", "loan")}},
			{Name: "bob", Verbs: []explore.Verb{explore.Retire("loan")}},
			{Name: "carol", Verbs: []explore.Verb{explore.Create("c", "loan")}},
		},
	}
	t.Run("on pools", func(t *testing.T) {
		got := explore.All(t, scenario)
		t.Logf("%d schedules", got.Schedules)
	})
	t.Run("in every way", func(t *testing.T) {
		explored(t, scenario.Ways(),
			"alice's create ok, bob's retire pinned, carol's create ok",
			"alice's create retired, bob's retire ok, carol's create retired")
	})
}

// Both create the same execution.
func TestTwoCreatesOfOneExecutionAgainstRetire(t *testing.T) {
	scenario := explore.Scenario{
		Charts: []string{"loan"},
		Sessions: []explore.Session{
			{Name: "alice", Verbs: []explore.Verb{explore.Create("e", "loan")}},
			{Name: "bob", Verbs: []explore.Verb{explore.Retire("loan")}},
			{Name: "carol", Verbs: []explore.Verb{explore.Create("e", "loan")}},
		},
	}
	explored(t, scenario.Ways(),
		"alice's create ok, bob's retire pinned, carol's create exists",
		"alice's create exists, bob's retire pinned, carol's create ok",
		"alice's create retired, bob's retire ok, carol's create retired")
}

// Two retire the chart on which Alice creates.
func TestCreateAgainstTwoRetirements(t *testing.T) {
	scenario := explore.Scenario{
		Charts: []string{"loan"},
		Sessions: []explore.Session{
			{Name: "alice", Verbs: []explore.Verb{explore.Create("e", "loan")}},
			{Name: "bob", Verbs: []explore.Verb{explore.Retire("loan")}},
			{Name: "carol", Verbs: []explore.Verb{explore.Retire("loan")}},
		},
	}
	explored(t, scenario.Ways(),
		"alice's create ok, bob's retire pinned, carol's retire pinned",
		"alice's create retired, bob's retire ok, carol's retire retired",
		"alice's create retired, bob's retire retired, carol's retire ok")
}
