package explore_test

import (
	"testing"

	"github.com/statigen/statigen/internal/explore"
)

// Alice saves a chart that is there already while Bob retires it. What she is told holds to the end of her transaction.
func TestSaveAgainstRetire(t *testing.T) {
	scenario := explore.Scenario{
		Charts: []string{"loan"},
		Sessions: []explore.Session{
			{Name: "alice", Verbs: []explore.Verb{explore.Save("loan")}},
			{Name: "bob", Verbs: []explore.Verb{explore.Retire("loan")}},
		},
	}
	explored(t, scenario.Ways(), "alice's save ok, bob's retire ok", "alice's save retired, bob's retire ok")
}

// Alice asks whether a chart is retired, to act on the answer in her transaction.
func TestReadAgainstRetire(t *testing.T) {
	scenario := explore.Scenario{
		Charts: []string{"loan"},
		Sessions: []explore.Session{
			{Name: "alice", Verbs: []explore.Verb{explore.Read("loan")}},
			{Name: "bob", Verbs: []explore.Verb{explore.Retire("loan")}},
		},
	}
	explored(t, scenario.Ways(), "alice's read ok, bob's retire ok", "alice's read retired, bob's retire ok")
}
