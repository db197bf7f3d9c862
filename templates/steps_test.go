package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

func text(s string) *string { return &s }

func TestAStepIsStoredWithItsInput(t *testing.T) {
	h := newHost(t)
	for _, r := range h.txRoutes(t) {
		s := h.store(t, r.open)
		e := mustCreate(t, s, mustSave(t, s))
		in := newInput()
		made := store.Step{Status: store.Active, PositionBlob: []byte("two"), OutcomeBlob: []byte("so far"), Input: &in}
		var given store.Execution
		got, err := s.StepExecution(t.Context(), e.ExecutionID, func(_ context.Context, _ store.Storage, e store.Execution) (store.Step, error) {
			given = e
			return made, nil
		})
		must(t, err)
		if diff := unlike(e, given); diff != "" {
			t.Errorf("%s: was given (-created +given):\n%s", r.name, diff)
		}
		stored, err := s.Execution(t.Context(), e.ExecutionID)
		must(t, err)
		if diff := unlike(store.Transition{Execution: stored}, got); diff != "" {
			t.Errorf("%s: answered (-stored +answered):\n%s", r.name, diff)
		}
		want := e
		want.PositionBlob, want.OutcomeBlob, want.UpdatedAt = made.PositionBlob, made.OutcomeBlob, stored.UpdatedAt
		if diff := unlike(want, stored); diff != "" {
			t.Errorf("%s: (-want +stored):\n%s", r.name, diff)
		}
		log, err := s.Inputs(t.Context(), e.ExecutionID)
		must(t, err)
		if len(log) != 1 {
			t.Errorf("%s: the log has %d inputs", r.name, len(log))
		}
	}
}

// What is written once stays: the metadata, the outcome where a step has none, and when it ended.
func TestWhatAStepDoesNotSayStays(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	e := mustCreate(t, s, newHash())
	must(t, second(s.StepExecution(t.Context(), e.ExecutionID, stepTo(store.Step{Status: store.Active, KeepPosition: true, OutcomeBlob: []byte("first")}))))
	kept, err := s.Execution(t.Context(), e.ExecutionID)
	must(t, err)
	if string(kept.PositionBlob) != string(e.PositionBlob) {
		t.Errorf("the position is %q, want %q kept", kept.PositionBlob, e.PositionBlob)
	}
	h.Exec(t, "UPDATE "+h.executions+" SET ended_at = '2020-01-02' WHERE execution_id = $1", e.ExecutionID)
	ended, err := s.StepExecution(t.Context(), e.ExecutionID, stepTo(store.Step{Status: store.Failed, Failure: text("why")}))
	must(t, err)
	stored, err := s.Execution(t.Context(), e.ExecutionID)
	must(t, err)
	if diff := unlike(stored, ended.Execution); diff != "" {
		t.Errorf("(-stored +answered):\n%s", diff)
	}
	want := e
	first := time.Date(2020, 1, 2, 0, 0, 0, 0, time.UTC)
	want.Status, want.Failure, want.PositionBlob, want.OutcomeBlob, want.EndedAt, want.UpdatedAt = store.Failed, text("why"), nil, []byte("first"), &first, stored.UpdatedAt
	if diff := unlike(want, stored); diff != "" {
		t.Errorf("(-want +stored):\n%s", diff)
	}
}

