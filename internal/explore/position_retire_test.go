package explore_test

import (
	"testing"

	"github.com/statigen/statigen/internal/explore"
)

// Alice saves a session's position while Bob retires the chart that it is on.
func TestSavePositionAgainstRetire(t *testing.T) {
	scenario := explore.Scenario{
		Charts: []string{"loan"},
		Sessions: []explore.Session{
			{Name: "alice", Verbs: []explore.Verb{explore.SavePosition("s", "loan")}},
			{Name: "bob", Verbs: []explore.Verb{explore.Retire("loan")}},
		},
	}
	explored(t, scenario.Ways(),
		"alice's save position ok, bob's retire pinned",
		"alice's save position retired, bob's retire ok",
		"alice's save position 40001, bob's retire ok") // her snapshot is older than the tombstone
}
