package explore_test

import (
	"flag"
	"os"
	"testing"

	"github.com/statigen/statigen/internal/explore"
	"github.com/statigen/statigen/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

var all = flag.Bool("all", false, "run every schedule of three sessions, not a sample")

// seed chooses the sample. It is fixed, so that a failure is found again.
const seed = 1

// explored runs every schedule of two sessions, and of three a sample of each scenario unless all are asked for. The
// outcomes that are named must be among those seen: a race that only one side can win is none.
func explored(t *testing.T, scenarios []explore.Scenario, outcomes ...string) {
	t.Helper()
	var got explore.Result
	if *all || len(scenarios[0].Sessions) < 3 {
		got = explore.All(t, scenarios...)
	} else {
		got = explore.Sample(t, 4, seed, scenarios...)
	}
	t.Logf("%d schedules of %d scenarios", got.Schedules, len(scenarios))
	for _, outcome := range outcomes {
		if got.Outcomes[outcome] == 0 {
			t.Errorf("no schedule ended with %q; there were %v", outcome, got.Outcomes)
		}
	}
}
