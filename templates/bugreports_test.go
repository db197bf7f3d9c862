package store_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
	"github.com/statigen/statigen/templates/internal/db"
)

// The tests of this file are faults of advisory locks that users of other projects reported, each named after one. A01 is a
// test of package suite, A02 stands beside the decoys, A10 beside the table of methods, A14 beside the connection that cancels,
// and A03 has its numbers in package keyspec.

// One operation makes another key than the next, and both sides believe that they are alone:
// https://github.com/Gitlawb/node/issues/210. A key is one expression wherever it stands, and the server's number for it is ours.
func TestA03TheKeyIsOneExpressionInEveryStatement(t *testing.T) {
	h := newHost(t)
	hash := newHash()
	want := keyspec.ChartKeys(store.LockKey, store.StoreString, hash)
	var first []string
	statements := 0
	for name, sql := range emittedSQL(t) {
		keys := keyExpressions(sql)
		if len(keys) == 0 {
			continue
		}
		if statements++; first == nil {
			first = keys
		}
		if diff := cmp.Diff(first, keys); diff != "" {
			t.Errorf("%s has other keys (-others +its):\n%s", name, diff)
		}
	}
	if statements != 4 {
		t.Errorf("%d statements lock a chart, want 4", statements)
	}
	var got []int32
	for _, key := range first {
		got = append(got, query[int32](t, h, "SELECT "+key, hash))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the server's keys are %d, want %d", got, want)
	}
}

