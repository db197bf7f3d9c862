package explore

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	store "github.com/statigen/statigen/templates"
)

// Scenario is a few sessions that work on the same charts.
type Scenario struct {
	// Charts are the names of the charts that are saved before each schedule.
	Charts []string
	// Executions are created on the first chart before each schedule.
	Executions []string
	// Parked are those of the executions that wait for a migration.
	Parked []string
	// Sessions run against each other.
	Sessions []Session
}

// Session is what one connection does: each verb in a transaction of its own on a pool, or all of them in one of the
// host's.
type Session struct {
	Name  string
	Host  bool   // one transaction of the host's around all verbs
	Level string // at which it begins, on a pool by default; empty is READ COMMITTED
	Whole bool   // a verb is one step, not one for each of its statements
	Verbs []Verb
	// Rollback ends the host's transaction without a commit.
	Rollback bool
	// MayDeadlock says that the host took locks in an order which can.
	MayDeadlock bool
}

func (s Scenario) String() string {
	parts := make([]string, len(s.Sessions))
	for i, session := range s.Sessions {
		parts[i] = session.String()
	}
	return strings.Join(parts, " against ")
}

func (s Session) String() string {
	parts := make([]string, len(s.Verbs))
	for i, v := range s.Verbs {
		parts[i] = v.String()
	}
	where := "pool"
	if s.Host {
		where = "host"
	}
	return strings.Join(parts, " then ") + " (" + strings.TrimSuffix(where+", "+s.Level, ", ") + ")"
}

// Ways are the scenario with every session in every way: on a pool and in a host's transaction, at each level. But only
// one of them is on a pool whose sessions default to a higher level: what such a verb does beyond a failure that holds
// nothing is what it does at READ COMMITTED, with as many steps more as make the schedules ten times as many.
func (s Scenario) Ways() []Scenario {
	return slices.DeleteFunc(s.everyWay(), func(way Scenario) bool {
		higher := 0
		for _, session := range way.Sessions {
			if !session.Host && session.Level != "" {
				higher++
			}
		}
		return higher > 1
	})
}

func (s Scenario) everyWay() []Scenario {
	all := []Scenario{s}
	for i := range s.Sessions {
		var next []Scenario
		for _, each := range all {
			for _, host := range []bool{false, true} {
				for _, level := range []string{"", "repeatable read", "serializable"} {
					way := each
					way.Sessions = slices.Clone(each.Sessions)
					way.Sessions[i].Host, way.Sessions[i].Level = host, level
					next = append(next, way)
				}
			}
		}
		all = next
	}
	return all
}

// Verb is one call, and what the explorer must know of it.
type Verb struct {
	name      string
	chart     string // by its name in the scenario
	execution string // by its name in the scenario, where the verb writes one
	class     class
	undone    bool // what it did is rolled back to a savepoint
	do        func(ctx context.Context, s *store.Store, w *World) error
}

func (v Verb) String() string {
	return strings.Join(strings.Fields(v.name+" "+v.execution+" "+v.chart), " ")
}

// class is what the chart lock is for in a verb.
type class int

const (
	free      class = iota // takes no chart lock
	shared                 // makes a pin, or reads a tombstone
	exclusive              // retires
)

// World is one schedule's names: no two schedules meet.
type World struct{ serial string }

func (w *World) hash(chart string) string            { return "sha256:" + w.serial + ":" + chart }
func (w *World) executionID(execution string) string { return w.serial + " " + execution }

// Create creates an execution on a chart.
func Create(execution, chart string) Verb {
	return Verb{"create", chart, execution, shared, false, func(ctx context.Context, s *store.Store, w *World) error {
		_, err := s.CreateExecution(ctx, store.NewExecution{
			ExecutionID: w.executionID(execution), ContentHash: w.hash(chart), IdentityBlob: []byte{1}, PositionBlob: []byte{2},
		})
		return err
	}}
}

// CreateBy creates an execution on a chart by a function.
func CreateBy(execution, chart string) Verb {
	return Verb{"create by", chart, execution, shared, false, func(ctx context.Context, s *store.Store, w *World) error {
		ref := store.ExecutionRef{ExecutionID: w.executionID(execution), ContentHash: w.hash(chart)}
		_, err := s.CreateExecutionFunc(ctx, ref, func(context.Context, store.Storage) (store.NewExecution, error) {
			return store.NewExecution{IdentityBlob: []byte{1}, PositionBlob: []byte{2}}, nil
		})
		return err
	}}
}

