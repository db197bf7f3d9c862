package faults

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// A server that waits for a standby before it tells of a commit has committed all the same: whoever loses it there must be
// told that nobody knows. It is the one place where a session can be ended behind its commit at leisure.
func TestASessionThatEndsBehindItsCommit(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *pgtest.Mortal, *waitingForStandby){
		"terminated": func(t *testing.T, m *pgtest.Mortal, w *waitingForStandby) {
			m.Exec(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
			pgtest.Await(t, "the sessions to end", func() bool { return w.waiting(t) == 0 })
		},
		"killed with the server": func(t *testing.T, m *pgtest.Mortal, _ *waitingForStandby) {
			m.Kill(t)
			m.Restart(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := pgtest.NewMortal(t, store.Schema)
			w := &waitingForStandby{lab: newLab(t, m.DB), pool: m.Pool(t)}
			m.Set(t, "synchronous_standby_names", "nobody")
			answers := w.commit(t)
			end(t, m, w)
			m.Set(t, "synchronous_standby_names", "")
			w.lab = newLab(t, m.DB)
			w.compare(t, answers)
		})
	}
}

// waitingForStandby is a server without the standby that it waits for.
type waitingForStandby struct {
	lab    *lab
	pool   *pgxpool.Pool // the sessions that end
	serial int
}

// commit calls each verb until the server, which learns of its setting in its own time, makes one wait.
func (w *waitingForStandby) commit(t *testing.T) map[*verb]interruption {
	t.Helper()
	answers := map[*verb]interruption{}
	for i, v := range []*verb{&create, &retire} {
		answers[v] = w.untilOneWaits(t, *v, i+1)
	}
	return answers
}

// interruption is a call that waits, and where its answer will come.
type interruption struct {
	call
	answer chan error
}

func (w *waitingForStandby) untilOneWaits(t *testing.T, v verb, waiting int) interruption {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		i := w.begin(t, v)
		pgtest.Await(t, v.name+" to answer or to wait for the standby", func() bool { return len(i.answer) > 0 || w.waiting(t) == waiting })
		if len(i.answer) == 0 {
			return i
		}
		if err := <-i.answer; err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("no %s waits for the standby", v.name)
	return interruption{}
}

func (w *waitingForStandby) begin(t *testing.T, v verb) interruption {
	t.Helper()
	w.serial++
	i := interruption{newCall(w.serial), make(chan error, 1)}
	if err := v.prepare(t.Context(), w.lab.store, i.call); err != nil {
		t.Fatal(err)
	}
	go func() { i.answer <- v.do(t.Context(), store.New(w.pool), i.call) }()
	return i
}

func (w *waitingForStandby) waiting(t *testing.T) (sessions int) {
	t.Helper()
	const sql = "SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = pg_catalog.current_database()"
	if err := w.lab.pool.QueryRow(t.Context(), sql).Scan(&sessions); err != nil {
		t.Fatal(err)
	}
	return sessions
}

func (w *waitingForStandby) compare(t *testing.T, answers map[*verb]interruption) {
	t.Helper()
	for v, i := range answers {
		err := <-i.answer
		is := class{tell(err), w.lab.there(t, *v, i.call)}
		if is != doneUnknown {
			t.Errorf("%s: %s, want %s: %v", v.name, is, doneUnknown, err)
			continue
		}
		w.lab.settle(t, *v, i.call, is)
	}
}