// keyExpressions are the second arguments of the calls that lock a chart, each once, with its parameter as $1. Where a
// statement locks several charts, its keys stand in an array, of the hash h.hash.
func keyExpressions(sql string) []string {
	var keys []string
	if many := regexp.MustCompile(`(?s)ARRAY\[(.*)\]\) AS key`).FindStringSubmatch(sql); many != nil && strings.Contains(sql, ", k.key)") {
		return items(strings.ReplaceAll(many[1], "h.hash", "$1::pg_catalog.text"))
	}
	call := regexp.MustCompile(fmt.Sprintf(`advisory_xact_lock(_shared)?\(%d, `, store.Namespace))
	for _, at := range call.FindAllStringIndex(sql, -1) {
		key := regexp.MustCompile(`\$\d+::`).ReplaceAllString(untilClosed(sql[at[1]:]), "$$1::")
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// items are the parts of a list of SQL, which commas in parentheses and in strings do not separate.
func items(list string) []string {
	var parts []string
	depth, quoted, begin := 0, false, 0
	for i, r := range list {
		switch {
		case r == '\'':
			quoted = !quoted
		case quoted:
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			parts, begin = append(parts, strings.TrimSpace(list[begin:i])), i+1
		}
	}
	return append(parts, strings.TrimSpace(list[begin:]))
}

// untilClosed is SQL up to the parenthesis that closes one that was open before.
func untilClosed(sql string) string {
	depth, quoted := 0, false
	for i, r := range sql {
		switch {
		case r == '\'':
			quoted = !quoted
		case quoted:
		case r == '(':
			depth++
		case r == ')':
			if depth--; depth < 0 {
				return sql[:i]
			}
		}
	}
	return sql
}

// Two hashes with one key: https://github.com/BrighterCommand/Brighter/issues/4145. One chart's create delays the other's
// retirement and never changes its answer, and a transaction that locks both, as a migration does, is not in its own way,
// though a retirement be queued between the two.
func TestA05ACollidingPairOfHashesIsDelayedAndNeverWrong(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	ctx := t.Context()
	a, b := collision(t)
	for _, hash := range []string{a, b} {
		must(t, free.SaveChart(ctx, newChart(hash)))
	}
	s, tx := h.begin(t, "")
	mustCreate(t, s, a)
	retired := h.retiring(t, b)
	onB := mustCreate(t, s, b)
	must(t, second2(s.Retirement(ctx, a)))
	must(t, tx.Commit(ctx))
	if pinned := wantAs[*store.PinnedError](t, <-retired); pinned.Counts.Active != 1 {
		t.Errorf("pinned by %+v, want the one execution of its own", pinned.Counts)
	}

	must(t, second(free.CancelExecution(ctx, onB.ExecutionID)))
	s, tx = h.begin(t, "")
	mustCreate(t, s, a)
	retired = h.retiring(t, b)
	must(t, tx.Commit(ctx))
	must(t, <-retired)
	mustCreate(t, free, a) // b's tombstone is not a's
	wantAs[*store.ChartRetiredError](t, second(free.CreateExecution(ctx, newExecution(b))))
}

// retiring begins a retirement on a pool and returns when it waits for a lock.
func (h *host) retiring(t *testing.T, hash string) chan error {
	t.Helper()
	s, backend := h.storeOfOne(t)
	answered := make(chan error, 1)
	go func() {
		answered <- second(s.RetireChart(context.WithoutCancel(t.Context()), hash, store.RetireOptions{By: "ops", LockTimeout: -1}))
	}()
	h.AwaitBlocked(t, backend)
	return answered
}

// storeOfOne is a store on a pool of one connection, and whose backend that is.
func (h *host) storeOfOne(t *testing.T, opts ...pgtest.Option) (*store.Store, uint32) {
	t.Helper()
	pool := h.Pool(t, append(opts, pgtest.MaxConns(1))...)
	conn, err := pool.Acquire(t.Context())
	must(t, err)
	defer conn.Release()
	return store.New(pool), conn.Conn().PgConn().PID()
}

// collision searches two hashes that share their key; among 200,000 there are about five pairs.
func collision(t *testing.T) (string, string) {
	t.Helper()
	seen := map[int32]string{}
	for range 1_000_000 {
		hash := newHash()
		keys := keyspec.ChartKeys(store.LockKey, store.StoreString, hash)
		if first, ok := seen[keys[0]]; ok {
			return first, hash
		}
		seen[keys[0]] = hash
	}
	t.Fatal("no two of a million hashes share a key")
	return "", ""
}

// The two keys are int4, and drivers bind numbers as they like: https://github.com/lovedevpanda/Rhex/pull/23.
func TestA07EveryExecModeTakesTheSameLocks(t *testing.T) {
	h := newHost(t)
	hash := mustSave(t, h.store(t))
	ctx := t.Context()
	for _, mode := range execModes {
		fresh := newExecution(hash)
		for name, c := range map[string]struct {
			do   func(s *store.Store) error
			want []lockRow
		}{
			"retire": {func(s *store.Store) error { return second(s.RetireChart(ctx, hash, by("ops"))) }, chartLocks(hash, "ExclusiveLock")},
			"read":   {func(s *store.Store) error { return second2(s.Retirement(ctx, hash)) }, chartLocks(hash, "ShareLock")},
			"create and cancel": {
				func(s *store.Store) error {
					return errors.Join(second(s.CreateExecution(ctx, fresh)), second(s.CancelExecution(ctx, fresh.ExecutionID)))
				},
				append(chartLocks(hash, "ShareLock"), executionLock(fresh.ExecutionID)),
			},
		} {
			s, tx := h.begin(t, "", pgtest.ExecMode(mode))
			must(t, c.do(s))
			if diff := cmp.Diff(sortLocks(c.want), sortLocks(h.locksOf(t, tx))); diff != "" {
				t.Errorf("%s: %s: locks (-want +got):\n%s", mode, name, diff)
			}
			must(t, tx.Rollback(ctx))
		}
	}
}

// A NULL part takes no lock and raises no error, for the functions are strict: the Go of a lock statement has no way to write
// one. Empty parts are refused by TestArgumentsThatCannotBeStoredAreRefusedUnsent.
func TestA07NoPartOfAKeyCanBeNull(t *testing.T) {
	for _, params := range []any{
		db.LockChartSharedParams{}, db.LockChartExclusiveParams{}, db.LockChartExclusiveJoinedParams{}, db.LockExecutionParams{},
	} {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(params)) {
			if kind := field.Type.Kind(); kind != reflect.String && kind != reflect.Bool {
				t.Errorf("%T.%s is a %s, which could be NULL", params, field.Name, field.Type)
			}
		}
	}
}

// At the higher levels the snapshot is from before the wait for the lock: https://github.com/brianc/node-postgres/issues/1625.
// TestWhatWaitsOnWhat has every other pair of verbs, and the pools whose sessions default to a level.
func TestA08UnderRepeatableReadTheSnapshotIsOlderThanTheLock(t *testing.T) {
	h := newHost(t)
	l := newLab(t, h, h.labRoles(t))
	create, retire := verbs()[0], verbs()[3]
	for _, c := range []struct {
		level, create, retire string
	}{
		{"read committed", "retired", "pinned"}, {"repeatable read", "40001", "isolation"}, {"serializable", "40001", "isolation"},
	} {
		waiting := way{host: true, level: c.level}
		for want, x := range map[string]cell{
			c.create: {first: retire, second: create, firstWay: way{host: true, level: levels[0]}, secondWay: waiting},
			c.retire: {first: create, second: retire, firstWay: way{host: true, level: levels[0]}, secondWay: waiting},
		} {
			if x.answer() != want {
				t.Errorf("%s is expected to answer %s, want %s", x, x.answer(), want)
			}
			l.run(t, x)
		}
	}
	if n := h.stranded(t); n != 0 {
		t.Errorf("%d retired charts are still needed", n)
	}
}

// Going back to a savepoint drops the locks that were taken after it, and pgx's nested transactions are savepoints:
// https://github.com/cockroachdb/cockroach/issues/173479. Nothing remembers them: what comes next takes its own.
func TestA12ARolledBackSavepointDropsTheLock(t *testing.T) {
	h := newHost(t)
	t.Run("the second of two creates", func(t *testing.T) { createAfterRollback(t, h) })
	t.Run("a cancellation", func(t *testing.T) { cancelAfterRollback(t, h) })
	t.Run("a retirement after a read", func(t *testing.T) {
		hash := mustSave(t, h.store(t))
		tx := h.rolledBack(t, func(s *store.Store) { must(t, second2(s.Retirement(t.Context(), hash))) })
		mustRetire(t, store.New(nil).WithTx(tx), hash) // no upgrade any more
		must(t, tx.Rollback(t.Context()))
	})
}

// rolledBack does something in a nested transaction, rolls it back, and returns the outer one, which holds no lock.
func (h *host) rolledBack(t *testing.T, nested func(s *store.Store)) pgx.Tx {
	t.Helper()
	_, tx := h.begin(t, "")
	inner, err := tx.Begin(t.Context())
	must(t, err)
	nested(store.New(nil).WithTx(inner))
	if len(h.locksOf(t, tx)) == 0 {
		t.Error("the nested transaction took no lock")
	}
	must(t, inner.Rollback(t.Context()))
	if left := h.locksOf(t, tx); len(left) > 0 {
		t.Errorf("after the rollback the transaction holds %+v", left)
	}
	return tx
}

func createAfterRollback(t *testing.T, h *host) {
	hash := mustSave(t, h.store(t))
	tx := h.rolledBack(t, func(s *store.Store) { mustCreate(t, s, hash) })
	retiring, retireTx := h.begin(t, "")
	mustRetire(t, retiring, hash)
	answered := make(chan error, 1)
	go func() {
		answered <- second(store.New(nil).WithTx(tx).CreateExecution(context.WithoutCancel(t.Context()), newExecution(hash)))
	}()
	h.AwaitBlocked(t, pid(tx))
	must(t, retireTx.Commit(t.Context()))
	wantAs[*store.ChartRetiredError](t, <-answered)
	must(t, tx.Commit(t.Context()))
}

func cancelAfterRollback(t *testing.T, h *host) {
	e := mustCreate(t, h.store(t), newHash())
	tx := h.rolledBack(t, func(s *store.Store) { must(t, second(s.CancelExecution(t.Context(), e.ExecutionID))) })
	failing, failTx := h.begin(t, "")
	must(t, second(failing.FailExecution(t.Context(), e.ExecutionID, "first")))
	answered := make(chan store.Transition, 1)
	go func() {
		ended, err := store.New(nil).WithTx(tx).CancelExecution(context.WithoutCancel(t.Context()), e.ExecutionID)
		if err != nil {
			t.Error(err)
		}
		answered <- ended
	}()
	h.AwaitBlocked(t, pid(tx))
	must(t, failTx.Commit(t.Context()))
	if ended := <-answered; !ended.Discarded || ended.Execution.Status != store.Failed {
		t.Errorf("cancelled: %+v, want it discarded as failed", ended)
	}
	must(t, tx.Commit(t.Context()))
}

// A context that ends while a call waits closes the connection, and what the rollback says of that replaces the cause:
// https://github.com/jackc/pgx/issues/2557.
func TestA15CancellingWhileWaitingKeepsTheCause(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	for _, level := range levels {
		hash := mustPinned(t, free)
		holder, holderTx := h.begin(t, "")
		wantAs[*store.PinnedError](t, second(holder.RetireChart(t.Context(), hash, by("ops"))))
		s, backend := h.storeOfOne(t, pgtest.Isolation(level))
		e := newExecution(hash)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond) // enough to be sent, on a busy machine too
		err := second(s.CreateExecution(ctx, e))
		cancel()
		wantIs(t, err, context.DeadlineExceeded)
		wantIs(t, err, store.ErrOutcomeUnknown)
		asked := fmt.Sprintf("create execution %q on chart %q in store %s: ", e.ExecutionID, hash, store.StoreString)
		if !strings.HasPrefix(err.Error(), asked) || strings.Contains(err.Error(), "closed") {
			t.Errorf("%s: %v\nwant the cause behind %s", level, err, asked)
		}
		pgtest.Await(t, "the waiter to be gone from the server", func() bool { return !h.Blocked(t, backend) })
		must(t, holderTx.Rollback(t.Context()))
		must(t, second(s.CreateExecution(t.Context(), newExecution(hash))))
		wantIs(t, second(free.Execution(t.Context(), e.ExecutionID)), store.ErrExecutionNotFound)
	}
}

