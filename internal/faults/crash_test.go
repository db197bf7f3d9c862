package faults

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

const (
	rounds  = 5
	workers = 4
	busy    = 60 // calls are answered in a round before the server is killed
)

// The server is killed while creates race retirements, and starts again on what it left: whoever was told of a success has
// it, whoever was told of a failure has nothing, and nothing needs a retired chart.
func TestAKilledServerHasWhatItSaidItHad(t *testing.T) {
	t.Parallel()
	server := pgtest.NewMortal(t, store.Schema)
	c := &crash{Mortal: server, met: map[class]int{}}
	for round := 0; round < rounds && !t.Failed(); round++ {
		calls := c.killAmong(t)
		server.Restart(t)
		c.compare(t, newLab(t, server.DB), calls)
	}
	t.Logf("%d rounds: %v", rounds, c.met)
	for _, told := range []told{done, failed, unknown} {
		if c.met[class{told, true}]+c.met[class{told, false}] == 0 {
			t.Errorf("nobody was told %s", told)
		}
	}
}

// crash is a server that is killed again and again.
type crash struct {
	*pgtest.Mortal
	serial atomic.Int64
	met    map[class]int
}

// interrupted is a call, and what its caller was told.
type interrupted struct {
	verb
	call
	told told
	err  error
}

// killAmong kills the server in the middle of calls, and returns all of them.
func (c *crash) killAmong(t *testing.T) []interrupted {
	t.Helper()
	config := c.Config(t, pgtest.MaxConns(2*workers))
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false } // a verb is to find the dead connection
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	record := &record{}
	var working sync.WaitGroup
	for range workers {
		working.Go(func() { c.work(t.Context(), store.New(pool), record) })
	}
	pgtest.Await(t, "the workers to be busy", func() bool { return record.len() >= busy })
	c.Kill(t)
	working.Wait()
	return record.calls
}

// work puts an execution on a chart and retires the chart, both at one time, then the same with the next one, until the
// server is gone. Then each tries once more, and learns that nothing was sent.
func (c *crash) work(ctx context.Context, s *store.Store, r *record) {
	for more := true; more; {
		k := newCall(int(c.serial.Add(1)))
		_ = save(ctx, s, k) // if it fails, so do both, or the chart is not known
		var both sync.WaitGroup
		var created, retired bool
		both.Go(func() { created = r.do(ctx, s, create, k) })
		both.Go(func() { retired = r.do(ctx, s, retire, k) })
		both.Wait()
		more = created && retired
	}
	for _, v := range []verb{create, retire} {
		r.do(ctx, s, v, newCall(int(c.serial.Add(1))))
	}
}

// record is what callers were told.
type record struct {
	mu    sync.Mutex
	calls []interrupted
}

// do calls a verb and says whether the server was there.
func (r *record) do(ctx context.Context, s *store.Store, v verb, c call) (answered bool) {
	err := v.do(ctx, s, c)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, interrupted{v, c, tell(err), err})
	return err == nil || decided(err)
}

func (r *record) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.calls)
}

// compare holds a round's calls against what is there, and then settles those that nobody knows of.
func (c *crash) compare(t *testing.T, l *lab, calls []interrupted) {
	t.Helper()
	for _, k := range calls {
		is := class{k.told, l.there(t, k.verb, k.call)}
		c.met[is]++
		if is.wrong() {
			t.Errorf("%s of %s: %s: %v", k.name, k.hash, is, k.err)
		}
	}
	l.nothingStranded(t)
	for _, k := range calls {
		if k.told == unknown {
			l.settleAmong(t, k)
		}
	}
	l.nothingStranded(t)
}
