package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// The server reports a deferred constraint behind all results, in the simple protocol before them.
func TestAnErrorAtCommitIsReported(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	h.Exec(t, `CREATE TABLE public.approved (id text PRIMARY KEY);
		ALTER TABLE `+h.executions+` ADD CONSTRAINT approved FOREIGN KEY (execution_id) REFERENCES public.approved DEFERRABLE INITIALLY DEFERRED;
		CREATE TABLE public.lucky (id text PRIMARY KEY);
		ALTER TABLE `+h.charts+` ADD CONSTRAINT lucky FOREIGN KEY (retired_by) REFERENCES public.lucky DEFERRABLE INITIALLY DEFERRED`)
	for _, r := range h.routes(t) {
		s := h.store(t, r.open)
		e := newExecution(mustSave(t, free))
		_, createErr := s.CreateExecution(t.Context(), e)
		_, retireErr := s.RetireChart(t.Context(), e.ContentHash, by("ops"))
		for what, err := range map[string]error{"create": createErr, "retire": retireErr} {
			if sqlState(err) != "23503" || errors.Is(err, store.ErrOutcomeUnknown) {
				t.Errorf("%s: %s: %v, want the constraint's own 23503", r.name, what, err)
			}
		}
		wantIs(t, second(free.Execution(t.Context(), e.ExecutionID)), store.ErrExecutionNotFound)
		must(t, second(free.Chart(t.Context(), e.ContentHash)))
	}
}

// cancelWaiting calls verb while a retirement in progress has its chart locked, and cancels it there.
func cancelWaiting(t *testing.T, h *host, hash string, verb func(ctx context.Context, s *store.Store) error) error {
	t.Helper()
	holder, holderTx := h.begin(t, "")
	wantAs[*store.PinnedError](t, second(holder.RetireChart(t.Context(), hash, by("ops"))))
	pool := h.Pool(t, pgtest.MaxConns(1))
	conn, err := pool.Acquire(t.Context())
	must(t, err)
	backend := conn.Conn().PgConn().PID()
	conn.Release()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answered := make(chan error, 1)
	go func() { answered <- verb(ctx, store.New(pool)) }()
	h.AwaitBlocked(t, backend)
	must(t, holderTx.Rollback(t.Context())) // the statement may now be carried out, or the cancellation win
	cancel()
	return <-answered
}

func TestCancelledWhileWaitingIsAnUnknownOutcomeUnlessItAnswered(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	hash := mustPinned(t, free)
	unknown := 0
	for range 40 {
		e := newExecution(hash)
		err := cancelWaiting(t, h, hash, func(ctx context.Context, s *store.Store) error { return second(s.CreateExecution(ctx, e)) })
		if err == nil {
			continue // the answer was faster
		}
		wantIs(t, err, store.ErrOutcomeUnknown)
		wantIs(t, err, context.Canceled)
		unknown++
	}
	if unknown == 0 {
		t.Error("no call was cancelled in time; the test shows nothing")
	}
}

// A retry under the same row id tells a create that was carried out from somebody else's.
func TestARetryFindsItsOwnRow(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	hash := mustSave(t, free)
	e := newExecution(hash)
	if !setRowID(&e) {
		// With bigserial ids the execution id itself is all there is.
		must(t, second(free.CreateExecution(t.Context(), e)))
		wantAs[*store.ExecutionExistsError](t, second(free.CreateExecution(t.Context(), e)))
		return
	}
	created, err := free.CreateExecution(t.Context(), e)
	must(t, err)
	if created.RowID != e.RowID {
		t.Errorf("created as row %v, want %v", created.RowID, e.RowID)
	}
	retry := wantAs[*store.ExecutionExistsError](t, second(free.CreateExecution(t.Context(), e)))
	if retry.RowID != e.RowID {
		t.Errorf("the retry found row %v, want its own %v", retry.RowID, e.RowID)
	}
	elsewhere := e
	setRowID(&elsewhere)
	other := wantAs[*store.ExecutionExistsError](t, second(free.CreateExecution(t.Context(), elsewhere)))
	if other.RowID == elsewhere.RowID || other.RowID != e.RowID {
		t.Errorf("from elsewhere found row %v, want %v", other.RowID, e.RowID)
	}
}

func TestAnUnknownOutcomeIsSettledByARetry(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	hash := mustPinned(t, free)
	for range 20 {
		e := newExecution(hash)
		setRowID(&e)
		err := cancelWaiting(t, h, hash, func(ctx context.Context, s *store.Store) error { return second(s.CreateExecution(ctx, e)) })
		// The server may still be at work; a retry waits behind it, or comes first.
		retried, retryErr := free.CreateExecution(t.Context(), e)
		var exists *store.ExecutionExistsError
		switch {
		case errors.As(retryErr, &exists):
			if e.RowID != (store.NewExecution{}).RowID && exists.RowID != e.RowID {
				t.Errorf("after %v the retry found row %v, want its own %v", err, exists.RowID, e.RowID)
			}
		case retryErr != nil:
			t.Errorf("after %v the retry failed: %v", err, retryErr)
		case e.RowID != (store.NewExecution{}).RowID && retried.RowID != e.RowID:
			t.Errorf("after %v the retry created row %v, want %v", err, retried.RowID, e.RowID)
		}
		must(t, second(free.Execution(t.Context(), e.ExecutionID)))
	}
}

