package explore_test

import (
	"testing"

	"github.com/statigen/statigen/internal/explore"
)

// Alice cancels the execution that keeps Bob from retiring its chart. She takes no chart lock: until her commit Bob sees
// the execution alive, and then he does not.
func TestCancelAgainstRetire(t *testing.T) {
	scenario := explore.Scenario{
		Charts: []string{"loan"}, Executions: []string{"e"},
		Sessions: []explore.Session{
			{Name: "alice", Verbs: []explore.Verb{explore.Cancel("e", "loan")}},
			{Name: "bob", Verbs: []explore.Verb{explore.Retire("loan")}},
		},
	}
	explored(t, scenario.Ways(), "alice's cancel ok, bob's retire pinned", "alice's cancel ok, bob's retire ok")
}

// Two cancel one execution.
func TestCancelAgainstCancel(t *testing.T) {
	scenario := explore.Scenario{
		Charts: []string{"loan"}, Executions: []string{"e"},
		Sessions: []explore.Session{
			{Name: "alice", Verbs: []explore.Verb{explore.Cancel("e", "loan")}},
			{Name: "bob", Verbs: []explore.Verb{explore.Cancel("e", "loan")}},
		},
	}
	explored(t, scenario.Ways(), "alice's cancel ok, bob's cancel ok")
}
