package store_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
	"github.com/statigen/statigen/templates/internal/db"
)

// class says which locks must come before which tables. It is all that the lock rule is derived from.
type class string

const (
	// makesPin: makes a pin, or reads a tombstone to act on it: behind the chart's shared lock.
	makesPin class = "makes a pin or reads a tombstone"
	// retires: behind the chart's exclusive lock.
	retires class = "retires"
	// ends: behind the execution's lock; the execution is itself the pin.
	ends class = "ends an execution"
	// holds: behind the execution's lock, in every trip that touches a table; between the trips runs a function of the host's.
	holds class = "holds an execution"
	// makesPinHolding: behind the execution's lock and then the chart's shared one.
	makesPinHolding class = "makes a pin, holding the execution"
	// unpins: removes a pin, one statement, no lock but the row's.
	unpins class = "removes a pin"
	// reads: no lock, one statement.
	reads class = "only reads"
	// verifies: looks at the server and its catalogs, and has every statement prepared; no lock that a verb takes, and no table.
	verifies class = "verifies"
	// sendsNothing: no statement at all.
	sendsNothing class = "sends nothing"
)

// method is a row of the table: an exported function, its class, and for each way to call it the statements
// that it sends, in order. A semicolon ends a round trip.
type method struct {
	class class
	calls map[string]call
}

type call struct {
	do   func(ctx context.Context, f *fixture) error
	pool string // statements on a pool
	host string // statements in a host's transaction at READ COMMITTED
	// statements in a host's transaction at REPEATABLE READ; "" if they are those of host
	repeatable string
}

// fixture is what a call works on. Its charts and executions are made anew for every call.
type fixture struct {
	s                          *store.Store
	live, retired, pinned, sub string // charts; sub has an execution that pins nothing else
	active                     string // an execution on sub
	ended, logged, parent      string // executions: one that has ended, one with an input, one with a child
	session                    string // with a position on sub
}

