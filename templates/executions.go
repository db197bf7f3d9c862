package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/templates/internal/db"
)

// CreateExecution puts an active execution on a chart. The chart need not be stored; it must not be retired. It
// refuses, and writes nothing, with *ChartRetiredError, *ExecutionExistsError, or *RowSecurityError if a
// tombstone, or an execution of this id, could be hidden from the role. It returns the execution as it was stored.
//
// It locks the chart, shared, and waits for a retirement of the same chart that is under way, and for a create
// of the same id. In a host's transaction it locks the execution first. One round trip; a refusal takes a
// second one to learn why. In a host's transaction at a higher level than READ COMMITTED it takes three, the last of
// which needs the UPDATE privilege on the charts table; it answers *IsolationError if the transaction's snapshot does
// not show the chart, and fails with 40001 if the chart was retired after the snapshot.
//
// A retry is refused with *ExecutionExistsError if the first try was carried out: see NewExecution.RowID.
func (s *Store) CreateExecution(ctx context.Context, e NewExecution) (Execution, error) {
	if err := e.check(); err != nil {
		return Execution{}, &opError{createOp(e), err}
	}
	if s.wouldReenter(ctx, e.ExecutionID) {
		return Execution{}, &opError{createOp(e), &ReentrantError{e.ExecutionID}}
	}
	params := createExecutionParams(e)
	row, err := alone(ctx, s, createOp(e), func(s *Store) (db.CreateExecutionRow, error) {
		return s.create(ctx, e, params)
	})
	if err != nil {
		return Execution{}, err
	}
	return createdExecution(e, row), nil
}

func createOp(e NewExecution) string {
	return fmt.Sprintf("create execution %q on chart %q", e.ExecutionID, e.ContentHash)
}

func (s *Store) create(ctx context.Context, e NewExecution, params db.CreateExecutionParams) (db.CreateExecutionRow, error) {
	shared := db.SharedToCreate(s.conn, e.ExecutionID, params.Pins, s.wait)
	for range tries {
		row, err := shared.CreateExecution(ctx, params)
		if !errors.Is(err, pgx.ErrNoRows) && !s.mayBeOwnRow(e, err) {
			return row, s.failed(createOp(e), err)
		}
		why, refused := shared.CreateRefusal(ctx, db.CreateRefusalParams{Pins: params.Pins, ExecutionID: e.ExecutionID})
		if refused != nil {
			return row, s.failedRead(createOp(e), refused)
		}
		if refused = refusedCreate(e, why); refused != nil {
			return row, refused
		}
		switch {
		case why.ReadCommitted && serverCode(err) == codeUniqueViolation:
			return row, s.failed(createOp(e), err) // a constraint of the host's
		case !why.ReadCommitted && (!s.conn.InHostTx() || !why.ChartsKnown):
			return row, &opError{createOp(e), &IsolationError{e.ContentHash, why.Isolation}}
		case !why.ReadCommitted:
			return s.createForShare(ctx, e, params)
		}
		// The execution that was in the way is gone: try again.
	}
	return db.CreateExecutionRow{}, &opError{createOp(e), errReasonGone}
}

// CreateExecutionFunc puts on a chart the execution that create makes, which may take its time: while it runs, nobody else
// makes an execution of the id, and the chart is not retired. What create returns is completed by ref; another id, chart or
// linkage than ref's is refused. It refuses, before it calls create, with what refuses CreateExecution.
//
// It locks the execution, then the chart, shared, and waits for whoever else has the execution locked and for a retirement
// that is under way. On a pool it is one READ COMMITTED transaction, in which tx works too: three round trips, and whatever
// create sends; an error of create's is returned, and what was written through tx is undone. In a host's transaction it
// stays, and at a higher level than READ COMMITTED it answers as CreateExecution does. From inside create the execution is
// refused to every verb that locks it: *ReentrantError.
//
// A retry calls create again, unless the first try was carried out: then it is refused with *ExecutionExistsError.
func (s *Store) CreateExecutionFunc(ctx context.Context, ref ExecutionRef, create func(ctx context.Context, tx Storage) (NewExecution, error)) (Execution, error) {
	e := NewExecution{ExecutionID: ref.ExecutionID, ContentHash: ref.ContentHash, Linkage: ref.Linkage}
	op := createOp(e)
	if err := ref.check(); err != nil {
		return Execution{}, &opError{op, err}
	}
	return locked(ctx, s, op, ref.ExecutionID, func(ctx context.Context, s *Store) (Execution, error) {
		return within(ctx, s, op, func(s *Store) (Execution, error) { return s.createFunc(ctx, e, create) })
	})
}

