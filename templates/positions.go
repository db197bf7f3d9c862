package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/templates/internal/db"
)

// SavePosition stores where a session stands, over what is stored of it; the row's id, its leading columns and
// InsertedAt stay those of the first save. The chart need not be stored; it must not be retired. It refuses, and
// writes nothing, with *ChartRetiredError, or *RowSecurityError if a tombstone could be hidden from the role.
//
// It locks the chart, shared, and waits for a retirement of the same chart that is under way, and for another save
// of the same session. One round trip. In a host's transaction at a higher level than READ COMMITTED it takes a second
// one, which needs the UPDATE privilege on the charts table; it answers *IsolationError if the transaction's snapshot
// does not show the chart, and fails with 40001 if the chart was retired, or the position saved, after the snapshot. A
// retry is safe.
func (s *Store) SavePosition(ctx context.Context, p Position) error {
	op := fmt.Sprintf("save position %q on chart %q", p.SessionID, p.ContentHash)
	if err := p.check(); err != nil {
		return &opError{op, err}
	}
	params := savePositionParams(p)
	_, err := alone(ctx, s, op, func(s *Store) (struct{}, error) { return struct{}{}, s.savePosition(ctx, op, params) })
	return err
}

func (s *Store) savePosition(ctx context.Context, op string, params db.SavePositionParams) error {
	shared := db.Shared(s.conn, params.ContentHash, s.wait)
	row, err := shared.SavePosition(ctx, params)
	if err != nil {
		return s.failed(op, err)
	}
	err = decided(op, params.ContentHash, row.Filtered, row.RetiredAt, row.RetiredBy)
	switch {
	case err != nil || row.Saved:
		return err
	case row.ReadCommitted:
		return &opError{op, errReasonGone}
	case !s.conn.InHostTx() || !row.ChartKnown:
		return &opError{op, &IsolationError{params.ContentHash, row.Isolation}}
	}
	// The two forms have the same parameters. If this does not compile, one of them was changed alone: run statigen again.
	_, err = shared.SavePositionForShare(ctx, db.SavePositionForShareParams(params))
	if errors.Is(err, pgx.ErrNoRows) {
		err = errReasonGone // all that could refuse it was seen, in this snapshot, not to be there
	}
	return s.failed(op, err)
}

// Position returns a session's position, or ErrPositionNotFound. It locks nothing and waits for nothing. One round
// trip.
func (s *Store) Position(ctx context.Context, sessionID string) (Position, error) {
	op := fmt.Sprintf("read position %q", sessionID)
	if err := checkText("SessionID", sessionID); err != nil {
		return Position{}, &opError{op, err}
	}
	return aloneReading(ctx, s, op, func(s *Store) (Position, error) {
		row, err := db.Reads(s.conn).Position(ctx, db.PositionParams{SessionID: sessionID})
		if errors.Is(err, pgx.ErrNoRows) {
			return Position{}, &opError{op, ErrPositionNotFound}
		}
		if err != nil {
			return Position{}, s.failedRead(op, err)
		}
		return positionFromRow(row), nil
	})
}

// DeletePosition removes a session's position, so that it pins its chart no longer: ErrPositionNotFound if there is none.
//
// It takes no chart lock, locks the row, and waits for a save of the same session. One round trip. A retirement that
// counts before this is committed is refused. In a host's transaction at a higher level than READ COMMITTED it fails
// with 40001 if the position was saved after the transaction's snapshot. A retry answers ErrPositionNotFound if the
// first try was carried out.
func (s *Store) DeletePosition(ctx context.Context, sessionID string) error {
	op := fmt.Sprintf("delete position %q", sessionID)
	if err := checkText("SessionID", sessionID); err != nil {
		return &opError{op, err}
	}
	_, err := alone(ctx, s, op, func(s *Store) (string, error) {
		deleted, err := db.Free(s.conn, s.wait).DeletePosition(ctx, db.DeletePositionParams{SessionID: sessionID})
		if errors.Is(err, pgx.ErrNoRows) {
			return "", &opError{op, ErrPositionNotFound}
		}
		return deleted, s.failed(op, err)
	})
	return err
}
