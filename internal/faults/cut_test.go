package faults

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// way is how a verb comes to the server.
type way struct {
	name  string
	mode  pgx.QueryExecMode
	level string // at which a pool's sessions begin: read committed if empty
	cold  bool   // the connection has not seen the statements yet
	host  bool   // in a host's transaction, whose commit is part of the conversation
	step  int    // an ordinary run cuts after every so many bytes
}

var (
	onPool   = way{name: "pool", mode: pgx.QueryExecModeCacheStatement, step: 1}
	inHostTx = way{name: "host", mode: pgx.QueryExecModeCacheStatement, host: true, step: 1}
	cold     = way{name: "pool, statements not prepared", mode: pgx.QueryExecModeCacheStatement, cold: true, step: 101}
	simple   = way{name: "pool, simple protocol", mode: pgx.QueryExecModeSimpleProtocol, step: 101}
	higher   = way{name: "pool, repeatable read", mode: pgx.QueryExecModeCacheStatement, level: "repeatable read", step: 101}
)

// What must have been met when a conversation was cut everywhere: a cut that can never be noticed proves nothing.
var (
	known       = class{failed, false}
	doneUnknown = class{unknown, true}
	lostUnknown = class{unknown, false}
	toldDone    = class{done, true}
)

// Nothing that reaches the server before the last byte does anything, and with the last everything is done. Only a client
// whose first byte never went out knows.
func TestACutOnTheWayToTheServer(t *testing.T) {
	cutEverywhere(t, toServer, []way{onPool, inHostTx, cold, simple, higher}, known, lostUnknown, doneUnknown)
}

// The server has committed when it answers, so every cut in the answer to a batch leaves a doubt, up to its last byte.
func TestACutOnTheWayToTheClient(t *testing.T) {
	cutEverywhere(t, toClient, []way{onPool, simple}, doneUnknown, toldDone)
}

// Of several round trips the last one decides.
func TestACutOnTheWayToTheClientBeforeTheLastTrip(t *testing.T) {
	cutEverywhere(t, toClient, []way{cold, higher}, doneUnknown, toldDone)
}

// In a host's transaction the outcome is the transaction's: whoever is told an error by a verb has nothing done.
func TestACutInAHostsTransactionOnTheWayToTheClient(t *testing.T) {
	cutEverywhere(t, toClient, []way{inHostTx}, known, doneUnknown, toldDone)
}

func cutEverywhere(t *testing.T, d direction, ways []way, want ...class) {
	t.Parallel()
	for _, w := range ways {
		for _, v := range []verb{create, retire} {
			t.Run(w.name+", "+v.name, func(t *testing.T) {
				t.Parallel()
				newShears(t, w, v).everywhere(t, d, want)
			})
		}
	}
}

// shears cut one verb in one way.
type shears struct {
	*lab
	way    way
	verb   verb
	config *pgxpool.Config
	serial int
	met    map[class]int
}

func newShears(t *testing.T, w way, v verb) *shears {
	t.Helper()
	db := pgtest.New(t, store.Schema)
	opts := []pgtest.Option{pgtest.ExecMode(w.mode), pgtest.MaxConns(2)}
	if w.level != "" {
		opts = append(opts, pgtest.Isolation(w.level))
	}
	return &shears{lab: newLab(t, db), way: w, verb: v, config: db.Config(t, opts...), met: map[class]int{}}
}

// everywhere cuts after each number of bytes that the conversation has, and looks for the classes that must be met.
func (s *shears) everywhere(t *testing.T, d direction, want []class) {
	t.Helper()
	measured := &blade{direction: d}
	s.cut(t, measured, math.MaxInt)
	clear(s.met)
	total := measured.passed[d]
	// An answer in text may be longer than the one that was measured: the last one must come whole.
	for n, more := 0, true; more && !t.Failed(); n += s.stride(total - n) {
		b := &blade{direction: d, reset: n%2 == 0}
		s.cut(t, b, n)
		if *all {
			s.cut(t, &blade{direction: d, reset: !b.reset}, n)
		}
		more = n < total || d == toClient && b.cut
	}
	t.Logf("cut in %d bytes %v: %v", total, d, s.met)
	for _, c := range want {
		if s.met[c] == 0 {
			t.Errorf("no cut was %s", c)
		}
	}
}

// stride is to where the next cut is. The last bytes, where things are decided, are cut each.
func (s *shears) stride(left int) int {
	const decisive = 32
	if *all || left <= decisive {
		return 1
	}
	return min(s.way.step, left-decisive)
}

// cut makes one call, cuts its connection after n bytes, and compares.
func (s *shears) cut(t *testing.T, b *blade, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	config := s.config.Copy()
	b.option(config)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	backend := s.warm(ctx, t, pool)
	c := s.next(ctx, t)
	got, err := s.call(ctx, t, pool, c, func() { b.arm(n) })
	b.disarm()
	pool.Close()
	s.awaitGone(t, backend)
	s.compare(t, c, got, fmt.Sprintf("cut after %d bytes %v: %v", n, b.direction, err))
}

// next is a call that can be carried out.
func (s *shears) next(ctx context.Context, t *testing.T) call {
	t.Helper()
	s.serial++
	c := newCall(s.serial)
	if err := s.verb.prepare(ctx, s.store, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// warm opens the pool's connection and, unless it is to be cold, lets it see the statements.
func (s *shears) warm(ctx context.Context, t *testing.T, pool *pgxpool.Pool) (backend uint32) {
	t.Helper()
	if !s.way.cold {
		got, err := s.call(ctx, t, pool, s.next(ctx, t), func() {})
		if got != done {
			t.Fatal(err)
		}
	}
	conn, err := pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	return conn.Conn().PgConn().PID()
}

// call calls the verb, which begins when the blade is armed.
func (s *shears) call(ctx context.Context, t *testing.T, pool *pgxpool.Pool, c call, arm func()) (told, error) {
	t.Helper()
	if !s.way.host {
		arm()
		err := s.verb.do(ctx, store.New(pool), c)
		return tell(err), err
	}
	tx, err := pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a cut there is nothing that it could say
	arm()
	if err := s.verb.do(ctx, store.New(nil).WithTx(tx), c); err != nil {
		if errors.Is(err, store.ErrOutcomeUnknown) {
			t.Errorf("%v, in a host's transaction, whose end decides", err)
		}
		return failed, err
	}
	err = tx.Commit(ctx)
	return tellCommit(err), err
}

// compare holds what was told against what is there.
func (s *shears) compare(t *testing.T, c call, got told, how string) {
	t.Helper()
	is := class{got, s.there(t, s.verb, c)}
	s.met[is]++
	if is.wrong() {
		t.Errorf("%s: %s", how, is)
		return
	}
	if got != done {
		s.settle(t, s.verb, c, is)
	}
}
