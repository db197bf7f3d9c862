package store_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// On every route and far from UTC.
func TestAChartsLifeIsTheSameOnEveryRoute(t *testing.T) {
	h := newHost(t)
	for _, r := range h.routes(t) {
		t.Run(r.name, func(t *testing.T) {
			chartsLife(t, h.store(t, r.open, pgtest.Setting("TimeZone", "Asia/Kathmandu")))
		})
	}
}

// chartsLife is a life of a chart, by verbs alone, and all that they answer.
func chartsLife(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	hash := mustSave(t, s)
	must(t, s.SaveChart(ctx, newChart(hash)))

	chart, err := s.Chart(ctx, hash)
	must(t, err)
	want := newChart(hash)
	want.RowID, want.InsertedAt, want.UpdatedAt = chart.RowID, chart.InsertedAt, chart.UpdatedAt
	if diff := unlike(want, chart); diff != "" {
		t.Errorf("chart read back (-want +got):\n%s", diff)
	}
	if age := time.Since(chart.InsertedAt); age < -time.Minute || age > time.Minute {
		t.Errorf("chart inserted %s ago, at %s", age, chart.InsertedAt)
	}

	created := mustCreate(t, s, hash)
	read, err := s.Execution(ctx, created.ExecutionID)
	must(t, err)
	if diff := unlike(created, read); diff != "" {
		t.Errorf("execution read back (-created +read):\n%s", diff)
	}

	_, retired, err := s.Retirement(ctx, hash)
	must(t, err)
	if retired {
		t.Error("retired before its time")
	}
	pinned := wantAs[*store.PinnedError](t, second(s.RetireChart(ctx, hash, by("ops"))))
	if want := (store.PinCounts{ExecutionCounts: store.ExecutionCounts{Active: 1}}); pinned.Counts != want {
		t.Errorf("pinned by %+v, want %+v", pinned.Counts, want)
	}

	ended, err := s.CancelExecution(ctx, created.ExecutionID)
	must(t, err)
	wantEnded := created
	wantEnded.Status, wantEnded.UpdatedAt, wantEnded.EndedAt = store.Cancelled, ended.Execution.UpdatedAt, &ended.Execution.UpdatedAt
	if diff := unlike(store.Transition{Execution: wantEnded}, ended); diff != "" {
		t.Errorf("cancelled (-want +got):\n%s", diff)
	}
	again, err := s.FailExecution(ctx, created.ExecutionID, "too late")
	must(t, err)
	if diff := unlike(store.Transition{Execution: wantEnded, Discarded: true}, again); diff != "" {
		t.Errorf("failed after it was cancelled (-want +got):\n%s", diff)
	}

	tombstone := mustRetire(t, s, hash)
	refused := wantAs[*store.ChartRetiredError](t, second(s.CreateExecution(ctx, newExecution(hash))))
	if diff := unlike(store.ChartRetiredError(tombstone), *refused); diff != "" {
		t.Errorf("create refused (-tombstone +got):\n%s", diff)
	}
	if age := time.Since(tombstone.RetiredAt); tombstone.RetiredBy != "ops" || age < -time.Minute || age > time.Minute {
		t.Errorf("tombstone %+v is %s old, want a new one by ops", tombstone, age)
	}
	got, retired, err := s.Retirement(ctx, hash)
	must(t, err)
	if diff := unlike(tombstone, got); diff != "" || !retired {
		t.Errorf("tombstone read back, %v (-written +read):\n%s", retired, diff)
	}
	wantAs[*store.ChartRetiredError](t, second(s.Chart(ctx, hash)))
	wantAs[*store.ChartRetiredError](t, s.SaveChart(ctx, newChart(hash)))
	wantAs[*store.ChartRetiredError](t, second(s.RetireChart(ctx, hash, by("somebody else"))))

	counts, err := s.CountExecutions(ctx, hash)
	must(t, err)
	if want := (store.ExecutionCounts{Cancelled: 1}); counts != want {
		t.Errorf("counts %+v, want %+v", counts, want)
	}
}

func second[A, B any](_ A, b B) B { return b }

func TestATombstoneKeepsTheHashAndLosesTheBlobs(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	hash := mustSave(t, s)
	mustRetire(t, s, hash)
	if !query[bool](t, h, `SELECT identity_blob IS NULL AND chart_blob IS NULL AND updated_at = retired_at FROM `+h.charts+` WHERE content_hash = $1`, hash) {
		t.Error("the tombstone kept a blob, or updated_at is not retired_at")
	}
}

