package store_test

import (
	compare "cmp"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// lockRow is an advisory lock as pg_locks shows it.
type lockRow struct {
	ClassID, ObjID uint32
	ObjSubID       int16
	Mode           string
}

func (h *host) locksOf(t *testing.T, tx pgx.Tx) []lockRow {
	t.Helper()
	rows, err := h.Conn(t).Query(t.Context(), `SELECT classid, objid, objsubid, mode FROM pg_locks
		WHERE locktype = 'advisory' AND pid = $1 AND granted ORDER BY classid, objid, mode`, pid(tx))
	must(t, err)
	locks, err := pgx.CollectRows(rows, pgx.RowToStructByPos[lockRow])
	must(t, err)
	return locks
}

func chartLocks(hash, mode string) []lockRow {
	var locks []lockRow
	for _, key := range keyspec.ChartKeys(store.LockKey, store.StoreString, hash) {
		locks = append(locks, lockRow{uint32(store.Namespace), uint32(key), 2, mode})
	}
	return locks
}

func executionLock(id string) lockRow {
	key := uint64(keyspec.ExecutionKey(id))
	return lockRow{uint32(key >> 32), uint32(key), 1, "ExclusiveLock"}
}

// The keys that the server computes are those that keyspec says, in the mode that the verb needs, and no others.
func TestEachVerbHoldsExactlyItsLocks(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	hash := mustSave(t, free)
	execution := mustCreate(t, free, hash)
	fresh := newExecution(hash)
	ctx := t.Context()
	for name, c := range map[string]struct {
		do   func(s *store.Store) error
		want []lockRow
	}{
		"save":   {func(s *store.Store) error { return s.SaveChart(ctx, newChart(hash)) }, chartLocks(hash, "ShareLock")},
		"read":   {func(s *store.Store) error { return second2(s.Retirement(ctx, hash)) }, chartLocks(hash, "ShareLock")},
		"retire": {func(s *store.Store) error { return second(s.RetireChart(ctx, hash, by("ops"))) }, chartLocks(hash, "ExclusiveLock")},
		"create": {
			func(s *store.Store) error { return second(s.CreateExecution(ctx, fresh)) },
			append(chartLocks(hash, "ShareLock"), executionLock(fresh.ExecutionID)),
		},
		"cancel": {func(s *store.Store) error { return second(s.CancelExecution(ctx, execution.ExecutionID)) }, []lockRow{executionLock(execution.ExecutionID)}},
		"fail":   {func(s *store.Store) error { return second(s.FailExecution(ctx, execution.ExecutionID, "why")) }, []lockRow{executionLock(execution.ExecutionID)}},
		"chart":  {func(s *store.Store) error { return second(s.Chart(ctx, hash)) }, nil},
		"count":  {func(s *store.Store) error { return second(s.CountExecutions(ctx, hash)) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, tx := h.begin(t, "")
			_ = c.do(s) // the retirement is refused, and holds its lock all the same
			got := h.locksOf(t, tx)
			if diff := cmp.Diff(sortLocks(c.want), sortLocks(got)); diff != "" {
				t.Errorf("locks held (-want +got):\n%s", diff)
			}
			must(t, tx.Rollback(ctx))
		})
	}
}

func sortLocks(locks []lockRow) []lockRow {
	return slices.SortedFunc(slices.Values(locks), func(a, b lockRow) int {
		return compare.Or(compare.Compare(a.ClassID, b.ClassID), compare.Compare(a.ObjID, b.ObjID))
	})
}

// referenceTexts are what the Elixir library hashes for a chart of this store: its newer versions the first, 0.23.0
// and 0.23.1 the second.
func referenceTexts(hash string) map[string]string {
	texts := map[string]string{"store": keyspec.Text(store.StoreString, hash), "content_hash": hash}
	if store.LockKey != string(keyspec.Both) {
		return map[string]string{store.LockKey: texts[store.LockKey]}
	}
	return texts
}

// referenceLock is the statement that the Elixir library sends.
func referenceLock(ctx context.Context, tx pgx.Tx, function, text string) error {
	_, err := tx.Exec(ctx, "SELECT "+function+"($1::int4, hashtext($2::text))", store.Namespace, text)
	return err
}

const (
	referenceShared    = "pg_advisory_xact_lock_shared"
	referenceExclusive = "pg_advisory_xact_lock"
)

func TestTheReferencesLocksAreOrderedAgainstOurs(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	ctx := t.Context()
	for _, theirs := range []string{referenceShared, referenceExclusive} {
		for _, ours := range verbs() {
			hash := mustSave(t, free)
			for key, text := range referenceTexts(hash) {
				t.Run(ours.name+" and "+theirs+" on "+key, func(t *testing.T) {
					bothOrders(ctx, t, h, ours, theirs, hash, text)
				})
			}
		}
	}
}

func bothOrders(ctx context.Context, t *testing.T, h *host, ours verb, theirs, hash, text string) {
	conflict := ours.retires() || theirs == referenceExclusive

	// Theirs is held; ours comes.
	_, their := h.begin(t, "")
	must(t, referenceLock(ctx, their, theirs, text))
	s, our := h.begin(t, "")
	answered := make(chan error, 1)
	go func() { answered <- ours.do(ctx, s, hash, "ours") }()
	if conflict {
		h.AwaitBlocked(t, pid(our))
		must(t, their.Rollback(ctx))
	}
	must(t, <-answered)

	// Ours is held; theirs comes.
	_, their = h.begin(t, "")
	go func() { answered <- referenceLock(ctx, their, theirs, text) }()
	if conflict {
		h.AwaitBlocked(t, pid(their))
	} else {
		must(t, <-answered)
	}
	must(t, our.Rollback(ctx))
	if conflict {
		must(t, <-answered)
	}
	must(t, their.Rollback(ctx))
}

// The reference's execution lock is ours, and neither ever meets a chart lock: they are in two key spaces.
func TestTheExecutionLockIsTheReferencesAndMeetsNoChartLock(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	ctx := t.Context()
	execution := mustCreate(t, free, mustSave(t, free))
	_, their := h.begin(t, "")
	_, err := their.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0))", execution.ExecutionID)
	must(t, err)
	s, our := h.begin(t, "")
	answered := make(chan error, 1)
	go func() { answered <- second(s.CancelExecution(ctx, execution.ExecutionID)) }()
	h.AwaitBlocked(t, pid(our))
	must(t, their.Rollback(ctx))
	must(t, <-answered)
	must(t, our.Commit(ctx))

	// A chart whose hash is the execution's id, its lock held both ways.
	chart := newChart(execution.ExecutionID)
	must(t, free.SaveChart(ctx, chart))
	s, our = h.begin(t, "")
	must(t, second(s.RetireChart(ctx, chart.ContentHash, by("ops"))))
	must(t, second(free.CancelExecution(ctx, execution.ExecutionID)))
	must(t, our.Rollback(ctx))
}

