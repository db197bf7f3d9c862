package explore_test

import (
	"testing"

	"github.com/statigen/statigen/internal/explore"
)

// Alice creates by a function, in three trips, while Bob retires the chart. Her shared lock lasts from the first to the last.
func TestCreateByAFunctionAgainstRetire(t *testing.T) {
	scenario := explore.Scenario{
		Charts: []string{"loan"},
		Sessions: []explore.Session{
			{Name: "alice", Verbs: []explore.Verb{explore.CreateBy("e", "loan")}},
			{Name: "bob", Verbs: []explore.Verb{explore.Retire("loan")}},
		},
	}
	explored(t, scenario.Ways(),
		"alice's create by ok, bob's retire pinned",
		"alice's create by retired, bob's retire ok")
}
