package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/templates/internal/db"
)

// CreateExecution puts an active execution on a chart. The chart need not be stored; it must not be retired. It
// refuses, and writes nothing, with *ChartRetiredError, *ExecutionExistsError, or *RowSecurityError if a
// tombstone could be hidden from the role. It returns the execution as it was stored.
//
// It locks the chart, shared, and waits for a retirement of the same chart that is under way, and for a create
// of the same id. In a host's transaction it locks the execution first. One round trip; a refusal takes a
// second one to learn why. At a higher level than READ COMMITTED it takes three, the last of which needs the
// UPDATE privilege on the charts table; it answers *IsolationError if the transaction's snapshot does not show
// the chart, and fails with 40001 if the chart was retired after the snapshot.
//
// A retry is refused with *ExecutionExistsError if the first try was carried out: see NewExecution.RowID.
func (s *Store) CreateExecution(ctx context.Context, e NewExecution) (Execution, error) {
	op := fmt.Sprintf("create execution %q on chart %q", e.ExecutionID, e.ContentHash)
	if err := e.check(); err != nil {
		return Execution{}, &opError{op, err}
	}
	params := createExecutionParams(e)
	row, err := alone(ctx, s, op, func(s *Store) (db.CreateExecutionRow, error) {
		return s.create(ctx, op, params)
	})
	if err != nil {
		return Execution{}, err
	}
	return createdExecution(e, row), nil
}

func (s *Store) create(ctx context.Context, op string, params db.CreateExecutionParams) (db.CreateExecutionRow, error) {
	shared := db.SharedToCreate(s.conn, params.ExecutionID, params.ContentHash, s.wait)
	for range tries {
		row, err := shared.CreateExecution(ctx, params)
		if !errors.Is(err, pgx.ErrNoRows) {
			return row, s.failed(op, err)
		}
		why, err := shared.CreateRefusal(ctx, db.CreateRefusalParams{
			ContentHash: params.ContentHash, ExecutionID: params.ExecutionID,
		})
		if err != nil {
			return row, s.failedRead(op, err)
		}
		if !why.ReadCommitted && s.conn.InHostTx() && why.RetiredAt == nil && why.ChartKnown {
			// The two forms have the same parameters and columns. If this does not compile, one of them
			// was changed alone: run statigen again.
			locked, err := shared.CreateExecutionForShare(ctx, db.CreateExecutionForShareParams(params))
			if !errors.Is(err, pgx.ErrNoRows) {
				return db.CreateExecutionRow(locked), s.failed(op, err)
			}
			why.ReadCommitted = true // the row lock answered for the level
		}
		if err := s.refusedCreate(op, params, why); err != nil {
			return row, err
		}
	}
	return db.CreateExecutionRow{}, &opError{op, errReasonGone}
}

// refusedCreate says why nothing was written, or nil if the reason is gone: an execution of this id was there a
// moment ago.
func (s *Store) refusedCreate(op string, params db.CreateExecutionParams, why db.CreateRefusalRow) error {
	if err := s.decided(op, params.ContentHash, why.Filtered, why.RetiredAt, why.RetiredBy); err != nil {
		return err
	}
	if !why.ReadCommitted {
		return &opError{op, &IsolationError{params.ContentHash, why.Isolation}}
	}
	if why.InsertedAt != nil {
		return &opError{op, &ExecutionExistsError{params.ExecutionID, why.RowID, why.ContentHash, *why.InsertedAt}}
	}
	return nil
}

// Execution returns an execution, or ErrExecutionNotFound. It locks nothing and waits for nothing. One round
// trip.
func (s *Store) Execution(ctx context.Context, executionID string) (Execution, error) {
	op := fmt.Sprintf("read execution %q", executionID)
	if err := checkText("ExecutionID", executionID); err != nil {
		return Execution{}, &opError{op, err}
	}
	row, err := db.Reads(s.conn).Execution(ctx, db.ExecutionParams{ExecutionID: executionID})
	if errors.Is(err, pgx.ErrNoRows) {
		return Execution{}, &opError{op, ErrExecutionNotFound}
	}
	if err != nil {
		return Execution{}, s.failedRead(op, err)
	}
	return executionFromRow(row), nil
}

// FailExecution ends an active or parked execution as failed, for the reason given. One that has ended already
// is discarded: it is returned as it is.
//
// It locks the execution and its row, and waits for whoever else has it locked; it takes no chart lock, for the
// execution is itself what pins the chart. One round trip. At a higher level than READ COMMITTED it fails with
// 40001 if the row has changed since the transaction's snapshot. A retry is discarded if the first try was
// carried out.
func (s *Store) FailExecution(ctx context.Context, executionID, reason string) (Transition, error) {
	op := fmt.Sprintf("fail execution %q", executionID)
	if err := checkChars("reason", reason); err != nil {
		return Transition{}, &opError{op, err}
	}
	return s.end(ctx, op, db.EndExecutionParams{ExecutionID: executionID, Status: Failed, Failure: &reason})
}

// CancelExecution ends an active or parked execution as cancelled. One that has ended already is discarded: it
// is returned as it is. It locks, waits and answers as FailExecution does.
func (s *Store) CancelExecution(ctx context.Context, executionID string) (Transition, error) {
	op := fmt.Sprintf("cancel execution %q", executionID)
	return s.end(ctx, op, db.EndExecutionParams{ExecutionID: executionID, Status: Cancelled})
}

func (s *Store) end(ctx context.Context, op string, params db.EndExecutionParams) (Transition, error) {
	if err := checkText("ExecutionID", params.ExecutionID); err != nil {
		return Transition{}, &opError{op, err}
	}
	row, err := alone(ctx, s, op, func(s *Store) (db.EndExecutionRow, error) {
		row, err := db.Execution(s.conn, params.ExecutionID, s.wait).EndExecution(ctx, params)
		if errors.Is(err, pgx.ErrNoRows) {
			return row, &opError{op, ErrExecutionNotFound}
		}
		return row, s.failed(op, err)
	})
	if err != nil {
		return Transition{}, err
	}
	ended := endedExecution(row)
	if row.Discarded {
		ended.Failure = row.FailureBefore
	}
	return Transition{Execution: ended, Discarded: row.Discarded}, nil
}

// CountExecutions counts a chart's executions; a chart that is not stored has none. It locks nothing and waits
// for nothing, so RetireChart counts again. One round trip.
func (s *Store) CountExecutions(ctx context.Context, contentHash string) (ExecutionCounts, error) {
	op := fmt.Sprintf("count the executions of chart %q", contentHash)
	if err := checkText("ContentHash", contentHash); err != nil {
		return ExecutionCounts{}, &opError{op, err}
	}
	row, err := db.Reads(s.conn).CountExecutions(ctx, db.CountExecutionsParams{ContentHash: contentHash})
	return ExecutionCounts(row), s.failedRead(op, err)
}