// CreateChild creates a child of an execution. Its own chart is another; chart is the one that its linkage names, and pins.
func CreateChild(execution, parent, own, chart string) Verb {
	return Verb{"create", chart, execution, shared, false, func(ctx context.Context, s *store.Store, w *World) error {
		_, err := s.CreateExecution(ctx, store.NewExecution{
			ExecutionID: w.executionID(execution), ContentHash: w.hash(own), IdentityBlob: []byte{1}, PositionBlob: []byte{2},
			Linkage: &store.Linkage{ParentExecutionID: w.executionID(parent), InvokeID: "call", ContentHash: w.hash(chart)},
		})
		return err
	}}
}

// SavePosition saves the position of a session that has the execution's id.
func SavePosition(session, chart string) Verb {
	return Verb{"save position", chart, "", shared, false, func(ctx context.Context, s *store.Store, w *World) error {
		return s.SavePosition(ctx, store.Position{
			SessionID: w.executionID(session), ContentHash: w.hash(chart), IdentityBlob: []byte{1}, PositionBlob: []byte{2},
		})
	}}
}

// Step ends an execution by a step.
func Step(execution, chart string) Verb {
	return Verb{"step", chart, execution, free, false, func(ctx context.Context, s *store.Store, w *World) error {
		_, err := s.StepExecution(ctx, w.executionID(execution), func(context.Context, store.Storage, store.Execution) (store.Step, error) {
			return store.Step{Status: store.Completed, Input: &store.Input{Door: store.DoorStep, InputBlob: []byte{1}}}, nil
		})
		return err
	}}
}

// Unpark unparks an execution, or finds that it is not parked.
func Unpark(execution, chart string) Verb {
	return Verb{"unpark", chart, execution, free, false, func(ctx context.Context, s *store.Store, w *World) error {
		_, err := s.UnparkExecution(ctx, w.executionID(execution))
		return err
	}}
}

// Holding does a verb while it has an execution locked.
func Holding(execution string, verb Verb) Verb {
	do := verb.do
	verb.do = func(ctx context.Context, s *store.Store, w *World) error {
		return s.LockExecution(ctx, w.executionID(execution), func(ctx context.Context, tx store.Storage) error {
			return do(ctx, tx.(*store.Store), w)
		})
	}
	return verb
}

// Save saves a chart.
func Save(chart string) Verb {
	return Verb{"save", chart, "", shared, false, func(ctx context.Context, s *store.Store, w *World) error {
		return s.SaveChart(ctx, store.Chart{ContentHash: w.hash(chart), IdentityBlob: []byte{1}, ChartBlob: []byte{2}})
	}}
}

// Read reads a chart's tombstone.
func Read(chart string) Verb {
	return Verb{"read", chart, "", shared, false, func(ctx context.Context, s *store.Store, w *World) error {
		tombstone, retired, err := s.Retirement(ctx, w.hash(chart))
		if retired {
			return (*store.ChartRetiredError)(&tombstone)
		}
		return err
	}}
}

// Retire retires a chart. It waits as long as it must: what is explored is the order of things.
func Retire(chart string) Verb {
	return Verb{"retire", chart, "", exclusive, false, func(ctx context.Context, s *store.Store, w *World) error {
		_, err := s.RetireChart(ctx, w.hash(chart), store.RetireOptions{By: w.serial, LockTimeout: -1})
		return err
	}}
}

// Cancel cancels an execution.
func Cancel(execution, chart string) Verb {
	return Verb{"cancel", chart, execution, free, false, func(ctx context.Context, s *store.Store, w *World) error {
		_, err := s.CancelExecution(ctx, w.executionID(execution))
		return err
	}}
}

// Fail fails an execution.
func Fail(execution, chart string) Verb {
	return Verb{"fail", chart, execution, free, false, func(ctx context.Context, s *store.Store, w *World) error {
		_, err := s.FailExecution(ctx, w.executionID(execution), "why")
		return err
	}}
}

// RolledBack does verbs behind a savepoint and goes back to it. Only in a host's transaction.
func RolledBack(verb Verb) Verb {
	verb.undone, verb.name = true, verb.name+", rolled back"
	return verb
}

// run does one verb of a session.
func (v Verb) run(ctx context.Context, tx pgx.Tx, s *store.Store, w *World) error {
	if !v.undone {
		return v.do(ctx, s, w)
	}
	savepoint, err := tx.Begin(ctx)
	if err != nil {
		return err
	}
	answer := v.do(ctx, s.WithTx(savepoint), w)
	if err := savepoint.Rollback(ctx); err != nil {
		return err
	}
	return answer
}