// methods is the table. Reflection over the package's source finds a missing or an extra row.
func methods() map[string]method {
	const (
		begin    = "begin isolation level read committed, "
		upgraded = "SAVEPOINT statigen_retire, LockChartExclusiveJoined, RetireChart, RestoreSettings, RELEASE SAVEPOINT statigen_retire"
		create   = "LockExecution, LockChartShared, CreateExecution"
		refusal  = "LockExecution, LockChartShared, CreateRefusal"
		verify   = "SAVEPOINT statigen_verify; Session; TakeProbeLocks; ProbeLocks; TablesFound; ColumnsFound; UniqueIndexesFound; "
	)
	return map[string]method{
		"New":             {class: sendsNothing, calls: map[string]call{"": {do: func(context.Context, *fixture) error { store.New(&pgxpool.Pool{}); return nil }}}},
		"Store.WithTx":    {class: sendsNothing, calls: map[string]call{"": {do: func(_ context.Context, f *fixture) error { f.s.WithTx(nil); return nil }}}},
		"WithLockTimeout": {class: sendsNothing, calls: map[string]call{"": {do: func(context.Context, *fixture) error { store.New(nil, store.WithLockTimeout(1)); return nil }}}},
		"WithInputLogCap": {class: sendsNothing, calls: map[string]call{"": {do: func(context.Context, *fixture) error { store.New(nil, store.WithInputLogCap(1)); return nil }}}},
		"WithSerializer":  {class: sendsNothing, calls: map[string]call{"": {do: func(context.Context, *fixture) error { store.New(nil, store.WithSerializer(nil)); return nil }}}},
		"TxOf":            {class: sendsNothing, calls: map[string]call{"": {do: func(_ context.Context, f *fixture) error { store.TxOf(f.s); return nil }}}},
		"Retryable":       {class: sendsNothing, calls: map[string]call{"": {do: func(context.Context, *fixture) error { store.Retryable(nil); return nil }}}},
		"Store.SaveChart": {class: makesPin, calls: map[string]call{
			"new": {
				do:   func(ctx context.Context, f *fixture) error { return f.s.SaveChart(ctx, newChart(newHash())) },
				pool: "LockChartShared, SaveChart", host: "LockChartShared, SaveChart",
			},
			"retired": {
				do:   func(ctx context.Context, f *fixture) error { return f.s.SaveChart(ctx, newChart(f.retired)) },
				pool: "LockChartShared, SaveChart", host: "LockChartShared, SaveChart",
			},
		}},
		"Store.Retirement": {class: makesPin, calls: map[string]call{
			"live": {
				do:   func(ctx context.Context, f *fixture) error { _, _, err := f.s.Retirement(ctx, f.live); return err },
				pool: "LockChartShared, ChartState", host: "LockChartShared, ChartState",
				repeatable: "LockChartShared, ChartState; LockChartShared, ChartStateForShare",
			},
			"retired": {
				do:   func(ctx context.Context, f *fixture) error { _, _, err := f.s.Retirement(ctx, f.retired); return err },
				pool: "LockChartShared, ChartState", host: "LockChartShared, ChartState",
			},
		}},
		"Store.CreateExecution": {class: makesPin, calls: map[string]call{
			"created": {
				do: func(ctx context.Context, f *fixture) error {
					_, err := f.s.CreateExecution(ctx, newExecution(f.live))
					return err
				},
				pool: "LockChartShared, CreateExecution", host: create,
				repeatable: create + "; " + refusal + "; LockExecution, LockChartShared, CreateExecutionForShare",
			},
			"retired": {
				do: func(ctx context.Context, f *fixture) error {
					_, err := f.s.CreateExecution(ctx, newExecution(f.retired))
					return err
				},
				pool: "LockChartShared, CreateExecution; LockChartShared, CreateRefusal", host: create + "; " + refusal,
			},
			"exists": {
				do: func(ctx context.Context, f *fixture) error {
					e := newExecution(f.sub)
					e.ExecutionID = f.active
					_, err := f.s.CreateExecution(ctx, e)
					return err
				},
				pool: "LockChartShared, CreateExecution; LockChartShared, CreateRefusal", host: create + "; " + refusal,
			},
		}},
		"Store.RetireChart": {class: retires, calls: map[string]call{
			"retired now": {
				do: func(ctx context.Context, f *fixture) error {
					_, err := f.s.RetireChart(ctx, f.live, by("ops"))
					return err
				},
				pool: "LockChartExclusive, RetireChart", host: upgraded,
			},
			"pinned": {
				do: func(ctx context.Context, f *fixture) error {
					_, err := f.s.RetireChart(ctx, f.pinned, by("ops"))
					return err
				},
				pool: "LockChartExclusive, RetireChart", host: upgraded,
			},
			"retired before": {
				do: func(ctx context.Context, f *fixture) error {
					_, err := f.s.RetireChart(ctx, f.retired, by("ops"))
					return err
				},
				pool: "LockChartExclusive, RetireChart", host: upgraded,
			},
			"not found": {
				do: func(ctx context.Context, f *fixture) error {
					_, err := f.s.RetireChart(ctx, "none", by("ops"))
					return err
				},
				pool: "LockChartExclusive, RetireChart", host: upgraded,
			},
		}},
		"Store.SavePosition": {class: makesPin, calls: map[string]call{
			"new": {
				do:   func(ctx context.Context, f *fixture) error { return f.s.SavePosition(ctx, newPosition(f.live)) },
				pool: "LockChartShared, SavePosition", host: "LockChartShared, SavePosition",
				repeatable: "LockChartShared, SavePosition; LockChartShared, SavePositionForShare",
			},
			"retired": {
				do:   func(ctx context.Context, f *fixture) error { return f.s.SavePosition(ctx, newPosition(f.retired)) },
				pool: "LockChartShared, SavePosition", host: "LockChartShared, SavePosition",
			},
		}},
		"Store.Position": {class: reads, calls: map[string]call{"": {
			do:   func(ctx context.Context, f *fixture) error { _, err := f.s.Position(ctx, f.session); return err },
			pool: "Position", host: "Position",
		}}},
		"Store.DeletePosition": {class: unpins, calls: map[string]call{"": {
			do:   func(ctx context.Context, f *fixture) error { return f.s.DeletePosition(ctx, f.session) },
			pool: "DeletePosition", host: "DeletePosition",
		}}},
		"Store.AppendInput": {class: ends, calls: map[string]call{"": {
			do: func(ctx context.Context, f *fixture) error {
				_, err := f.s.AppendInput(ctx, f.active, newInput())
				return err
			},
			pool: "LockExecution, AppendInput", host: "LockExecution, AppendInput",
		}}},
		"Store.Inputs": {class: reads, calls: map[string]call{
			"some": {
				do:   func(ctx context.Context, f *fixture) error { _, err := f.s.Inputs(ctx, f.logged); return err },
				pool: "Inputs", host: "Inputs",
			},
		}},
		"Store.StepExecution": {class: holds, calls: map[string]call{
			"stepped": {
				do: func(ctx context.Context, f *fixture) error {
					return second(f.s.StepExecution(ctx, f.active, stepTo(store.Step{Status: store.Active, PositionBlob: []byte{2}})))
				},
				pool: begin + "LockExecution, HeldExecution; LockExecution, StepExecution; commit",
				host: "LockExecution, HeldExecution; LockExecution, StepExecution",
			},
			"with an input": {
				do: func(ctx context.Context, f *fixture) error {
					in := newInput()
					return second(f.s.StepExecution(ctx, f.active, stepTo(store.Step{Status: store.Active, KeepPosition: true, Input: &in})))
				},
				pool: begin + "LockExecution, HeldExecution; LockExecution, AppendInput, StepExecution; commit",
				host: "LockExecution, HeldExecution; LockExecution, AppendInput, StepExecution",
			},
			"discarded": {
				do:   func(ctx context.Context, f *fixture) error { return second(f.s.StepExecution(ctx, f.ended, nil)) },
				pool: begin + "LockExecution, HeldExecution; commit", host: "LockExecution, HeldExecution",
			},
		}},
		"Store.LockExecution": {class: holds, calls: map[string]call{"": {
			do: func(ctx context.Context, f *fixture) error {
				return f.s.LockExecution(ctx, f.active, func(context.Context, store.Storage) error { return nil })
			},
			pool: begin + "LockExecution, HoldExecution; commit", host: "LockExecution, HoldExecution",
		}}},
		"Store.CreateExecutionFunc": {class: makesPinHolding, calls: map[string]call{
			"created": {
				do:         func(ctx context.Context, f *fixture) error { return second(createBy(ctx, f.s, newExecution(f.live))) },
				pool:       begin + "LockExecution, LockChartShared, CreateRefusal; LockExecution, LockChartShared, CreateExecution; commit",
				host:       "LockExecution, LockChartShared, CreateRefusal; LockExecution, LockChartShared, CreateExecution",
				repeatable: "LockExecution, LockChartShared, CreateRefusal; " + create + "; " + refusal + "; LockExecution, LockChartShared, CreateExecutionForShare",
			},
			"retired": {
				do: func(ctx context.Context, f *fixture) error {
					return second(createBy(ctx, f.s, newExecution(f.retired)))
				},
				pool: begin + "LockExecution, LockChartShared, CreateRefusal; rollback",
				host: "LockExecution, LockChartShared, CreateRefusal",
			},
		}},
		"Store.UnparkExecution": {class: ends, calls: map[string]call{"": {
			do:   func(ctx context.Context, f *fixture) error { return second(f.s.UnparkExecution(ctx, f.active)) },
			pool: "LockExecution, UnparkExecution", host: "LockExecution, UnparkExecution",
		}}},
		"Store.CancelChildren": {class: ends, calls: map[string]call{"": {
			do:   func(ctx context.Context, f *fixture) error { return second(f.s.CancelChildren(ctx, f.parent)) },
			pool: "Children; LockExecution, EndExecution; Children", host: "Children; LockExecution, EndExecution; Children",
		}}},
		"Store.FailExecution": {class: ends, calls: map[string]call{"": {
			do: func(ctx context.Context, f *fixture) error {
				_, err := f.s.FailExecution(ctx, f.active, "why")
				return err
			},
			pool: "LockExecution, EndExecution", host: "LockExecution, EndExecution",
		}}},
		"Store.CancelExecution": {class: ends, calls: map[string]call{"": {
			do:   func(ctx context.Context, f *fixture) error { _, err := f.s.CancelExecution(ctx, f.active); return err },
			pool: "LockExecution, EndExecution", host: "LockExecution, EndExecution",
		}}},
		"Store.Chart": {class: reads, calls: map[string]call{"": {
			do:   func(ctx context.Context, f *fixture) error { _, err := f.s.Chart(ctx, f.live); return err },
			pool: "Chart", host: "Chart",
		}}},
		"Store.Execution": {class: reads, calls: map[string]call{"": {
			do:   func(ctx context.Context, f *fixture) error { _, err := f.s.Execution(ctx, f.active); return err },
			pool: "Execution", host: "Execution",
		}}},
		"Store.LockInfo": {class: reads, calls: map[string]call{"": {
			do:   func(ctx context.Context, f *fixture) error { _, err := f.s.LockInfo(ctx, f.live); return err },
			pool: "LockInfo", host: "LockInfo",
		}}},
		"Store.Verify": {class: verifies, calls: map[string]call{"": {
			do:   func(ctx context.Context, f *fixture) error { return f.s.Verify(ctx) },
			pool: "begin isolation level read committed; " + verify + "rollback",
			host: verify + "ROLLBACK TO SAVEPOINT statigen_verify; RELEASE SAVEPOINT statigen_verify",
		}}},
		"Store.CountExecutions": {class: reads, calls: map[string]call{"": {
			do:   func(ctx context.Context, f *fixture) error { _, err := f.s.CountExecutions(ctx, f.live); return err },
			pool: "CountExecutions", host: "CountExecutions",
		}}},
	}
}