func TestWhatDoesNotExistIsNotFound(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	ctx := t.Context()
	wantIs(t, second(s.Chart(ctx, "none")), store.ErrChartNotFound)
	wantIs(t, second(s.RetireChart(ctx, "none", by("ops"))), store.ErrChartNotFound)
	wantIs(t, second(s.Execution(ctx, "none")), store.ErrExecutionNotFound)
	wantIs(t, second(s.FailExecution(ctx, "none", "why")), store.ErrExecutionNotFound)
	wantIs(t, second(s.CancelExecution(ctx, "none")), store.ErrExecutionNotFound)
	if _, retired, err := s.Retirement(ctx, "none"); err != nil || retired {
		t.Errorf("Retirement of no chart = %v, %v", retired, err)
	}
	if counts, err := s.CountExecutions(ctx, "none"); err != nil || counts != (store.ExecutionCounts{}) {
		t.Errorf("CountExecutions of no chart = %+v, %v", counts, err)
	}
	mustCreate(t, s, newHash()) // a chart need not be stored
}

func TestAnExecutionThatExistsIsNamedInTheRefusal(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	first := mustCreate(t, s, mustSave(t, s))
	second := newExecution(mustSave(t, s))
	second.ExecutionID = first.ExecutionID
	_, err := s.CreateExecution(t.Context(), second)
	want := store.ExecutionExistsError{ExecutionID: first.ExecutionID, RowID: first.RowID, ContentHash: first.ContentHash, InsertedAt: first.InsertedAt}
	if diff := unlike(want, *wantAs[*store.ExecutionExistsError](t, err)); diff != "" {
		t.Errorf("refusal (-want +got):\n%s", diff)
	}
}

