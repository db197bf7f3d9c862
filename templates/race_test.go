package store_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// Four creates and a retirement race on each of many charts. Whoever wins, no live execution is left on a retired
// chart, and what callers were told is what is there.
func TestNoRaceStrandsAnExecution(t *testing.T) {
	h := newHost(t)
	readCommitted, repeatable, serializable := pgtest.Isolation(levels[0]), pgtest.Isolation(levels[1]), pgtest.Isolation(levels[2])
	exec := pgtest.ExecMode(pgx.QueryExecModeExec)
	transactions, statements := both(exec, h.Bouncer(t, pgtest.TransactionPooling)), both(exec, h.Bouncer(t, pgtest.StatementPooling))
	for _, c := range []struct {
		name             string
		creates, retires pgtest.Option
		hostTx           bool
	}{
		{"read committed", readCommitted, readCommitted, false},
		{"read committed, host transactions", readCommitted, readCommitted, true},
		{"repeatable read", repeatable, repeatable, false},
		{"serializable host transactions", serializable, readCommitted, true},
		{"transaction pooling, host transactions", transactions, transactions, true},
		{"statement pooling", statements, statements, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			creates := h.Pool(t, pgtest.MaxConns(8), c.creates)
			retirements := h.store(t, pgtest.MaxConns(2), c.retires)
			const least, most = 250, 2500
			var r race
			charts := 0
			for ; charts < least || charts < most && !r.everybodyWon(); charts++ {
				r.chart(t, creates, retirements, c.hostTx)
			}
			if n := h.stranded(t); n != 0 {
				t.Errorf("%d charts were retired under a live execution", n)
			}
			if !r.everybodyWon() {
				t.Errorf("%d creates won, %d were refused, %d retirements won: nobody raced", r.created.Load(), r.refused.Load(), r.retired.Load())
			}
			t.Logf("%d charts: %d executions created, %d creates refused, %d charts retired", charts, r.created.Load(), r.refused.Load(), r.retired.Load())
		})
	}
}

type race struct{ created, refused, retired atomic.Int64 }

func (r *race) everybodyWon() bool {
	return r.created.Load() > 0 && r.refused.Load() > 0 && r.retired.Load() > 0
}

// straggle makes a racer late by a few round trips, so that each side gets its turn to come first.
func straggle(t *testing.T, s *store.Store, hash string) {
	for range rand.IntN(6) {
		if _, err := s.Execution(t.Context(), hash); !errors.Is(err, store.ErrExecutionNotFound) {
			t.Errorf("read: %v", err)
		}
	}
}

func (r *race) chart(t *testing.T, creates *pgxpool.Pool, retirements *store.Store, hostTx bool) {
	t.Helper()
	s := store.New(creates)
	hash := mustSave(t, s)
	var start, done sync.WaitGroup
	start.Add(1)
	for range 4 {
		done.Go(func() {
			start.Wait()
			straggle(t, s, hash)
			r.create(t, creates, hash, hostTx)
		})
	}
	done.Go(func() {
		start.Wait()
		straggle(t, retirements, hash)
		_, err := retirements.RetireChart(t.Context(), hash, by("ops"))
		var pinned *store.PinnedError
		switch {
		case err == nil:
			r.retired.Add(1)
		case !errors.As(err, &pinned):
			t.Errorf("retire: %v", err)
		}
	})
	start.Done()
	done.Wait()
}

func (r *race) create(t *testing.T, pool *pgxpool.Pool, hash string, hostTx bool) {
	var err error
	if hostTx {
		err = pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			return second(store.New(nil).WithTx(tx).CreateExecution(t.Context(), newExecution(hash)))
		})
	} else {
		err = second(store.New(pool).CreateExecution(context.WithoutCancel(t.Context()), newExecution(hash)))
	}
	var tombstone *store.ChartRetiredError
	switch {
	case err == nil:
		r.created.Add(1)
	case errors.As(err, &tombstone), hostTx && store.Retryable(err):
		r.refused.Add(1)
	default:
		t.Errorf("create: %v", err)
	}
}