func TestAPoolThatHasNoConnectionLeavesNoDoubt(t *testing.T) {
	h := newHost(t)
	pool := h.Pool(t, pgtest.MaxConns(1))
	conn, err := pool.Acquire(t.Context())
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err = store.New(pool).SaveChart(ctx, newChart(newHash()))
	conn.Release()
	wantIs(t, err, context.DeadlineExceeded)
	if errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("%v: nothing was sent, so the outcome is known", err)
	}
}

func TestEveryVerbThatWritesMayHaveAnUnknownOutcome(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	hash := mustSave(t, free)
	execution := mustCreate(t, free, newHash())
	holder, holderTx := h.begin(t, "")
	must(t, second(holder.CancelExecution(t.Context(), execution.ExecutionID)))
	must(t, second2(holder.Retirement(t.Context(), hash)))
	for what, verb := range map[string]func(ctx context.Context) error{
		"retire": func(ctx context.Context) error { return second(free.RetireChart(ctx, hash, by("ops"))) },
		"cancel": func(ctx context.Context) error { return second(free.CancelExecution(ctx, execution.ExecutionID)) },
		"fail":   func(ctx context.Context) error { return second(free.FailExecution(ctx, execution.ExecutionID, "why")) },
	} {
		if err := h.cancelledWhileItWaits(t, what, verb); !errors.Is(err, store.ErrOutcomeUnknown) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want an unknown outcome after a cancellation", what, err)
		}
	}
	// A read that waits has no outcome to wonder about.
	reader, readerTx := h.begin(t, "")
	must(t, holderTx.Rollback(t.Context()))
	must(t, second(reader.RetireChart(t.Context(), hash, by("ops"))))
	read := func(ctx context.Context) error { return second2(free.Retirement(ctx, hash)) }
	if err := h.cancelledWhileItWaits(t, "read", read); err == nil || errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("read: %v, want an error that leaves no doubt", err)
	}
	must(t, readerTx.Rollback(t.Context()))
}

// cancelledWhileItWaits cancels a verb as soon as it waits for a lock, and returns what it says when the server has let it
// go: until then it could still have the lock, and act.
func (h *host) cancelledWhileItWaits(t *testing.T, what string, verb func(context.Context) error) error {
	t.Helper()
	before := h.AdvisoryLocks(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answered := make(chan error, 1)
	go func() { answered <- verb(ctx) }()
	pgtest.Await(t, what+" to wait", func() bool { return h.AdvisoryLocks(t) > before })
	cancel()
	err := <-answered
	pgtest.Await(t, what+" to be gone from the server", func() bool { return h.AdvisoryLocks(t) == before })
	return err
}

// A context that ends with the lock timeout's answer does not cost the host its transaction.
func TestAContextThatEndsWithTheAnswerLeavesTheTransactionUsable(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	hash := mustSave(t, free)
	reader, readerTx := h.begin(t, "")
	must(t, second2(reader.Retirement(t.Context(), hash)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	conn := h.Conn(t, func(cfg *pgxpool.Config) { cfg.ConnConfig.Tracer = cancelOnError{cancel} })
	tx, err := conn.Begin(t.Context())
	must(t, err)
	opts := store.RetireOptions{By: "ops", LockTimeout: 20 * time.Millisecond}
	wantAs[*store.LockTimeoutError](t, second(store.New(nil).WithTx(tx).RetireChart(ctx, hash, opts)))
	wantIs(t, ctx.Err(), context.Canceled)
	usable(t, tx)
	must(t, tx.Rollback(t.Context()))
	must(t, readerTx.Rollback(t.Context()))
}

// cancelOnError is a tracer that ends the call's context when a batch that failed has been read to its end. Earlier, pgx
// would close the connection, and nothing could be saved.
type cancelOnError struct{ cancel context.CancelFunc }

func (c cancelOnError) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (c cancelOnError) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (c cancelOnError) TraceBatchEnd(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	if data.Err != nil {
		c.cancel()
	}
}

func (c cancelOnError) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (c cancelOnError) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func TestAKilledBackendIsAnUnknownOutcome(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	hash := mustPinned(t, free)
	holder, holderTx := h.begin(t, "")
	wantAs[*store.PinnedError](t, second(holder.RetireChart(t.Context(), hash, by("ops"))))
	pool := h.Pool(t, pgtest.MaxConns(1))
	conn, err := pool.Acquire(t.Context())
	must(t, err)
	backend := conn.Conn().PgConn().PID()
	conn.Release()
	answered := make(chan error, 1)
	go func() { answered <- store.New(pool).SaveChart(t.Context(), newChart(hash)) }()
	h.AwaitBlocked(t, backend)
	h.Exec(t, "SELECT pg_terminate_backend($1)", backend)
	wantIs(t, <-answered, store.ErrOutcomeUnknown)
	must(t, holderTx.Rollback(t.Context()))
}

func TestInAHostsTransactionTheOutcomeIsTheTransactions(t *testing.T) {
	h := newHost(t)
	s, tx := h.begin(t, "")
	h.Exec(t, "SELECT pg_terminate_backend($1)", pid(tx))
	err := s.SaveChart(t.Context(), newChart(newHash()))
	if err == nil || errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("got %v, want an error that leaves no doubt", err)
	}
}

func TestAClosedTransactionAnswersAnError(t *testing.T) {
	h := newHost(t)
	s, tx := h.begin(t, "")
	must(t, tx.Rollback(t.Context()))
	wantIs(t, s.SaveChart(t.Context(), newChart(newHash())), pgx.ErrTxClosed)
	wantIs(t, second(s.RetireChart(t.Context(), newHash(), by("ops"))), pgx.ErrTxClosed)
}