// The row id's maker is there only if the store makes row ids.
func TestEveryExportedFunctionHasARowInTheTable(t *testing.T) {
	got := exportedFunctions(t)
	got = slices.DeleteFunc(got, func(name string) bool { return name == "NewRowID" })
	want := slices.Sorted(maps.Keys(methods()))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("exported functions and methods of Store (-table +source):\n%s", diff)
	}
}

func exportedFunctions(t *testing.T) []string {
	t.Helper()
	sources, err := filepath.Glob("*.go")
	must(t, err)
	var names []string
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.SkipObjectResolution)
		must(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.IsExported() {
				names = append(names, functionName(f))
			}
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	slices.Sort(names)
	return names
}

// functionName is empty for a method of anything but Store.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	if id, ok := receiver.(*ast.Ident); ok && id.Name == "Store" {
		return "Store." + f.Name.Name
	}
	return ""
}

// A write path that goes round the lock: https://github.com/formbricks/hub/pull/87. Whatever is exported has a row in the table,
// and the rule is derived from the row's class.
func TestA10EveryMethodSendsItsStatementsBehindItsLock(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	var wire pgtest.Wire
	pool := h.Pool(t, pgtest.Record(&wire), pgtest.MaxConns(1))
	for name, m := range methods() {
		for how, c := range m.calls {
			t.Run(strings.TrimSpace(name+" "+how), func(t *testing.T) {
				record := func(s *store.Store) string {
					f := newFixture(t, free)
					f.s = s
					wire.Reset()
					_ = c.do(t.Context(), f) // a refusal is an answer too
					sent := wire.Statements()
					checkLockRule(t, h, m.class, sent)
					return describe(sent)
				}
				prepared := func(s *store.Store) string {
					said := record(s)
					n := strings.Count(said, ";") + 1
					if m.class == verifies {
						n += len(db.Statements()) // each is prepared, and not run
					}
					if m.class != sendsNothing && wire.Trips() != n {
						t.Errorf("%d round trips, want %d: one for each batch", wire.Trips(), n)
					}
					return said
				}
				record(store.New(pool)) // prepares
				if got := prepared(store.New(pool)); got != c.pool {
					t.Errorf("on a pool sent\n%s\nwant\n%s", got, c.pool)
				}
				for _, level := range []string{"read committed", "repeatable read"} {
					want := c.host
					if level != "read committed" && c.repeatable != "" {
						want = c.repeatable
					}
					inHostTx(t, pool, level, record) // prepares
					if got := inHostTx(t, pool, level, prepared); got != want {
						t.Errorf("in a host's %s transaction sent\n%s\nwant\n%s", level, got, want)
					}
				}
			})
		}
	}
}