// A holder that is stuck in its transaction, and nothing that names it or bounds the wait:
// https://github.com/dbos-inc/dbos-transact-py/issues/636.
func TestA17AHolderThatIsStuckIsNamedAndNotWaitedForForever(t *testing.T) {
	h := newHost(t)
	s, _ := h.storeOfOne(t)
	hash := mustSave(t, s)
	stuck, stuckTx := h.begin(t, "")
	must(t, second2(stuck.Retirement(t.Context(), hash)))
	t.Run("a lock timeout", func(t *testing.T) { givesUp(t, h, hash) })
	t.Run("a context", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		wantIs(t, second(s.RetireChart(ctx, hash, by("ops"))), context.DeadlineExceeded)
		must(t, second(s.Chart(t.Context(), hash))) // not retired
	})
	info, err := s.LockInfo(t.Context(), hash)
	must(t, err)
	if len(info.Sessions) == 0 || info.Sessions[0].PID != int32(pid(stuckTx)) {
		t.Errorf("seen at the lock: %+v, want the holder %d", info.Sessions, pid(stuckTx))
	}
	retired := h.retiring(t, hash)
	h.Exec(t, "SELECT pg_terminate_backend($1)", pid(stuckTx))
	must(t, <-retired)
}

func givesUp(t *testing.T, h *host, hash string) {
	pool := h.Pool(t, pgtest.MaxConns(1))
	opts := store.RetireOptions{By: "ops", LockTimeout: 20 * time.Millisecond}
	err := second(store.New(pool).RetireChart(t.Context(), hash, opts))
	wantAs[*store.LockTimeoutError](t, err)
	if sqlState(err) != "55P03" || !store.Retryable(err) || !strings.Contains(err.Error(), hash) || !strings.Contains(err.Error(), store.StoreString) {
		t.Errorf("%v, want a retryable 55P03 that names the chart and the store", err)
	}
	wantIs(t, second(store.New(pool).RetireChart(t.Context(), newHash(), opts)), store.ErrChartNotFound)
	if got := setting(t, pool, "lock_timeout"); got != "0" {
		t.Errorf("the session keeps lock_timeout = %s", got)
	}
}