func (s *Store) createFunc(ctx context.Context, ref NewExecution, create func(context.Context, Storage) (NewExecution, error)) (Execution, error) {
	pins := ref.pins()
	why, err := db.SharedToCreate(s.conn, ref.ExecutionID, pins, s.wait).CreateRefusal(ctx, db.CreateRefusalParams{Pins: pins, ExecutionID: ref.ExecutionID})
	if err != nil {
		return Execution{}, s.failedRead(createOp(ref), err)
	}
	if err := refusedCreate(ref, why); err != nil {
		return Execution{}, err
	}
	if !why.ReadCommitted && !why.ChartsKnown {
		return Execution{}, &opError{createOp(ref), &IsolationError{ref.ContentHash, why.Isolation}}
	}
	e, err := create(s.entered(ctx, ref.ExecutionID, true), s)
	if err == nil {
		e, err = ref.completing(e)
	}
	if err != nil {
		return Execution{}, &opError{createOp(ref), err}
	}
	row, err := s.create(ctx, e, createExecutionParams(e))
	if err != nil {
		return Execution{}, err
	}
	return createdExecution(e, row), nil
}

// completing is what create made of the execution that was announced.
func (e NewExecution) completing(made NewExecution) (NewExecution, error) {
	switch {
	case made.ExecutionID != "" && made.ExecutionID != e.ExecutionID:
		return made, &InvalidError{"ExecutionID", fmt.Sprintf("is %q (want that of the reference)", made.ExecutionID)}
	case made.ContentHash != "" && made.ContentHash != e.ContentHash:
		return made, &InvalidError{"ContentHash", fmt.Sprintf("is %q (want that of the reference)", made.ContentHash)}
	case made.Linkage != nil && (e.Linkage == nil || *made.Linkage != *e.Linkage):
		return made, &InvalidError{"Linkage", "is not that of the reference"}
	}
	made.ExecutionID, made.ContentHash, made.Linkage = e.ExecutionID, e.ContentHash, e.Linkage
	return made, made.check()
}

// mayBeOwnRow says whether a unique violation can come from an earlier try with the same row id that arrived at the
// primary key's index at the same moment. In a transaction it has broken what it would be asked in.
func (s *Store) mayBeOwnRow(e NewExecution, err error) bool {
	var unset RowID
	return serverCode(err) == codeUniqueViolation && s.conn.Pool() != nil && e.RowID != unset
}

// createForShare is the create's form for a host's transaction at a higher level than READ COMMITTED.
func (s *Store) createForShare(ctx context.Context, e NewExecution, params db.CreateExecutionParams) (db.CreateExecutionRow, error) {
	shared := db.SharedToCreate(s.conn, e.ExecutionID, params.Pins, s.wait)
	// The two forms have the same parameters and columns. If this does not compile, one of them was changed alone:
	// run statigen again.
	row, err := shared.CreateExecutionForShare(ctx, db.CreateExecutionForShareParams(params))
	if errors.Is(err, pgx.ErrNoRows) {
		err = errReasonGone // all that could refuse it was seen, in this snapshot, not to be there
	}
	return db.CreateExecutionRow(row), s.failed(createOp(e), err)
}

