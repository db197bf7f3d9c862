package explore_test

import (
	"testing"

	"github.com/statigen/statigen/internal/explore"
)

// Alice creates a child whose linkage pins another chart than its own, and Bob retires that one.
func TestAChildsPinAgainstRetire(t *testing.T) {
	scenario := explore.Scenario{
		Charts: []string{"loan", "card", "linked"}, Executions: []string{"parent"},
		Sessions: []explore.Session{
			{Name: "alice", Verbs: []explore.Verb{explore.CreateChild("e", "parent", "card", "linked")}},
			{Name: "bob", Verbs: []explore.Verb{explore.Retire("linked")}},
		},
	}
	explored(t, scenario.Ways(),
		"alice's create ok, bob's retire pinned",
		"alice's create retired, bob's retire ok",
		"alice's create 40001, bob's retire ok")
}