// A pooler gives each transaction another server connection, and what a session was told is gone or another's:
// https://github.com/rails/rails/issues/31190. Here no connection is used for two transactions, in the modes that prepare
// nothing by name, and a lock is always in one transaction with what it is for.
func TestA18NoTransactionNeedsTheSessionOfAnother(t *testing.T) {
	h := newHost(t)
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		t.Run(mode.String(), func(t *testing.T) {
			once := func(c *pgxpool.Config) { c.AfterRelease = func(*pgx.Conn) bool { return false } }
			chartsLife(t, h.store(t, pgtest.ExecMode(mode), once))
			var wire pgtest.Wire
			pool := h.Pool(t, pgtest.ExecMode(mode), pgtest.MaxConns(1), pgtest.Record(&wire))
			chartsLife(t, store.New(pool))
			locksStayWithTheirStatements(t, h, wire.Statements())
			inHostTransactions(t, h, pool)
			var prepared int
			must(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM pg_prepared_statements").Scan(&prepared))
			if prepared != 0 {
				t.Errorf("the session keeps %d prepared statements", prepared)
			}
		})
	}
}

// locksStayWithTheirStatements demands that every round trip that locks, which on a pool is one transaction, touches a table
// as well, and that nothing is sent for the session.
func locksStayWithTheirStatements(t *testing.T, h *host, sent []pgtest.Statement) {
	t.Helper()
	trips := map[int]string{}
	for _, s := range sent {
		trips[s.Trip] += s.SQL + ";"
	}
	locks := 0
	for _, sql := range trips {
		if strings.Contains(sql, "advisory_xact_lock") {
			locks++
			if len(touches(h, sql)) == 0 {
				t.Errorf("a lock is alone in its transaction:\n%s", sql)
			}
		}
		quoted := regexp.MustCompile(`"(?:[^"]|"")*"|'(?:[^']|'')*'`) // a host's names may look like anything
		sql = quoted.ReplaceAllString(sql, "quoted")
		if set := regexp.MustCompile(`(^|;)(\s*--.*\n)*\s*(SET|RESET|PREPARE|LISTEN|DECLARE|DISCARD)\b.*`).FindString(sql); set != "" {
			t.Errorf("sent for the session: %s", set)
		}
	}
	if locks < 5 {
		t.Errorf("%d transactions lock, want at least 5", locks)
	}
}