func TestEveryKindOfPinKeepsAChart(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	ctx := t.Context()
	for name, c := range map[string]struct {
		plant func(t *testing.T, hash string)
		want  store.PinCounts
	}{
		"an active execution": {
			func(t *testing.T, hash string) { mustCreate(t, s, hash) },
			store.PinCounts{ExecutionCounts: store.ExecutionCounts{Active: 1}},
		},
		"a parked execution": {
			func(t *testing.T, hash string) {
				h.Exec(t, `UPDATE `+h.executions+` SET status = 'needs_migration' WHERE execution_id = $1`, mustCreate(t, s, hash).ExecutionID)
			},
			store.PinCounts{ExecutionCounts: store.ExecutionCounts{NeedsMigration: 1}},
		},
		"a position": {
			func(t *testing.T, hash string) { h.plantPositions(t, hash, 1) },
			store.PinCounts{Positions: 1},
		},
		"a terminal child of an active parent": {
			func(t *testing.T, hash string) {
				child, parent := mustCreate(t, s, newHash()), mustCreate(t, s, newHash())
				h.plantLinkage(t, child.ExecutionID, parent.ExecutionID, hash)
				must(t, second(s.FailExecution(ctx, child.ExecutionID, "why")))
			},
			store.PinCounts{ExecutionCounts: store.ExecutionCounts{Children: 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			hash := mustSave(t, s)
			c.plant(t, hash)
			pinned := wantAs[*store.PinnedError](t, second(s.RetireChart(ctx, hash, by("ops"))))
			if pinned.Counts != c.want {
				t.Errorf("pinned by %+v, want %+v", pinned.Counts, c.want)
			}
			must(t, second(s.Chart(ctx, hash)))
		})
	}
}

func TestWhatHasEndedPinsNothing(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	ctx := t.Context()
	hash := mustSave(t, s)
	must(t, second(s.FailExecution(ctx, mustCreate(t, s, hash).ExecutionID, "why")))
	must(t, second(s.CancelExecution(ctx, mustCreate(t, s, hash).ExecutionID)))
	child, parent := mustCreate(t, s, newHash()), mustCreate(t, s, newHash())
	h.plantLinkage(t, child.ExecutionID, parent.ExecutionID, hash)
	must(t, second(s.CancelExecution(ctx, parent.ExecutionID)))
	orphan := mustCreate(t, s, newHash())
	h.plantLinkage(t, orphan.ExecutionID, "nobody", hash)
	mustRetire(t, s, hash)
}

func TestARefusalReportsWhatHasEndedToo(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	ctx := t.Context()
	hash := mustSave(t, s)
	mustCreate(t, s, hash)
	must(t, second(s.FailExecution(ctx, mustCreate(t, s, hash).ExecutionID, "why")))
	must(t, second(s.CancelExecution(ctx, mustCreate(t, s, hash).ExecutionID)))
	pinned := wantAs[*store.PinnedError](t, second(s.RetireChart(ctx, hash, by("ops"))))
	want := store.PinCounts{ExecutionCounts: store.ExecutionCounts{Active: 1, Failed: 1, Cancelled: 1}}
	if pinned.Counts != want {
		t.Errorf("pinned by %+v, want %+v", pinned.Counts, want)
	}
}

func TestEveryStatusIsCountedAsItself(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	hash := mustSave(t, s)
	for status, n := range map[string]int{store.Active: 1, store.NeedsMigration: 2, store.Completed: 3, store.Failed: 4, store.Cancelled: 5} {
		h.plantExecutions(t, hash, status, n)
	}
	want := store.ExecutionCounts{Active: 1, NeedsMigration: 2, Completed: 3, Failed: 4, Cancelled: 5}
	counts, err := s.CountExecutions(t.Context(), hash)
	must(t, err)
	if counts != want {
		t.Errorf("counted %+v, want %+v", counts, want)
	}
	pinned := wantAs[*store.PinnedError](t, second(s.RetireChart(t.Context(), hash, by("ops"))))
	if pinned.Counts != (store.PinCounts{ExecutionCounts: want}) {
		t.Errorf("pinned by %+v, want %+v", pinned.Counts, want)
	}
}

// Each kind of pin is counted up to the bound, and said to be more when there is more.
func TestCountsStopAtMaxPinCount(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	parent := mustCreate(t, s, newHash())
	for name, c := range map[string]struct {
		plant func(hash string, n int)
		count func(store.PinCounts) int64
	}{
		"active": {func(hash string, n int) { h.plantExecutions(t, hash, store.Active, n) }, func(c store.PinCounts) int64 { return c.Active }},
		"parked": {func(hash string, n int) { h.plantExecutions(t, hash, store.NeedsMigration, n) }, func(c store.PinCounts) int64 { return c.NeedsMigration }},
		"ended": {func(hash string, n int) {
			h.plantExecutions(t, hash, store.Completed, n)
			h.plantPositions(t, hash, 1)
		}, func(c store.PinCounts) int64 { return c.Completed }},
		"positions": {func(hash string, n int) { h.plantPositions(t, hash, n) }, func(c store.PinCounts) int64 { return c.Positions }},
		"children": {func(hash string, n int) {
			children := newHash()
			h.plantExecutions(t, children, store.Completed, n)
			h.Exec(t, `UPDATE `+h.executions+` SET metadata = jsonb_build_object('statifier_persistence', jsonb_build_object(
				'parent_execution_id', $2::text, 'content_hash', $3::text)) WHERE content_hash = $1`, children, parent.ExecutionID, hash)
		}, func(c store.PinCounts) int64 { return c.Children }},
	} {
		for _, more := range []bool{false, true} {
			hash := mustSave(t, s)
			n := store.MaxPinCount
			if more {
				n++
			}
			c.plant(hash, n)
			counts := wantAs[*store.PinnedError](t, second(s.RetireChart(t.Context(), hash, by("ops")))).Counts
			if c.count(counts) != store.MaxPinCount || counts.More != more {
				t.Errorf("%d %s: counted %+v, want %d and more: %v", n, name, counts, store.MaxPinCount, more)
			}
		}
	}
}

func TestAFailureIsKeptAndACancellationClearsIt(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	ctx := t.Context()
	failed, err := s.FailExecution(ctx, mustCreate(t, s, newHash()).ExecutionID, "no funds")
	must(t, err)
	if failed.Execution.Status != store.Failed || failed.Execution.Failure == nil || *failed.Execution.Failure != "no funds" {
		t.Errorf("failed: %+v", failed.Execution)
	}
	again, err := s.CancelExecution(ctx, failed.Execution.ExecutionID)
	must(t, err)
	if !again.Discarded || again.Execution.Failure == nil || *again.Execution.Failure != "no funds" {
		t.Errorf("cancelled after it failed: %+v", again)
	}
	parked := mustCreate(t, s, newHash())
	h.Exec(t, `UPDATE `+h.executions+` SET status = 'needs_migration', failure = 'budget' WHERE execution_id = $1`, parked.ExecutionID)
	cancelled, err := s.CancelExecution(ctx, parked.ExecutionID)
	must(t, err)
	if cancelled.Discarded || cancelled.Execution.Failure != nil {
		t.Errorf("cancelled while parked: %+v", cancelled)
	}
}

func TestAStampOnceMadeIsKept(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	e := mustCreate(t, s, newHash())
	h.Exec(t, `UPDATE `+h.executions+` SET ended_at = '2001-02-03 04:05:06.789012' WHERE execution_id = $1`, e.ExecutionID)
	ended, err := s.CancelExecution(t.Context(), e.ExecutionID)
	must(t, err)
	if want := time.Date(2001, 2, 3, 4, 5, 6, 789012000, time.UTC); ended.Execution.EndedAt == nil || !ended.Execution.EndedAt.Equal(want) {
		t.Errorf("ended at %v, want %v", ended.Execution.EndedAt, want)
	}
}

func TestAbsentMetadataReadsAsTheEmptyObject(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	for _, metadata := range []json.RawMessage{nil, []byte(`{}`), []byte(" {\n} ")} {
		e := newExecution(newHash())
		e.Metadata, e.PositionBlob = metadata, nil
		created, err := s.CreateExecution(t.Context(), e)
		must(t, err)
		read, err := s.Execution(t.Context(), e.ExecutionID)
		must(t, err)
		if diff := unlike(created, read); diff != "" || string(read.Metadata) != "{}" || read.PositionBlob != nil {
			t.Errorf("metadata %q reads as %q (-created +read):\n%s", metadata, read.Metadata, diff)
		}
		if !query[bool](t, h, `SELECT metadata IS NULL FROM `+h.executions+` WHERE execution_id = $1`, e.ExecutionID) {
			t.Errorf("metadata %q is not stored as NULL", metadata)
		}
	}
}

func TestBlobsThatAreEmptyStayEmpty(t *testing.T) {
	h := newHost(t)
	for _, mode := range execModes {
		s := h.store(t, pgtest.ExecMode(mode))
		e := newExecution(newHash())
		e.IdentityBlob, e.PositionBlob = []byte{}, []byte{}
		must(t, second(s.CreateExecution(t.Context(), e)))
		read, err := s.Execution(t.Context(), e.ExecutionID)
		must(t, err)
		if read.IdentityBlob == nil || read.PositionBlob == nil {
			t.Errorf("%s: empty blobs read as %v and %v", mode, read.IdentityBlob, read.PositionBlob)
		}
	}
}

func TestLeadingColumnsLeftOutTakeTheirDefaultOrNull(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	e := newExecution(newHash())
	v := reflect.ValueOf(&e.Leading).Elem()
	for i, optional := range h.optional(t) {
		if optional {
			v.Field(i).SetZero()
		}
	}
	created, err := s.CreateExecution(t.Context(), e)
	must(t, err)
	read, err := s.Execution(t.Context(), e.ExecutionID)
	must(t, err)
	if diff := unlike(created, read); diff != "" {
		t.Errorf("execution read back (-created +read):\n%s", diff)
	}
	chart := newChart(e.ContentHash)
	chart.Leading = e.Leading
	must(t, s.SaveChart(t.Context(), chart))
	saved, err := s.Chart(t.Context(), e.ContentHash)
	must(t, err)
	if diff := unlike(read.Leading, saved.Leading); diff != "" {
		t.Errorf("the chart's defaults are not the execution's (-execution +chart):\n%s", diff)
	}
}

// What must be there is missed before a byte is sent, unless its type has no way of not being there.
func TestLeadingColumnsThatMustBeThereAreMissed(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	for i, optional := range h.optional(t) {
		e := newExecution(newHash())
		field := reflect.ValueOf(&e.Leading).Elem().Field(i)
		field.SetZero()
		err := second(s.CreateExecution(t.Context(), e))
		switch kind := field.Kind(); {
		case optional || kind != reflect.Struct && kind != reflect.Slice || field.Type() == reflect.TypeFor[time.Time]():
			must(t, err)
		default:
			if invalid := wantAs[*store.InvalidError](t, err); invalid.Reason != "is not set" {
				t.Errorf("refused for %s, want that it is not set", invalid.Reason)
			}
		}
	}
}