func TestExecutionsThatTakeNoStep(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	called := func(context.Context, store.Storage, store.Execution) (store.Step, error) {
		t.Error("the step was called")
		return store.Step{}, nil
	}
	wantIs(t, second(s.StepExecution(t.Context(), "none", called)), store.ErrExecutionNotFound)
	ended := mustCreate(t, s, newHash())
	must(t, second(s.FailExecution(t.Context(), ended.ExecutionID, "why")))
	before, err := s.Execution(t.Context(), ended.ExecutionID)
	must(t, err)
	discarded, err := s.StepExecution(t.Context(), ended.ExecutionID, called)
	must(t, err)
	if diff := unlike(store.Transition{Execution: before, Discarded: true}, discarded); diff != "" {
		t.Errorf("one that has ended (-want +got):\n%s", diff)
	}
	parked := mustCreate(t, s, newHash())
	h.Exec(t, "UPDATE "+h.executions+" SET status = 'needs_migration', failure = 'no' WHERE execution_id = $1", parked.ExecutionID)
	refused := wantAs[*store.ParkedError](t, second(s.StepExecution(t.Context(), parked.ExecutionID, called)))
	if refused.Execution.Status != store.NeedsMigration || refused.Execution.ExecutionID != parked.ExecutionID {
		t.Errorf("refused with %+v", refused.Execution)
	}
}

