package explore_test

import (
	"testing"

	"github.com/statigen/statigen/internal/explore"
)

// victims are Alice, who is killed, on a pool and in a host's transaction, at a low level and a higher one, and Bob, who
// rolls back what he does, so that nothing but Alice's verb could have left anything.
func victims(alice, bob explore.Verb) (all []explore.Scenario) {
	for _, host := range []bool{false, true} {
		for _, level := range []string{"", "repeatable read"} {
			if host && level != "" && alice.String() == "retire loan" {
				continue // is refused there, before it does anything
			}
			all = append(all, explore.Scenario{
				Charts: []string{"loan"}, Executions: executions(alice),
				Sessions: []explore.Session{
					{Name: "alice", Host: host, Level: level, Verbs: []explore.Verb{alice}},
					{Name: "bob", Host: true, Rollback: true, Verbs: []explore.Verb{bob}},
				},
			})
		}
	}
	return all
}

// executions are there before a verb that ends one.
func executions(v explore.Verb) []string {
	if name := v.String(); name == "cancel e loan" || name == "fail e loan" {
		return []string{"e"}
	}
	return nil
}

// seen looks for outcomes that must be among those of a test: a kill that changes nothing proves nothing.
func seen(t *testing.T, got explore.Result, outcomes ...string) {
	t.Helper()
	t.Logf("%d schedules", got.Schedules)
	for _, outcome := range outcomes {
		if got.Outcomes[outcome] == 0 {
			t.Errorf("no schedule ended with %q; there were %v", outcome, got.Outcomes)
		}
	}
}

// Alice's backend is killed in front of each of her steps. Bob wants her lock, and has it when she is gone.
func TestABackendKilledInFrontOfEachStep(t *testing.T) {
	for _, c := range []struct {
		alice, bob explore.Verb
		outcomes   []string
	}{
		{explore.Create("e", "loan"), explore.Retire("loan"), []string{
			"alice's create unknown, bob's retire ok", "alice's create unknown, bob's retire ok, released", "alice's create 57P01, bob's retire ok, released",
		}},
		{explore.Save("loan"), explore.Retire("loan"), []string{
			"alice's save unknown, bob's retire ok", "alice's save unknown, bob's retire ok, released", "alice's save 57P01, bob's retire ok, released",
		}},
		{explore.Read("loan"), explore.Retire("loan"), []string{"alice's read 57P01, bob's retire ok", "alice's read 57P01, bob's retire ok, released"}},
		{explore.Retire("loan"), explore.Read("loan"), []string{
			"alice's retire unknown, bob's read ok", "alice's retire unknown, bob's read ok, released", "alice's retire 57P01, bob's read ok, released",
		}},
		{explore.Cancel("e", "loan"), explore.Cancel("e", "loan"), []string{
			"alice's cancel unknown, bob's cancel ok", "alice's cancel unknown, bob's cancel ok, released", "alice's cancel 57P01, bob's cancel ok, released",
		}},
		{explore.Fail("e", "loan"), explore.Cancel("e", "loan"), []string{
			"alice's fail unknown, bob's cancel ok", "alice's fail unknown, bob's cancel ok, released", "alice's fail 57P01, bob's cancel ok, released",
		}},
	} {
		t.Run(c.alice.String(), func(t *testing.T) {
			t.Parallel()
			seen(t, explore.KillEverywhere(t, victims(c.alice, c.bob)...), c.outcomes...)
		})
	}
}

// Alice's backend is killed while it waits for a lock of Bob's: for one of the two advisory locks, or for his row.
func TestABackendKilledWhileItWaits(t *testing.T) {
	for _, c := range []struct {
		alice, bob explore.Verb
		outcomes   []string
	}{
		{explore.Create("e", "loan"), explore.Retire("loan"), []string{"alice's create unknown, bob's retire ok", "alice's create 57P01, bob's retire ok"}},
		{explore.Create("e", "loan"), explore.Create("e", "loan"), []string{"alice's create unknown, bob's create ok", "alice's create 57P01, bob's create ok"}},
		{explore.Save("loan"), explore.Retire("loan"), []string{"alice's save unknown, bob's retire ok", "alice's save 57P01, bob's retire ok"}},
		{explore.Save("card"), explore.Save("card"), []string{"alice's save unknown, bob's save ok", "alice's save 57P01, bob's save ok"}},
		{explore.Read("loan"), explore.Retire("loan"), []string{"alice's read 57P01, bob's retire ok"}},
		{explore.Retire("loan"), explore.Read("loan"), []string{"alice's retire unknown, bob's read ok", "alice's retire 57P01, bob's read ok"}},
		{explore.Retire("loan"), explore.Save("loan"), []string{"alice's retire unknown, bob's save ok", "alice's retire 57P01, bob's save ok"}},
		{explore.Cancel("e", "loan"), explore.Cancel("e", "loan"), []string{"alice's cancel unknown, bob's cancel ok", "alice's cancel 57P01, bob's cancel ok"}},
		{explore.Fail("e", "loan"), explore.Cancel("e", "loan"), []string{"alice's fail unknown, bob's cancel ok", "alice's fail 57P01, bob's cancel ok"}},
	} {
		t.Run(c.alice.String()+" behind "+c.bob.String(), func(t *testing.T) {
			t.Parallel()
			seen(t, explore.KillWaiting(t, victims(c.alice, c.bob)...), c.outcomes...)
		})
	}
}