// refusedCreate turns what stands in a create's way into an error, or nil if nothing does. The caller's own row comes
// first: it was written, whatever has become of its chart since.
func refusedCreate(e NewExecution, why db.CreateRefusalRow) error {
	var unset RowID
	exists := why.InsertedAt != nil
	if exists && e.RowID != unset && e.RowID == why.RowID {
		return existsError(e, why)
	}
	if err := decided(createOp(e), cmp.Or(why.Pinned, e.ContentHash), why.Filtered, why.RetiredAt, why.RetiredBy); err != nil {
		return err
	}
	switch {
	case exists:
		return existsError(e, why)
	case why.FilteredExecutions != "":
		return &opError{createOp(e), &RowSecurityError{e.ContentHash, why.FilteredExecutions}}
	}
	return nil
}

func existsError(e NewExecution, why db.CreateRefusalRow) error {
	return &opError{createOp(e), &ExecutionExistsError{e.ExecutionID, why.RowID, why.ContentHash, *why.InsertedAt}}
}

// Execution returns an execution, or ErrExecutionNotFound. It locks nothing and waits for nothing. One round
// trip.
func (s *Store) Execution(ctx context.Context, executionID string) (Execution, error) {
	op := fmt.Sprintf("read execution %q", executionID)
	if err := checkText("ExecutionID", executionID); err != nil {
		return Execution{}, &opError{op, err}
	}
	return aloneReading(ctx, s, op, func(s *Store) (Execution, error) {
		row, err := db.Reads(s.conn).Execution(ctx, db.ExecutionParams{ExecutionID: executionID})
		if errors.Is(err, pgx.ErrNoRows) {
			return Execution{}, &opError{op, ErrExecutionNotFound}
		}
		if err != nil {
			return Execution{}, s.failedRead(op, err)
		}
		return executionFromRow(row), nil
	})
}

// FailExecution ends an active or parked execution as failed, for the reason given. One that has ended already
// is discarded: it is returned as it is. ErrExecutionNotFound if there is none of the id.
//
// It locks the execution and its row, and waits for whoever else has it locked; it takes no chart lock, for the
// execution is itself what pins the chart. One round trip. At a higher level than READ COMMITTED it fails with
// 40001 if the row has changed since the transaction's snapshot. A retry is discarded if the first try was
// carried out.
func (s *Store) FailExecution(ctx context.Context, executionID, reason string) (Transition, error) {
	op := fmt.Sprintf("fail execution %q", executionID)
	if err := checkChars("Reason", reason); err != nil {
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
	row, err := locked(ctx, s, op, params.ExecutionID, func(ctx context.Context, s *Store) (db.EndExecutionRow, error) {
		return alone(ctx, s, op, func(s *Store) (db.EndExecutionRow, error) { return s.endExecution(ctx, op, params) })
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

func (s *Store) endExecution(ctx context.Context, op string, params db.EndExecutionParams) (db.EndExecutionRow, error) {
	row, err := db.Execution(s.conn, params.ExecutionID, s.wait).EndExecution(ctx, params)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return row, &opError{op, ErrExecutionNotFound}
	case err == nil && !row.Ended && !row.Discarded:
		return row, &opError{op, errReasonGone}
	}
	return row, s.failed(op, err)
}

// CountExecutions counts a chart's executions; a chart that is not stored has none. It locks nothing and waits
// for nothing, so RetireChart counts again. One round trip.
func (s *Store) CountExecutions(ctx context.Context, contentHash string) (ExecutionCounts, error) {
	op := fmt.Sprintf("count the executions of chart %q", contentHash)
	if err := checkText("ContentHash", contentHash); err != nil {
		return ExecutionCounts{}, &opError{op, err}
	}
	return aloneReading(ctx, s, op, func(s *Store) (ExecutionCounts, error) {
		row, err := db.Reads(s.conn).CountExecutions(ctx, db.CountExecutionsParams{ContentHash: contentHash})
		return ExecutionCounts(row), s.failedRead(op, err)
	})
}
