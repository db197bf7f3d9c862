package store

import (
	"context"
	"time"

	"github.com/statigen/statigen/templates/internal/db"
)

// insideKey finds, in the context of a host's function, the verb that runs it.
type insideKey struct{}

// inside is a verb that runs a host's function, and the one around it.
type inside struct {
	executionID string
	conn        db.Conn
	writes      bool // the verb writes the execution when the function has returned
	outer       *inside
}

// entered is the context for a host's function.
func (s *Store) entered(ctx context.Context, executionID string, writes bool) context.Context {
	outer, _ := ctx.Value(insideKey{}).(*inside)
	return context.WithValue(ctx, insideKey{}, &inside{executionID, s.conn, writes, outer})
}

// wouldReenter says whether a verb around this call has the execution locked and is about to write it, or has it locked
// on another connection, for which this call would wait for ever.
func (s *Store) wouldReenter(ctx context.Context, executionID string) bool {
	around, _ := ctx.Value(insideKey{}).(*inside)
	for ; around != nil; around = around.outer {
		if around.executionID == executionID && (around.writes || !around.conn.Shares(s.conn)) {
			return true
		}
	}
	return false
}

// bounded is the store for a call from a host's function on the pool, whose connections may all be with verbs that wait for
// such calls: a wait for one ends when a wait for a lock would.
func (s *Store) bounded(ctx context.Context) *Store {
	if ctx.Value(insideKey{}) == nil || s.conn.Pool() == nil || s.wait <= 0 {
		return s
	}
	return s.on(s.conn.Acquire(time.Duration(s.wait)))
}
