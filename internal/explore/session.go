package explore

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// player plays one session of a scenario, once for each schedule, on one connection.
type player struct {
	Session
	gate *gate
	pool *pgxpool.Pool
	conn *pgx.Conn // of a host's session
	pid  uint32
	// at is how many steps of the schedule had been taken when the session took its last one that acts on a chart.
	at atomic.Int64
}

// newPlayer connects. A deadlock is to end soon, and the same way each time: the first player is the first to look for one,
// and its victim.
func newPlayer(t testing.TB, db *pgtest.DB, s Session, number int) *player {
	t.Helper()
	p := &player{Session: s, gate: newGate()}
	p.gate.open.Store(true)
	options := []pgtest.Option{through(p.gate), pgtest.MaxConns(1), pgtest.Setting("deadlock_timeout", fmt.Sprintf("%dms", 10+500*number)), pgtest.Isolation(p.level())}
	if s.Host {
		p.conn = db.Conn(t, options...)
		p.pid = p.conn.PgConn().PID()
		return p
	}
	p.pool = db.Pool(t, options...)
	c, err := p.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	p.pid = c.Conn().PgConn().PID()
	return p
}

func (p *player) level() string {
	if p.Level == "" {
		return "read committed"
	}
	return p.Level
}

// answer is what a verb said, and whether what it did was then committed. From its beginning to its end, counted in
// steps of the schedule, the session was to hold the verb's lock.
type answer struct {
	verb       Verb
	err        error
	committed  bool
	begin, end int64
}

// play does the session's part of a schedule.
func (p *player) play(ctx context.Context, r *run) error {
	if p.Host {
		return p.playInTx(ctx, r)
	}
	for _, v := range p.Verbs {
		err := p.step(r, v, func() error { return v.run(ctx, nil, store.New(p.pool), r.world) })
		r.tell(ctx, p, answer{verb: v, err: err, committed: err == nil, begin: p.at.Load()})
	}
	return nil
}

// playInTx does every verb in one transaction of the host's. What the server raises ends it; what a verb decides does not.
func (p *player) playInTx(ctx context.Context, r *run) error {
	tx, err := p.conn.BeginTx(ctx, pgx.TxOptions{})
	if err != nil {
		return err
	}
	var answers []answer
	for _, v := range p.Verbs {
		if tx.Conn().PgConn().TxStatus() == 'E' {
			break
		}
		err := p.step(r, v, func() error { return v.run(ctx, tx, store.New(nil).WithTx(tx), r.world) })
		answers = append(answers, answer{verb: v, err: err, committed: err == nil && !v.undone, begin: p.at.Load()})
	}
	commits := !p.Rollback && tx.Conn().PgConn().TxStatus() != 'E'
	ending := p.end(ctx, tx, commits)
	for _, a := range answers {
		a.committed = a.committed && commits && ending == nil
		if a.err == nil {
			a.err = ending
		}
		r.tell(ctx, p, a)
	}
	return nil
}

func (p *player) end(ctx context.Context, tx pgx.Tx, commits bool) error {
	if !commits {
		return tx.Rollback(ctx)
	}
	return tx.Commit(ctx)
}

// step does a verb, as one step or as many.
func (p *player) step(r *run, v Verb, do func() error) error {
	if !p.Whole {
		return do()
	}
	p.gate.pause(v.String())
	p.gate.open.Store(true)
	defer p.gate.open.Store(false)
	err := do()
	p.at.Store(r.taken.Load()) // it may have waited first
	return err
}
