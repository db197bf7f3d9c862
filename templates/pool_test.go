package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

func setting(t *testing.T, pool *pgxpool.Pool, name string) string {
	t.Helper()
	var value string
	must(t, pool.QueryRow(t.Context(), "SELECT current_setting($1)", name).Scan(&value))
	return value
}

// What a verb sets for itself ends with it: the next user of the connection finds it as it was.
func TestNothingASessionKeepsIsChanged(t *testing.T) {
	h := newHost(t)
	for _, r := range h.routes(t) {
		pool := h.Pool(t, pgtest.MaxConns(1), r.open)
		s := store.New(pool, store.WithLockTimeout(time.Second))
		hash := mustPinned(t, s)
		wantAs[*store.PinnedError](t, second(s.RetireChart(t.Context(), hash, by("ops"))))
		must(t, second2(s.Retirement(t.Context(), hash)))
		for name, want := range map[string]string{"lock_timeout": "0", "plan_cache_mode": "auto"} {
			if got := setting(t, pool, name); got != want {
				t.Errorf("%s: %s is now %q, want %q", r.name, name, got, want)
			}
		}
		if n := h.AdvisoryLocks(t); n != 0 {
			t.Errorf("%s: %d advisory locks are left", r.name, n)
		}
	}
}

// The second try of a pool whose sessions default to another level is a transaction of its own, with a commit of its
// own that can fail, and the same bound for its waits.
func TestTheSecondTryOnAPoolIsAsGoodAsTheFirst(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	h.Exec(t, `CREATE TABLE public.approved (id text PRIMARY KEY);
		ALTER TABLE `+h.executions+` ADD CONSTRAINT approved FOREIGN KEY (execution_id) REFERENCES public.approved DEFERRABLE INITIALLY DEFERRED`)
	hash := mustSave(t, free)
	for _, level := range levels[1:] {
		pool := h.Pool(t, pgtest.MaxConns(1), pgtest.Isolation(level))
		s := store.New(pool, store.WithLockTimeout(20*time.Millisecond))
		if err := second(s.CreateExecution(t.Context(), newExecution(hash))); sqlState(err) != "23503" || errors.Is(err, store.ErrOutcomeUnknown) {
			t.Errorf("%s: create: %v, want the deferred constraint's 23503", level, err)
		}
		holder, holderTx := h.begin(t, "")
		must(t, second(holder.RetireChart(t.Context(), hash, by("ops"))))
		wantAs[*store.LockTimeoutError](t, second(s.CreateExecution(t.Context(), newExecution(hash))))
		must(t, holderTx.Rollback(t.Context()))
	}
}

// A role that may insert and select needs no row lock on a pool, whatever its sessions default to.
func TestAPoolAtAHigherLevelNeedsNoMorePrivileges(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	role := h.role(t, "SELECT ON charts", "SELECT, INSERT ON executions")
	for _, level := range levels[1:] {
		s := h.store(t, pgtest.As(role), pgtest.Isolation(level))
		hash := mustSave(t, free)
		mustCreate(t, s, hash)
		must(t, second2(s.Retirement(t.Context(), hash)))
	}
}

// Every statement of a second try comes behind its lock too, in the same round trip.
func TestTheLockRuleHoldsOnPoolsOfEveryLevel(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	for _, level := range levels[1:] {
		var wire pgtest.Wire
		pool := h.Pool(t, pgtest.Record(&wire), pgtest.MaxConns(1), pgtest.Isolation(level))
		for name, m := range methods() {
			for how, c := range m.calls {
				t.Run(level+" "+name+" "+how, func(t *testing.T) {
					f := newFixture(t, free)
					f.s = store.New(pool)
					wire.Reset()
					_ = c.do(t.Context(), f)
					if sent := wire.Statements(); m.class != reads {
						checkLockRule(t, h, m.class, sent)
					}
				})
			}
		}
	}
}

// An execution that a plain writer ends while a cancellation waits for its row is discarded, not ended twice.
func TestACancellationSeesWhatAPlainWriterLeft(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	e := mustCreate(t, free, newHash())
	writer, err := h.Conn(t).Begin(t.Context())
	must(t, err)
	_, err = writer.Exec(t.Context(), `UPDATE `+h.executions+` SET status = 'completed' WHERE execution_id = $1`, e.ExecutionID)
	must(t, err)
	s, tx := h.begin(t, "")
	type answer struct {
		store.Transition
		err error
	}
	answered := make(chan answer, 1)
	go func() {
		ended, err := s.CancelExecution(t.Context(), e.ExecutionID)
		answered <- answer{ended, err}
	}()
	h.AwaitBlocked(t, pid(tx))
	must(t, writer.Commit(t.Context()))
	a := <-answered
	must(t, a.err)
	if !a.Discarded || a.Execution.Status != store.Completed {
		t.Errorf("cancelled: %+v, want it discarded as completed", a.Transition)
	}
	must(t, tx.Commit(t.Context()))
}

