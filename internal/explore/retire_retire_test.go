package explore_test

import (
	"testing"

	"github.com/statigen/statigen/internal/explore"
)

// Two retire one chart. One of them does.
func TestRetireAgainstRetire(t *testing.T) {
	scenario := explore.Scenario{
		Charts: []string{"loan"},
		Sessions: []explore.Session{
			{Name: "alice", Verbs: []explore.Verb{explore.Retire("loan")}},
			{Name: "bob", Verbs: []explore.Verb{explore.Retire("loan")}},
		},
	}
	explored(t, scenario.Ways(), "alice's retire ok, bob's retire retired", "alice's retire retired, bob's retire ok")
}
