package store

import (
	"context"
	"fmt"

	"github.com/statigen/statigen/templates/internal/db"
)

// CancelChildren cancels every active or parked child of an execution, their children, and so on, and returns how many it
// cancelled. Those that have ended are left as they are, and looked behind: a child of theirs may not have ended. The parent
// need not be there.
//
// Each execution is cancelled as CancelExecution does it, with its lock and on a pool in a transaction of its own, parents
// before children: an error leaves those cancelled that were, and their number is returned with it. One round trip for the
// children of each execution, and one for each that it cancels. A retry goes on where it stopped.
func (s *Store) CancelChildren(ctx context.Context, parentID string) (int64, error) {
	op := fmt.Sprintf("cancel the children of execution %q", parentID)
	if err := checkText("ParentID", parentID); err != nil {
		return 0, &opError{op, err}
	}
	cancelled := int64(0)
	seen := map[string]bool{parentID: true} // metadata that somebody else wrote may go round in circles
	for next := []string{parentID}; len(next) > 0; next = next[1:] {
		children, err := s.children(ctx, op, next[0])
		if err != nil {
			return cancelled, err
		}
		for _, child := range children {
			if seen[child] {
				continue
			}
			seen[child] = true
			transition, err := s.CancelExecution(ctx, child)
			if err != nil {
				return cancelled, err
			}
			if !transition.Discarded {
				cancelled++
			}
			next = append(next, child)
		}
	}
	return cancelled, nil
}

func (s *Store) children(ctx context.Context, op, parentID string) ([]string, error) {
	return aloneReading(ctx, s, op, func(s *Store) ([]string, error) {
		ids, err := db.Reads(s.conn).Children(ctx, db.ChildrenParams{ParentExecutionID: parentID})
		return ids, s.failedRead(op, err)
	})
}
