package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// usable fails unless the host's transaction still takes statements.
func usable(t *testing.T, tx pgx.Tx) {
	t.Helper()
	if _, err := tx.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Errorf("the transaction is lost: %v", err)
	}
}

func TestRetireThenReadThenRetireAgainInOneTransaction(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	hash := mustSave(t, free)
	mustCreate(t, free, hash)
	s, tx := h.begin(t, "")
	wantAs[*store.PinnedError](t, second(s.RetireChart(t.Context(), hash, by("ops"))))
	_, retired, err := s.Retirement(t.Context(), hash)
	must(t, err)
	if retired {
		t.Error("retired although pinned")
	}
	wantAs[*store.PinnedError](t, second(s.RetireChart(t.Context(), hash, by("ops"))))
	h.Exec(t, `UPDATE `+h.executions+` SET status = 'completed'`)
	mustRetire(t, s, hash)
	must(t, tx.Commit(t.Context()))
	wantAs[*store.ChartRetiredError](t, second(free.Chart(t.Context(), hash)))
}

// Another transaction holds the shared lock as well, so an upgrade would wait; the refusals must not.
func TestReadThenRetireIsRefusedBeforeItWaits(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	for name, read := range map[string]func(s *store.Store, hash string) error{
		"read": func(s *store.Store, hash string) error { _, _, err := s.Retirement(t.Context(), hash); return err },
		"save": func(s *store.Store, hash string) error { return s.SaveChart(t.Context(), newChart(hash)) },
		"create": func(s *store.Store, hash string) error {
			return second(s.CreateExecution(t.Context(), newExecution(hash)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			hash := mustSave(t, free)
			s, tx := h.begin(t, "")
			other, otherTx := h.begin(t, "")
			must(t, read(s, hash))
			must(t, second2(other.Retirement(t.Context(), hash)))
			for _, allow := range []bool{false, true} {
				opts := store.RetireOptions{By: "ops", LockTimeout: time.Second, AllowUpgrade: allow}
				refused := wantAs[*store.LockUpgradeError](t, second(s.RetireChart(t.Context(), hash, opts)))
				if *refused != (store.LockUpgradeError{ContentHash: hash, Busy: allow}) {
					t.Errorf("refused with %+v", refused)
				}
				usable(t, tx)
			}
			must(t, otherTx.Rollback(t.Context()))
			if name == "create" {
				return // pins the chart itself
			}
			must(t, second(s.RetireChart(t.Context(), hash, store.RetireOptions{By: "ops", AllowUpgrade: true})))
			must(t, tx.Commit(t.Context()))
		})
	}
}

func second2[A, B, C any](_ A, _ B, c C) C { return c }

func TestWhatTheStoreDecidesLeavesTheTransactionUsable(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	live, gone, pinned := mustSave(t, free), mustSave(t, free), mustSave(t, free)
	existing := mustCreate(t, free, pinned)
	mustRetire(t, free, gone)
	again := newExecution(live)
	again.ExecutionID = existing.ExecutionID
	invalid := newExecution("")
	ctx := t.Context()
	for _, level := range levels {
		s, tx := h.begin(t, level)
		for name, refused := range map[string]error{
			"create on a retired chart": second(s.CreateExecution(ctx, newExecution(gone))),
			"create of what exists":     second(s.CreateExecution(ctx, again)),
			"create with no hash":       second(s.CreateExecution(ctx, invalid)),
			"save of a retired chart":   s.SaveChart(ctx, newChart(gone)),
			"retire twice":              second(s.RetireChart(ctx, gone, by("ops"))),
			"retire a pinned chart":     second(s.RetireChart(ctx, pinned, by("ops"))),
			"retire nothing":            second(s.RetireChart(ctx, "none", by("ops"))),
			"read nothing":              second(s.Chart(ctx, "none")),
			"cancel nothing":            second(s.CancelExecution(ctx, "none")),
		} {
			if refused == nil || sqlState(refused) != "" {
				t.Errorf("%s: %s: %v, want a refusal of the store's own", level, name, refused)
			}
		}
		mustCreate(t, s, live)
		must(t, tx.Commit(ctx))
	}
	counts, err := free.CountExecutions(ctx, live)
	must(t, err)
	if counts.Active != int64(len(levels)) {
		t.Errorf("%d executions committed, want %d", counts.Active, len(levels))
	}
}

func TestASnapshotThatDoesNotShowTheChartIsRefused(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	for _, level := range levels[1:] {
		s, tx := h.begin(t, level)
		must(t, tx.QueryRow(t.Context(), "SELECT count(*) FROM "+h.charts).Scan(new(int)))
		hash := mustSave(t, free)
		mustRetire(t, free, hash)
		want := store.IsolationError{ContentHash: hash, Level: level}
		for name, err := range map[string]error{
			"create": second(s.CreateExecution(t.Context(), newExecution(hash))),
			"read":   second2(s.Retirement(t.Context(), hash)),
		} {
			if got := wantAs[*store.IsolationError](t, err); *got != want {
				t.Errorf("%s: %+v, want %+v", name, *got, want)
			}
		}
		usable(t, tx)
		if err := s.SaveChart(t.Context(), newChart(hash)); sqlState(err) != "40001" || !store.Retryable(err) {
			t.Errorf("save: %v, want a retryable 40001", err)
		}
	}
}

func TestAReadOnlyTransactionAtAHigherLevelIsRefused(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	live, gone := mustSave(t, free), mustSave(t, free)
	tombstone := mustRetire(t, free, gone)
	tx, err := h.Conn(t).BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	must(t, err)
	defer func() { must(t, tx.Rollback(context.Background())) }()
	s := store.New(nil).WithTx(tx)
	wantAs[*store.IsolationError](t, second2(s.Retirement(t.Context(), live)))
	got, retired, err := s.Retirement(t.Context(), gone)
	must(t, err)
	if !retired || got != tombstone {
		t.Errorf("read %+v, want the tombstone %+v", got, tombstone)
	}
}

func TestARetirementThatTimesOutGivesTheTransactionBack(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	hash, other := mustSave(t, free), mustSave(t, free)
	reader, readerTx := h.begin(t, "")
	must(t, second2(reader.Retirement(t.Context(), hash)))

	s, tx := h.begin(t, "")
	_, err := tx.Exec(t.Context(), "SET LOCAL lock_timeout = '7s'")
	must(t, err)
	mustCreate(t, s, other)
	opts := store.RetireOptions{By: "ops", LockTimeout: 20*time.Millisecond + time.Nanosecond}
	_, err = s.RetireChart(t.Context(), hash, opts)
	timeout := wantAs[*store.LockTimeoutError](t, err)
	if timeout.Timeout != opts.LockTimeout || !store.Retryable(err) || sqlState(err) != "55P03" {
		t.Errorf("timed out with %+v (retryable: %v)", timeout, store.Retryable(err))
	}
	wantSetting(t, tx, "lock_timeout", "7s")
	must(t, readerTx.Rollback(t.Context()))
	mustRetire(t, s, hash)
	wantSetting(t, tx, "lock_timeout", "7s")
	wantAs[*store.PinnedError](t, second(s.RetireChart(t.Context(), mustPinned(t, free), by("ops"))))
	wantSetting(t, tx, "lock_timeout", "7s")
	must(t, tx.Commit(t.Context()))
	if _, retired, err := free.Retirement(t.Context(), hash); err != nil || !retired {
		t.Errorf("after the commit: retired = %v, %v", retired, err)
	}
}

func mustPinned(t *testing.T, s *store.Store) string {
	t.Helper()
	hash := mustSave(t, s)
	mustCreate(t, s, hash)
	return hash
}

func wantSetting(t *testing.T, tx pgx.Tx, name, want string) {
	t.Helper()
	var got string
	must(t, tx.QueryRow(t.Context(), "SELECT current_setting($1)", name).Scan(&got))
	if got != want {
		t.Errorf("%s = %q, want %q", name, got, want)
	}
}

// The bound holds for the tombstone's row too, not only for the advisory lock.
func TestARetirementsBoundHoldsForTheRowLock(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	hash := mustSave(t, free)
	blocker, err := h.Conn(t).Begin(t.Context())
	must(t, err)
	_, err = blocker.Exec(t.Context(), "SELECT FROM "+h.charts+" WHERE content_hash = $1 FOR UPDATE", hash)
	must(t, err)
	opts := store.RetireOptions{By: "ops", LockTimeout: 20 * time.Millisecond}
	wantAs[*store.LockTimeoutError](t, second(free.RetireChart(t.Context(), hash, opts)))
	s, tx := h.begin(t, "")
	wantAs[*store.LockTimeoutError](t, second(s.RetireChart(t.Context(), hash, opts)))
	usable(t, tx)
	must(t, blocker.Rollback(t.Context()))
}

func TestWithLockTimeoutBoundsEveryOtherWaitAndIsPutBack(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	hash := mustSave(t, free)
	execution := mustCreate(t, free, hash)
	ctx := t.Context()
	blocked := map[string]func(s *store.Store) error{
		"create": func(s *store.Store) error { return second(s.CreateExecution(ctx, newExecution(hash))) },
		"save":   func(s *store.Store) error { return s.SaveChart(ctx, newChart(hash)) },
		"read":   func(s *store.Store) error { return second2(s.Retirement(ctx, hash)) },
		"cancel": func(s *store.Store) error { return second(s.CancelExecution(ctx, execution.ExecutionID)) },
		"fail":   func(s *store.Store) error { return second(s.FailExecution(ctx, execution.ExecutionID, "why")) },
	}
	holder, holderTx := h.begin(t, "")
	wantAs[*store.PinnedError](t, second(holder.RetireChart(ctx, hash, by("ops"))))
	_, err := holderTx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", execution.ExecutionID)
	must(t, err)
	const bound = 20 * time.Millisecond
	pooled := store.New(h.Pool(t), store.WithLockTimeout(bound))
	for name, do := range blocked {
		if timeout := wantAs[*store.LockTimeoutError](t, do(pooled)); timeout.Timeout != bound {
			t.Errorf("%s: timed out after %s, want %s", name, timeout.Timeout, bound)
		}
		_, tx := h.begin(t, "")
		wantAs[*store.LockTimeoutError](t, do(pooled.WithTx(tx)))
	}
	must(t, holderTx.Rollback(ctx))
	_, tx := h.begin(t, "")
	_, err = tx.Exec(ctx, "SET LOCAL lock_timeout = '7s'")
	must(t, err)
	for name, do := range blocked {
		if err := do(pooled.WithTx(tx)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		wantSetting(t, tx, "lock_timeout", "7s")
	}
}

func TestASessionsOwnLockTimeoutIsToldApart(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	hash := mustPinned(t, free)
	holder, holderTx := h.begin(t, "")
	wantAs[*store.PinnedError](t, second(holder.RetireChart(t.Context(), hash, by("ops"))))
	impatient := h.store(t, pgtest.Setting("lock_timeout", "20ms"))
	timeout := wantAs[*store.LockTimeoutError](t, second(impatient.CreateExecution(t.Context(), newExecution(hash))))
	if timeout.Timeout != 0 {
		t.Errorf("timed out after %s of the store's, want the session's", timeout.Timeout)
	}
	must(t, holderTx.Rollback(t.Context()))
}

// Two transactions that retire one chart and create on the other, crosswise: the docs' own example of a deadlock.
func TestADeadlockOfHostTransactionsIsRetryable(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	a, b := mustSave(t, free), mustSave(t, free)
	one, oneTx := h.begin(t, "")
	two, twoTx := h.begin(t, "")
	mustRetire(t, one, a)
	mustRetire(t, two, b)
	answered := make(chan error, 1)
	go func() { answered <- second(one.CreateExecution(t.Context(), newExecution(b))) }()
	h.AwaitBlocked(t, pid(oneTx))
	_, err := two.CreateExecution(t.Context(), newExecution(a))
	must(t, twoTx.Rollback(t.Context()))
	first := <-answered
	if sqlState(first) == "40P01" {
		err, first = first, err
	}
	if sqlState(err) != "40P01" || !store.Retryable(err) {
		t.Errorf("one side got %v, want a retryable 40P01", err)
	}
	must(t, oneTx.Rollback(t.Context()))
	_ = first
}

// A statement's now() is from before its wait; what the store writes is from after it.
func TestTimesAreFromAfterTheWait(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	ctx := t.Context()

	pinned := mustPinned(t, free)
	holder, holderTx := h.begin(t, "")
	wantAs[*store.PinnedError](t, second(holder.RetireChart(ctx, pinned, by("ops"))))
	h.waiting(t, holderTx, func(s *store.Store) (time.Time, error) {
		e, err := s.CreateExecution(ctx, newExecution(pinned))
		return e.InsertedAt, err
	})

	unpinned := mustSave(t, free)
	holder, holderTx = h.begin(t, "")
	must(t, second2(holder.Retirement(ctx, unpinned)))
	h.waiting(t, holderTx, func(s *store.Store) (time.Time, error) {
		r, err := s.RetireChart(ctx, unpinned, by("ops"))
		return r.RetiredAt, err
	})

	execution := mustCreate(t, free, pinned)
	holder, holderTx = h.begin(t, "")
	must(t, second(holder.CancelExecution(ctx, execution.ExecutionID)))
	h.waiting(t, holderTx, func(s *store.Store) (time.Time, error) {
		e, err := s.CancelExecution(ctx, execution.ExecutionID)
		return e.Execution.UpdatedAt, err
	})
}

// waiting runs a verb that waits for the holder, notes the server's clock while it waits, and compares.
func (h *host) waiting(t *testing.T, holder pgx.Tx, verb func(s *store.Store) (time.Time, error)) {
	t.Helper()
	s, tx := h.begin(t, "")
	type answer struct {
		at  time.Time
		err error
	}
	answered := make(chan answer, 1)
	go func() {
		at, err := verb(s)
		answered <- answer{at, err}
	}()
	h.AwaitBlocked(t, pid(tx))
	waitedAt := query[time.Time](t, h, "SELECT clock_timestamp() AT TIME ZONE 'UTC'")
	must(t, holder.Rollback(t.Context()))
	a := <-answered
	must(t, a.err)
	if !a.at.After(waitedAt) {
		t.Errorf("the time written, %s, is from before the wait at %s", a.at, waitedAt)
	}
	must(t, tx.Commit(t.Context()))
}

// A savepoint of the host's that happens to have our name is the host's: we go back only to one that we set.
func TestAHostsSavepointOfOurNameIsLeftAlone(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	ctx := t.Context()
	hash := mustSave(t, free)
	for name, breakIt := range map[string]func(tx pgx.Tx){
		"an aborted transaction": func(tx pgx.Tx) { _, _ = tx.Exec(ctx, "SELECT 1/0") },
		"a table renamed":        func(pgx.Tx) { h.Exec(t, "ALTER TABLE "+h.positions+" RENAME TO elsewhere") },
	} {
		t.Run(name, func(t *testing.T) {
			s, tx := h.begin(t, "")
			mustExec(t, tx, "SAVEPOINT statigen_retire")
			mustCreate(t, s, mustSave(t, free))
			breakIt(tx)
			if err := second(s.RetireChart(ctx, hash, by("ops"))); err == nil {
				t.Error("retired in a broken transaction")
			}
			if _, err := tx.Exec(ctx, "SELECT 1"); sqlState(err) != "25P02" {
				t.Errorf("the transaction goes on (%v), and what the host wrote in it may be gone", err)
			}
		})
	}
}

func mustExec(t *testing.T, tx pgx.Tx, sql string, args ...any) {
	t.Helper()
	_, err := tx.Exec(t.Context(), sql, args...)
	must(t, err)
}

func TestARefusedRetirementLeavesNoSavepointBehind(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	hash := mustSave(t, free)
	reader, readerTx := h.begin(t, "")
	must(t, second2(reader.Retirement(t.Context(), hash)))
	opts := store.RetireOptions{By: "ops", LockTimeout: time.Millisecond}
	s, tx := h.begin(t, "")
	wantAs[*store.LockTimeoutError](t, second(s.RetireChart(t.Context(), hash, opts)))
	_, err := tx.Exec(t.Context(), "RELEASE SAVEPOINT statigen_retire")
	if sqlState(err) != "3B001" {
		t.Errorf("got %v, want no such savepoint", err)
	}
	must(t, readerTx.Rollback(t.Context()))
}

// A lock of the host's own that looks like a chart's in one part of its key is no upgrade.
func TestAForeignLockIsNotTakenForTheCharts(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	hash := mustSave(t, free)
	key := keyspec.ChartKeys(store.LockKey, store.StoreString, hash)[0]
	for name, lock := range map[string]string{
		"another namespace": fmt.Sprintf("SELECT pg_advisory_xact_lock_shared(7, %d)", key),
		"one bigint":        fmt.Sprintf("SELECT pg_advisory_xact_lock_shared(%d)", int64(store.Namespace)<<32|int64(uint32(key))),
	} {
		s, tx := h.begin(t, "")
		mustExec(t, tx, lock)
		if err := second(s.RetireChart(t.Context(), hash, by("ops"))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		must(t, tx.Rollback(t.Context()))
	}
}

// Under two keys a transaction may hold one of them from a store that takes it alone. An upgrade that is allowed waits
// for none, asked once or twice.
func TestAnAllowedUpgradeNeverWaitsHoweverTheKeysAreHeld(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	for range 8 { // so that either key comes first for some hash
		hash := mustSave(t, free)
		keys := keyspec.ChartKeys(store.LockKey, store.StoreString, hash)
		for _, held := range keys {
			s, tx := h.begin(t, "")
			_, otherTx := h.begin(t, "")
			mustExec(t, tx, "SELECT pg_advisory_xact_lock_shared($1::int4, $2::int4)", store.Namespace, held)
			for _, key := range keys {
				mustExec(t, otherTx, "SELECT pg_advisory_xact_lock_shared($1::int4, $2::int4)", store.Namespace, key)
			}
			for range 2 {
				opts := store.RetireOptions{By: "ops", LockTimeout: time.Second, AllowUpgrade: true}
				if refused := wantAs[*store.LockUpgradeError](t, second(s.RetireChart(t.Context(), hash, opts))); !refused.Busy {
					t.Errorf("refused with %+v, want busy", refused)
				}
			}
			must(t, otherTx.Rollback(t.Context()))
			must(t, tx.Rollback(t.Context()))
		}
	}
}

func TestAnExecutionThatExistsIsSaidToAtEveryLevel(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	existing := mustCreate(t, free, newHash())
	again := newExecution(newHash()) // on a chart that no snapshot shows
	again.ExecutionID = existing.ExecutionID
	onAShownChart := again
	onAShownChart.ContentHash = mustSave(t, free)
	for _, level := range levels {
		for _, e := range []store.NewExecution{again, onAShownChart} {
			s, tx := h.begin(t, level)
			exists := wantAs[*store.ExecutionExistsError](t, second(s.CreateExecution(t.Context(), e)))
			if exists.RowID != existing.RowID {
				t.Errorf("%s: exists as row %v, want %v", level, exists.RowID, existing.RowID)
			}
			usable(t, tx)
			must(t, tx.Rollback(t.Context()))
		}
	}
}
