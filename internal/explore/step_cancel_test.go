package explore_test

import (
	"slices"
	"testing"

	"github.com/statigen/statigen/internal/explore"
)

// Alice steps the execution that Bob cancels. One comes behind the other: whoever is second finds it ended, and discards.
func TestStepAgainstCancel(t *testing.T) {
	scenario := explore.Scenario{
		Charts: []string{"loan"}, Executions: []string{"e"},
		Sessions: []explore.Session{
			{Name: "alice", Verbs: []explore.Verb{explore.Step("e", "loan")}},
			{Name: "bob", Verbs: []explore.Verb{explore.Cancel("e", "loan")}},
		},
	}
	explored(t, scenario.Ways(), "alice's step ok, bob's cancel ok")
}

// Alice's step ends the execution that keeps Bob from retiring its chart. She takes no chart lock, so her steps go between all of
// his: at the higher levels, where what she does is the same, that is ten thousand schedules more.
func TestStepAgainstRetire(t *testing.T) {
	scenario := explore.Scenario{
		Charts: []string{"loan"}, Executions: []string{"e"},
		Sessions: []explore.Session{
			{Name: "alice", Verbs: []explore.Verb{explore.Step("e", "loan")}},
			{Name: "bob", Verbs: []explore.Verb{explore.Retire("loan")}},
		},
	}
	ways := slices.DeleteFunc(scenario.Ways(), func(way explore.Scenario) bool { return way.Sessions[0].Level != "" || way.Sessions[1].Level != "" })
	explored(t, ways, "alice's step ok, bob's retire pinned", "alice's step ok, bob's retire ok")
}

// An execution that is unparked pins its chart before and after.
func TestUnparkAgainstRetire(t *testing.T) {
	scenario := explore.Scenario{
		Charts: []string{"loan"}, Executions: []string{"e"}, Parked: []string{"e"},
		Sessions: []explore.Session{
			{Name: "alice", Verbs: []explore.Verb{explore.Unpark("e", "loan")}},
			{Name: "bob", Verbs: []explore.Verb{explore.Retire("loan")}},
		},
	}
	explored(t, scenario.Ways(), "alice's unpark ok, bob's retire pinned")
}

// Alice has an execution's id to herself and creates it; Bob creates one of the same id, and Carol retires the chart.
func TestLockExecutionAgainstCreateAgainstRetire(t *testing.T) {
	scenario := explore.Scenario{
		Charts: []string{"loan"},
		Sessions: []explore.Session{
			{Name: "alice", Verbs: []explore.Verb{explore.Holding("e", explore.Create("e", "loan"))}},
			{Name: "bob", Verbs: []explore.Verb{explore.Create("e", "loan")}},
			{Name: "carol", Verbs: []explore.Verb{explore.Retire("loan")}},
		},
	}
	explored(t, scenario.Ways(),
		"alice's create ok, bob's create exists, carol's retire pinned",
		"alice's create exists, bob's create ok, carol's retire pinned",
		"alice's create retired, bob's create retired, carol's retire ok")
}