func inHostTx(t *testing.T, pool *pgxpool.Pool, level string, record func(*store.Store) string) string {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	must(t, err)
	defer func() { must(t, tx.Rollback(context.Background())) }()
	_, err = tx.Exec(t.Context(), "SET TRANSACTION ISOLATION LEVEL "+level)
	must(t, err)
	return record(store.New(nil).WithTx(tx))
}

func newFixture(t *testing.T, s *store.Store) *fixture {
	t.Helper()
	f := &fixture{live: mustSave(t, s), retired: mustSave(t, s), pinned: mustSave(t, s), sub: mustSave(t, s)}
	mustRetire(t, s, f.retired)
	mustCreate(t, s, f.pinned)
	f.active, f.ended, f.logged = mustCreate(t, s, f.sub).ExecutionID, mustCreate(t, s, f.sub).ExecutionID, mustCreate(t, s, f.sub).ExecutionID
	must(t, second(s.CancelExecution(t.Context(), f.ended)))
	must(t, second(s.AppendInput(t.Context(), f.logged, newInput())))
	f.parent = f.logged
	must(t, second(s.CreateExecution(t.Context(), newChild(f.parent, f.sub))))
	p := newPosition(f.sub)
	must(t, s.SavePosition(t.Context(), p))
	f.session = p.SessionID
	return f
}