func TestAStepMayDecline(t *testing.T) {
	s := newHost(t).store(t)
	e := mustCreate(t, s, newHash())
	got, err := s.StepExecution(t.Context(), e.ExecutionID, stepTo(store.Step{Discard: true}))
	must(t, err)
	if diff := unlike(store.Transition{Execution: e, Discarded: true}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStepsThatCannotBeStored(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	e := mustCreate(t, s, newHash())
	for field, made := range map[string]store.Step{
		"Status":       {Status: "done"},
		"Failure":      {Status: store.Failed, Failure: text("\x00")},
		"PositionBlob": {Status: store.Active, KeepPosition: true, PositionBlob: []byte{1}},
		"Discard":      {Discard: true, Status: store.Active},
		"Door":         {Status: store.Active, Input: &store.Input{InputBlob: []byte{1}}},
	} {
		invalid := wantAs[*store.InvalidError](t, second(s.StepExecution(t.Context(), e.ExecutionID, stepTo(made))))
		if invalid.Field != field {
			t.Errorf("%+v: refused for %s, want %s", made, invalid.Field, field)
		}
	}
	after, err := s.Execution(t.Context(), e.ExecutionID)
	must(t, err)
	if diff := unlike(e, after); diff != "" {
		t.Errorf("(-created +after):\n%s", diff)
	}
}

// On a pool nothing is left of a step that failed, and it holds neither lock nor connection.
func TestAStepThatFailsIsUndone(t *testing.T) {
	h := newHost(t)
	h.Exec(t, "CREATE TABLE public.host_rows (id int)")
	s := h.store(t, pgtest.MaxConns(1))
	e := mustCreate(t, s, newHash())
	broken := errors.New("broken")
	wrote := func(ctx context.Context, tx store.Storage) {
		inTx, ok := store.TxOf(tx)
		if !ok {
			t.Fatal("no transaction")
		}
		_, err := inTx.Exec(ctx, "INSERT INTO public.host_rows VALUES (1)")
		must(t, err)
		must(t, tx.SavePosition(ctx, newPosition(e.ContentHash)))
	}
	_, err := s.StepExecution(t.Context(), e.ExecutionID, func(ctx context.Context, tx store.Storage, _ store.Execution) (store.Step, error) {
		wrote(ctx, tx)
		return store.Step{}, broken
	})
	wantIs(t, err, broken)
	func() {
		defer func() {
			if recover() != "panic" {
				t.Error("the panic did not come through")
			}
		}()
		_, _ = s.StepExecution(t.Context(), e.ExecutionID, func(ctx context.Context, tx store.Storage, _ store.Execution) (store.Step, error) {
			wrote(ctx, tx)
			panic("panic")
		})
	}()
	wantIs(t, s.LockExecution(t.Context(), e.ExecutionID, func(ctx context.Context, tx store.Storage) error {
		wrote(ctx, tx)
		return broken
	}), broken)
	if n := query[int](t, h, "SELECT (SELECT count(*) FROM public.host_rows) + (SELECT count(*) FROM "+h.positions+")"); n != 0 {
		t.Errorf("%d rows were left", n)
	}
	must(t, second(s.StepExecution(t.Context(), e.ExecutionID, func(ctx context.Context, tx store.Storage, _ store.Execution) (store.Step, error) {
		wrote(ctx, tx)
		return store.Step{Status: store.Completed}, nil
	})))
	if n := query[int](t, h, "SELECT (SELECT count(*) FROM public.host_rows) + (SELECT count(*) FROM "+h.positions+")"); n != 2 {
		t.Errorf("%d rows were stored, want 2", n)
	}
}

// In a host's transaction the host decides what stays.
func TestInAHostsTransactionAStepThatFailsLeavesWhatItWrote(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	e := mustCreate(t, free, newHash())
	s, tx := h.begin(t, "")
	broken := errors.New("broken")
	p := newPosition(e.ContentHash)
	_, err := s.StepExecution(t.Context(), e.ExecutionID, func(ctx context.Context, tx store.Storage, _ store.Execution) (store.Step, error) {
		must(t, tx.SavePosition(ctx, p))
		return store.Step{}, broken
	})
	wantIs(t, err, broken)
	must(t, tx.Commit(t.Context()))
	must(t, second(free.Position(t.Context(), p.SessionID)))
}

// Two steps load one state, and the second writes over what the first made:
// https://github.com/dsx-ai-factory/infra-controller/issues/6111.
func TestC04ConcurrentStepsComeOneBehindTheOther(t *testing.T) {
	h := newHost(t)
	s := h.store(t, pgtest.MaxConns(4))
	e := mustCreate(t, s, newHash())
	const steps = 20
	failed := make(chan error, steps)
	for range steps {
		go func() {
			_, err := s.StepExecution(context.WithoutCancel(t.Context()), e.ExecutionID, func(_ context.Context, _ store.Storage, e store.Execution) (store.Step, error) {
				in := newInput()
				return store.Step{Status: store.Active, PositionBlob: append(e.PositionBlob, 'x'), Input: &in}, nil
			})
			failed <- err
		}()
	}
	for range steps {
		must(t, <-failed)
	}
	after, err := s.Execution(t.Context(), e.ExecutionID)
	must(t, err)
	log, err := s.Inputs(t.Context(), e.ExecutionID)
	must(t, err)
	if got := len(after.PositionBlob) - len(e.PositionBlob); got != steps || len(log) != steps {
		t.Errorf("%d steps are in the position and %d in the log, want %d", got, len(log), steps)
	}
}

// At the higher levels two host transactions that read one state are told apart by the server.
func TestC04AStepFromAnOldSnapshotFails(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	e := mustCreate(t, free, newHash())
	s, tx := h.begin(t, "repeatable read")
	must(t, second(s.Execution(t.Context(), e.ExecutionID)))
	must(t, second(free.StepExecution(t.Context(), e.ExecutionID, stepTo(store.Step{Status: store.Active, PositionBlob: []byte("theirs")}))))
	_, err := s.StepExecution(t.Context(), e.ExecutionID, stepTo(store.Step{Status: store.Active, PositionBlob: []byte("ours")}))
	if sqlState(err) != "40001" || !store.Retryable(err) {
		t.Errorf("got %v, want 40001", err)
	}
	must(t, tx.Rollback(t.Context()))
}

func TestAFullLogStopsNoStep(t *testing.T) {
	h := newHost(t)
	s := store.New(h.Pool(t), store.WithInputLogCap(2))
	e := mustCreate(t, s, newHash())
	for range 3 {
		in := newInput()
		must(t, second(s.StepExecution(t.Context(), e.ExecutionID, stepTo(store.Step{Status: store.Active, Input: &in}))))
	}
	log, err := s.Inputs(t.Context(), e.ExecutionID)
	must(t, err)
	if len(log) != 2 || log[1].InputBlob != nil {
		t.Errorf("the log is %+v, want one input and the marker", log)
	}
}

func TestAnExecutionIsRefusedToVerbsInsideItsOwnStep(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	e, other := mustCreate(t, s, newHash()), mustCreate(t, s, newHash())
	verbs := func(ctx context.Context, s store.Storage) map[string]error {
		again := newExecution(e.ContentHash)
		again.ExecutionID = e.ExecutionID
		return map[string]error{
			"create":    second(s.CreateExecution(ctx, again)),
			"create by": second(createBy(ctx, s, again)),
			"step":      second(s.StepExecution(ctx, e.ExecutionID, stepTo(store.Step{Status: store.Active}))),
			"fail":      second(s.FailExecution(ctx, e.ExecutionID, "why")),
			"cancel":    second(s.CancelExecution(ctx, e.ExecutionID)),
			"unpark":    second(s.UnparkExecution(ctx, e.ExecutionID)),
			"append":    second(s.AppendInput(ctx, e.ExecutionID, newInput())),
			"lock":      s.LockExecution(ctx, e.ExecutionID, func(context.Context, store.Storage) error { return nil }),
		}
	}
	must(t, second(s.StepExecution(t.Context(), e.ExecutionID, func(ctx context.Context, tx store.Storage, _ store.Execution) (store.Step, error) {
		for where, s := range map[string]store.Storage{"tx": tx, "pool": s} {
			for what, err := range verbs(ctx, s) {
				var refused *store.ReentrantError
				if !errors.As(err, &refused) || refused.ExecutionID != e.ExecutionID {
					t.Errorf("%s on %s: %v, want it refused", what, where, err)
				}
			}
		}
		// Another execution is another matter, through tx, with its own step inside.
		_, err := tx.StepExecution(ctx, other.ExecutionID, func(ctx context.Context, tx store.Storage, _ store.Execution) (store.Step, error) {
			wantAs[*store.ReentrantError](t, second(tx.CancelExecution(ctx, e.ExecutionID)))
			return store.Step{Status: store.Completed}, nil
		})
		return store.Step{Status: store.Completed}, err
	})))
	// What has it locked and writes nothing of its own lets verbs by that go through tx.
	locked := mustCreate(t, s, newHash())
	must(t, s.LockExecution(t.Context(), locked.ExecutionID, func(ctx context.Context, tx store.Storage) error {
		wantAs[*store.ReentrantError](t, second(s.CancelExecution(ctx, locked.ExecutionID)))
		return second(tx.CancelExecution(ctx, locked.ExecutionID))
	}))
}

// Every connection is with a step that asks for another one: with a bound each gives up, and says so.
func TestStepsThatAskThePoolAreBounded(t *testing.T) {
	h := newHost(t)
	pool := h.Pool(t, pgtest.MaxConns(1))
	s := store.New(pool, store.WithLockTimeout(50*time.Millisecond))
	e, other := mustCreate(t, s, newHash()), mustCreate(t, s, newHash())
	_, err := s.StepExecution(t.Context(), e.ExecutionID, func(ctx context.Context, _ store.Storage, _ store.Execution) (store.Step, error) {
		_, err := s.CancelExecution(ctx, other.ExecutionID)
		return store.Step{Status: store.Active}, err
	})
	timeout := wantAs[*store.LockTimeoutError](t, err)
	if timeout.Timeout != 50*time.Millisecond || !store.Retryable(err) || errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("got %v", err)
	}
}

func TestALockedExecutionIsEverybodyElsesToWaitFor(t *testing.T) {
	h := newHost(t)
	s := h.store(t, pgtest.MaxConns(2))
	e := mustCreate(t, s, newHash())
	for _, id := range []string{e.ExecutionID, "not there"} {
		cancelled := make(chan error, 1)
		must(t, s.LockExecution(t.Context(), id, func(context.Context, store.Storage) error {
			before := h.AdvisoryLocks(t)
			go func() { cancelled <- second(s.CancelExecution(context.WithoutCancel(t.Context()), id)) }()
			pgtest.Await(t, "the cancel to wait", func() bool { return h.AdvisoryLocks(t) > before })
			return nil
		}))
		if err := <-cancelled; err != nil && !errors.Is(err, store.ErrExecutionNotFound) {
			t.Error(err)
		}
	}
}

func TestUnpark(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	wantIs(t, second(s.UnparkExecution(t.Context(), "none")), store.ErrExecutionNotFound)
	e := mustCreate(t, s, newHash())
	active, err := s.UnparkExecution(t.Context(), e.ExecutionID)
	must(t, err)
	if diff := unlike(store.Transition{Execution: e}, active); diff != "" {
		t.Errorf("an active one (-want +got):\n%s", diff)
	}
	h.Exec(t, "UPDATE "+h.executions+" SET status = 'needs_migration', failure = 'no' WHERE execution_id = $1", e.ExecutionID)
	unparked, err := s.UnparkExecution(t.Context(), e.ExecutionID)
	must(t, err)
	stored, err := s.Execution(t.Context(), e.ExecutionID)
	must(t, err)
	want := e
	want.UpdatedAt = stored.UpdatedAt
	if diff := unlike(want, stored) + unlike(store.Transition{Execution: stored}, unparked); diff != "" || !stored.UpdatedAt.After(e.UpdatedAt) {
		t.Errorf("a parked one: %s\n%s", stored.UpdatedAt, diff)
	}
	must(t, second(s.FailExecution(t.Context(), e.ExecutionID, "why")))
	ended, err := s.UnparkExecution(t.Context(), e.ExecutionID)
	must(t, err)
	if !ended.Discarded || ended.Execution.Status != store.Failed || *ended.Execution.Failure != "why" {
		t.Errorf("one that has ended: %+v", ended)
	}
}

// countingSerializer lets one body at a time through, and keeps count.
type countingSerializer struct {
	turn  chan struct{}
	calls []string
	fail  error
}

func (c *countingSerializer) Serialize(ctx context.Context, id string, body func(context.Context) error) error {
	if c.fail != nil {
		return c.fail
	}
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	c.calls = append(c.calls, id)
	return body(ctx)
}

func TestAHostsSerializerStandsForTheExecutionsLock(t *testing.T) {
	h := newHost(t)
	var wire pgtest.Wire
	own := &countingSerializer{turn: make(chan struct{}, 1)}
	s := store.New(h.Pool(t, pgtest.Record(&wire)), store.WithSerializer(own))
	e := mustCreate(t, s, newHash())
	wire.Reset()
	must(t, second(s.StepExecution(t.Context(), e.ExecutionID, stepTo(store.Step{Status: store.Active}))))
	must(t, second(s.CancelExecution(t.Context(), e.ExecutionID)))
	child := newExecution(newHash())
	must(t, second(createBy(t.Context(), s, child)))
	if want := fmt.Sprint([]string{e.ExecutionID, e.ExecutionID, child.ExecutionID}); fmt.Sprint(own.calls) != want {
		t.Errorf("serialized %v, want %s", own.calls, want)
	}
	shared := false
	for _, sent := range wire.Statements() {
		if lockOf(sent.SQL) == "execution" {
			t.Errorf("took the lock in %s", statementName(sent))
		}
		shared = shared || lockOf(sent.SQL) == "shared"
	}
	if !shared {
		t.Error("the create took no chart lock")
	}
	own.fail = errors.New("no lease")
	wantIs(t, second(s.CancelExecution(t.Context(), e.ExecutionID)), own.fail)
}

func TestTxOfIsTheTransactionOfABoundStore(t *testing.T) {
	h := newHost(t)
	if tx, ok := store.TxOf(h.store(t)); ok || tx != nil {
		t.Errorf("on a pool it is %v", tx)
	}
	s, tx := h.begin(t, "")
	if got, ok := store.TxOf(s); !ok || got != pgx.Tx(tx) {
		t.Errorf("in a transaction it is %v, want %v", got, tx)
	}
}