func TestLockErrorsNameTheOperationTheChartAndTheStore(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	hash := mustPinned(t, s)
	_, err := s.RetireChart(t.Context(), hash, by("ops"))
	want := `retire chart "` + hash + `" in store ` + store.StoreString + `: chart "` + hash + `" is pinned (active 1, needs_migration 0, children 0, positions 0)`
	if err.Error() != want {
		t.Errorf("error\n%s\nwant\n%s", err, want)
	}
	if errors.Is(err, store.ErrChartNotFound) {
		t.Error("a pinned chart is found")
	}
}

func TestLockInfoShowsWhoHoldsAndWhoWaits(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	ctx := t.Context()
	hash := mustSave(t, free)
	holder, holderTx := h.begin(t, "", pgtest.Setting("application_name", "holder"))
	must(t, second2(holder.Retirement(ctx, hash)))
	waiter, waiterTx := h.begin(t, "", pgtest.Setting("application_name", "waiter"))
	answered := make(chan error, 1)
	go func() { answered <- second(waiter.RetireChart(ctx, hash, by("ops"))) }()
	h.AwaitBlocked(t, pid(waiterTx))

	for _, r := range h.routes(t) {
		info, err := h.store(t, r.open).LockInfo(ctx, hash)
		must(t, err)
		if want := keyspec.ChartKeys(store.LockKey, store.StoreString, hash); !slices.Equal(info.Keys, want) {
			t.Errorf("%s: keys %v, want %v", r.name, info.Keys, want)
		}
		waits := slices.IndexFunc(info.Sessions, func(s store.LockSession) bool { return !s.Granted })
		if waits < 0 {
			t.Fatalf("%s: nobody waits: %+v", r.name, info)
		}
		if w := info.Sessions[waits]; w.PID != int32(pid(waiterTx)) || !w.Exclusive || w.Application != "waiter" ||
			w.Waiting <= 0 || w.Transaction <= 0 || !slices.Equal(w.BlockedBy, []int32{int32(pid(holderTx))}) {
			t.Errorf("%s: who waits: %+v", r.name, w)
		}
		holds := 0
		for _, s := range info.Sessions {
			if s.PID == int32(pid(holderTx)) && s.Granted && !s.Exclusive && s.Application == "holder" && s.Waiting == 0 {
				holds++
			}
		}
		if holds != len(info.Keys) {
			t.Errorf("%s: the holder has %d of the %d keys: %+v", r.name, holds, len(info.Keys), info.Sessions)
		}
	}
	must(t, holderTx.Rollback(ctx))
	must(t, <-answered)
	must(t, waiterTx.Rollback(ctx))
	info, err := free.LockInfo(ctx, hash)
	must(t, err)
	if len(info.Sessions) != 0 || len(info.Keys) == 0 {
		t.Errorf("with nobody there: %+v", info)
	}
}