func describe(sent []pgtest.Statement) string {
	var b strings.Builder
	for i, s := range sent {
		switch {
		case i == 0:
		case sent[i-1].Trip != s.Trip:
			b.WriteString("; ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(statementName(s))
	}
	return b.String()
}

func statementName(s pgtest.Statement) string {
	if m := regexp.MustCompile(`^-- name: (\w+) `).FindStringSubmatch(s.SQL); m != nil {
		return m[1]
	}
	return s.SQL
}

// checkLockRule derives from the class alone what must come before the store's tables, in each round trip: on a
// pool every one is a transaction of its own, and in a host's transaction nothing is remembered, for a savepoint
// rolled back drops a lock.
func checkLockRule(t *testing.T, h *host, c class, sent []pgtest.Statement) {
	t.Helper()
	need := map[class]string{makesPin: "shared", makesPinHolding: "shared", retires: "exclusive", ends: "execution", holds: "execution"}[c]
	held := map[string]bool{}
	trip := 0
	for _, s := range sent {
		if s.Trip != trip {
			held, trip = map[string]bool{}, s.Trip
		}
		lock, tables := lockOf(s.SQL), touches(h, s.SQL)
		switch {
		case c == sendsNothing:
			t.Errorf("%s: sent %s", c, statementName(s))
		case lock != "" && len(tables) > 0:
			t.Errorf("%s: %s takes a lock and touches %v in one statement", c, statementName(s), tables)
		case (c == reads || c == unpins || c == verifies) && lock != "":
			t.Errorf("%s: took a lock in %s", c, statementName(s))
		case c == verifies && len(tables) > 0:
			t.Errorf("%s: %s touches %v", c, statementName(s), tables)
		case statementName(s) == "Children": // decides which executions are locked, one by one
		case len(tables) > 0 && need != "" && !held[need]:
			t.Errorf("%s: %s touches %v before the %s lock", c, statementName(s), tables, need)
		case c == makesPinHolding && lock == "shared" && !held["execution"]:
			t.Errorf("%s: the chart's lock comes before the execution's", c)
		case lock == "execution" && (held["shared"] || held["exclusive"]):
			t.Errorf("%s: the execution lock comes behind the chart's", c)
		}
		held[lock] = true
	}
	if (c == reads || c == unpins) && len(sent) != 1 {
		t.Errorf("%s: sent %d statements, want 1", c, len(sent))
	}
}

// lockOf names the lock that a statement takes, from its SQL.
func lockOf(sql string) string {
	namespace := fmt.Sprint(store.Namespace)
	switch {
	case strings.Contains(sql, "pg_catalog.pg_advisory_xact_lock_shared("+namespace+", "): // of one chart or of several
		return "shared"
	case strings.Contains(sql, "pg_catalog.pg_advisory_xact_lock("+namespace+", "):
		return "exclusive"
	case strings.Contains(sql, "pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended("):
		return "execution"
	}
	return ""
}

func touches(h *host, sql string) []string {
	var tables []string
	for _, table := range []string{h.charts, h.positions, h.executions, h.inputs} {
		for _, before := range []string{"FROM ", "JOIN ", "INTO ", "UPDATE "} {
			if strings.Contains(sql, before+table+" AS ") {
				tables = append(tables, table)
				break
			}
		}
	}
	return tables
}
