package explore_test

import (
	"testing"

	"github.com/statigen/statigen/internal/explore"
)

// whole is a host's transaction of several verbs, each of them one step, at each level.
func whole(name string, level string, verbs ...explore.Verb) explore.Session {
	return explore.Session{Name: name, Host: true, Whole: true, Level: level, Verbs: verbs, MayDeadlock: true}
}

var levels = []string{"", "repeatable read", "serializable"}

// atEachLevel are the scenarios of two hosts' transactions, at each level on either side.
func atEachLevel(charts []string, alice, bob []explore.Verb) (all []explore.Scenario) {
	for _, first := range levels {
		for _, second := range levels {
			all = append(all, explore.Scenario{Charts: charts, Sessions: []explore.Session{whole("alice", first, alice...), whole("bob", second, bob...)}})
		}
	}
	return all
}

// Alice creates, goes back to a savepoint, which gives the lock back, and creates again. Bob retires when he can.
func TestASavepointRolledBackAgainstRetire(t *testing.T) {
	explored(t, atEachLevel([]string{"loan"},
		[]explore.Verb{explore.RolledBack(explore.Create("e", "loan")), explore.Create("f", "loan")},
		[]explore.Verb{explore.Retire("loan")},
	),
		"alice's create, rolled back ok, alice's create ok, bob's retire pinned",
		"alice's create, rolled back ok, alice's create retired, bob's retire ok",
		"alice's create, rolled back retired, alice's create retired, bob's retire ok")
}

// Alice creates and rolls all of it back; Bob, who waited for her, finds nothing that keeps him. It is the same the other way
// round: a retirement that is rolled back refuses nobody.
func TestARolledBackTransactionHasDoneNothing(t *testing.T) {
	for name, c := range map[string]struct {
		alice, bob explore.Verb
		outcome    string
	}{
		"a create":     {explore.Create("e", "loan"), explore.Retire("loan"), "alice's create ok, bob's retire ok"},
		"a retirement": {explore.Retire("loan"), explore.Create("e", "loan"), "alice's retire ok, bob's create ok"},
	} {
		t.Run(name, func(t *testing.T) {
			scenarios := atEachLevel([]string{"loan"}, []explore.Verb{c.alice}, []explore.Verb{c.bob})
			for _, s := range scenarios {
				s.Sessions[0].Rollback = true
			}
			explored(t, scenarios, c.outcome)
		})
	}
}

// A retirement that is rolled back to a savepoint has not happened, and its lock is free again.
func TestARetirementRolledBackAgainstCreate(t *testing.T) {
	explored(t, atEachLevel([]string{"loan"},
		[]explore.Verb{explore.RolledBack(explore.Retire("loan")), explore.Save("loan")},
		[]explore.Verb{explore.Create("e", "loan")},
	), "alice's retire, rolled back ok, alice's save ok, bob's create ok")
}

// Each takes two charts, in opposite orders: that can deadlock, and the one that the server chose is told so.
func TestTwoChartsInOppositeOrders(t *testing.T) {
	explored(t, atEachLevel([]string{"loan", "card"},
		[]explore.Verb{explore.Create("e", "loan"), explore.Create("f", "card")},
		[]explore.Verb{explore.Retire("card"), explore.Retire("loan")},
	),
		"alice's create ok, alice's create 40P01, bob's retire ok, bob's retire ok",
		"alice's create ok, alice's create ok, bob's retire pinned, bob's retire pinned")
}

// Both read before they retire: the upgrade that would deadlock is refused, and nobody waits for it.
func TestReadThenRetireAgainstItself(t *testing.T) {
	explored(t, atEachLevel([]string{"loan"},
		[]explore.Verb{explore.Read("loan"), explore.Retire("loan")},
		[]explore.Verb{explore.Read("loan"), explore.Retire("loan")},
	), "alice's read ok, alice's retire upgrade, bob's read ok, bob's retire upgrade")
}

// Alice retires one chart and creates on another, which Bob retires before he creates on the first. Where each has retired,
// one of them is the server's victim, and what the other waited for has not happened.
func TestRetireThenCreateCrosswise(t *testing.T) {
	explored(t, atEachLevel([]string{"loan", "card"},
		[]explore.Verb{explore.Retire("loan"), explore.Create("e", "card")},
		[]explore.Verb{explore.Retire("card"), explore.Create("f", "loan")},
	), "alice's retire ok, alice's create 40P01, bob's retire ok, bob's create ok")
}