// inHostTransactions calls every verb in a transaction of the host's: what it answers is its own decision.
func inHostTransactions(t *testing.T, h *host, pool *pgxpool.Pool) {
	t.Helper()
	free := h.store(t)
	for name, m := range methods() {
		for how, c := range m.calls {
			inHostTx(t, pool, levels[0], func(s *store.Store) string {
				f := newFixture(t, free)
				f.s = s
				if err := c.do(t.Context(), f); sqlState(err) != "" {
					t.Errorf("%s %s: %v", name, how, err)
				}
				return ""
			})
		}
	}
}

// Replicas that create the tables together on their first start meet half of them: https://github.com/graphile/worker/issues/496.
// A store applies no DDL; its schema says whose work that is, and run all the same, by eight at once, it is there once and whole.
func TestA19TheSchemaIsForOneSessionAndSaysSo(t *testing.T) {
	const want = "-- Apply it once, with your migration tool. It is not safe to run in several sessions at a time.\n"
	if !strings.Contains(store.Schema, want) {
		t.Errorf("the schema does not say\n%s", want)
	}
	empty := pgtest.New(t, "")
	answers := make(chan error, 8)
	for range cap(answers) {
		conn := empty.Conn(t)
		go func() {
			_, err := conn.Exec(context.WithoutCancel(t.Context()), store.Schema, pgx.QueryExecModeSimpleProtocol)
			answers <- err
		}()
	}
	done := 0
	for range cap(answers) {
		if err := <-answers; err == nil {
			done++
		} else if code := sqlState(err); !slices.Contains([]string{"23505", "42710", "42P06", "42P07"}, code) {
			t.Errorf("one session: %v, want that somebody was first", err)
		}
	}
	if done != 1 {
		t.Errorf("%d of 8 sessions created the tables, want 1", done)
	}
	chartsLife(t, store.New(empty.Pool(t)))
}
