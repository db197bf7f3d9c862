package explore_test

import (
	"testing"

	"github.com/statigen/statigen/internal/explore"
)

// Alice puts an execution on a chart while Bob retires it. If her lock comes first, Bob finds the execution; if his
// does, she is told of the tombstone.
func TestCreateAgainstRetire(t *testing.T) {
	scenario := explore.Scenario{
		Charts: []string{"loan"},
		Sessions: []explore.Session{
			{Name: "alice", Verbs: []explore.Verb{explore.Create("e", "loan")}},
			{Name: "bob", Verbs: []explore.Verb{explore.Retire("loan")}},
		},
	}
	explored(t, scenario.Ways(),
		"alice's create ok, bob's retire pinned",
		"alice's create retired, bob's retire ok",
		"alice's create 40001, bob's retire ok") // her snapshot is older than the tombstone
}