// ON CONFLICT is for our own indexes: a host's constraint comes back as itself.
func TestAHostsOwnConstraintComesBackAsItself(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	hash := mustSave(t, s)
	h.Exec(t, `CREATE UNIQUE INDEX ours ON `+h.executions+` (metadata); CREATE UNIQUE INDEX theirs ON `+h.charts+` (chart_blob)`)
	mustCreate(t, s, hash)
	e := newExecution(hash)
	for _, err := range []error{second(s.CreateExecution(t.Context(), e)), s.SaveChart(t.Context(), newChart(newHash()))} {
		if sqlState(err) != "23505" || store.Retryable(err) || errors.Is(err, store.ErrOutcomeUnknown) {
			t.Errorf("got %v, want the host's 23505", err)
		}
	}
	if setRowID(&e) {
		if err := second(s.CreateExecution(t.Context(), e)); sqlState(err) != "23505" {
			t.Errorf("with a row id got %v, want the host's 23505", err)
		}
	}
}

// Two tries of one create that arrive together: one writes the row, and every other finds its own row id in the error.
func TestOverlappingTriesOfOneCreateFindTheirRow(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	hash := mustSave(t, s)
	for range 100 {
		e := newExecution(hash)
		settable := setRowID(&e)
		answers := make(chan error, 4)
		for range cap(answers) {
			go func() { answers <- second(s.CreateExecution(t.Context(), e)) }()
		}
		created := 0
		for range cap(answers) {
			err := <-answers
			if err == nil {
				created++
				continue
			}
			if exists := wantAs[*store.ExecutionExistsError](t, err); settable && exists.RowID != e.RowID {
				t.Errorf("found row %v, want %v", exists.RowID, e.RowID)
			}
		}
		if created != 1 {
			t.Errorf("%d of 4 tries created it, want 1", created)
		}
	}
}

// The caller's own row is what a retry asks for, whatever has become of the execution and its chart since.
func TestARetryFindsItsRowOnAChartThatIsRetiredByNow(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	e := newExecution(mustSave(t, s))
	settable := setRowID(&e)
	must(t, second(s.CreateExecution(t.Context(), e)))
	must(t, second(s.CancelExecution(t.Context(), e.ExecutionID)))
	mustRetire(t, s, e.ContentHash)
	err := second(s.CreateExecution(t.Context(), e))
	if !settable {
		wantAs[*store.ChartRetiredError](t, err)
		return
	}
	if exists := wantAs[*store.ExecutionExistsError](t, err); exists.RowID != e.RowID {
		t.Errorf("found row %v, want %v", exists.RowID, e.RowID)
	}
}

// A trigger that keeps a row from being written is not taken for success.
func TestATriggerThatDropsARowIsNoSuccess(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	e := mustCreate(t, s, newHash())
	h.Exec(t, `CREATE FUNCTION public.drop_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
		CREATE TRIGGER dropped BEFORE INSERT ON `+h.charts+` FOR EACH ROW EXECUTE FUNCTION public.drop_row();
		CREATE TRIGGER dropped BEFORE INSERT OR UPDATE ON `+h.executions+` FOR EACH ROW EXECUTE FUNCTION public.drop_row()`)
	for what, err := range map[string]error{
		"save":   s.SaveChart(t.Context(), newChart(newHash())),
		"create": second(s.CreateExecution(t.Context(), newExecution(newHash()))),
		"cancel": second(s.CancelExecution(t.Context(), e.ExecutionID)),
	} {
		if err == nil || !store.Retryable(err) {
			t.Errorf("%s: %v, want a refusal without a reason", what, err)
		}
	}
}

// A reason that is gone when it is read is not made up: the call is tried again.
func TestARefusalWhoseReasonIsGoneIsTriedAgain(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	for range 50 {
		e := newExecution(newHash())
		must(t, second(free.CreateExecution(t.Context(), e)))
		answered := make(chan error, 1)
		go func() { answered <- second(free.CreateExecution(t.Context(), e)) }()
		h.deleteExecution(t, e.ExecutionID)
		var exists *store.ExecutionExistsError
		if err := <-answered; err != nil && !errors.As(err, &exists) {
			t.Errorf("got %v, want success or *ExecutionExistsError", err)
		}
	}
}

func (h *host) deleteExecution(t *testing.T, id string) {
	t.Helper()
	conn := h.Conn(t)
	_, err := conn.Exec(t.Context(), `DELETE FROM `+h.executions+` WHERE execution_id = $1`, pgx.QueryExecModeExec, id)
	must(t, err)
	must(t, conn.Close(t.Context()))
}
