package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/templates/internal/db"
)

// StepExecution gives an active execution to step, and stores what that makes of it. One that has ended already is
// discarded: it is returned as it is, and step is not called; nor is it for a parked one, which answers *ParkedError.
// ErrExecutionNotFound if there is none of the id.
//
// It locks the execution and its row, and waits for whoever else has it locked; it takes no chart lock, for the execution is
// itself what pins the chart. On a pool it is one READ COMMITTED transaction, in which tx works too: three round trips, and
// whatever step sends. A pool whose connections are all with steps that ask the pool for another one comes to a
// standstill: use tx, or set WithLockTimeout, which bounds that wait. From inside step, the execution is refused to every
// verb that locks it: *ReentrantError.
//
// An error of step's is returned, as errors.Is finds it, and what was written through tx is undone; in a host's transaction
// it stays, for the host to roll back, and so it does if what step returns is refused with *InvalidError. There, at a higher
// level than READ COMMITTED, it fails with 40001 if the execution has changed since the snapshot. A retry after an unknown
// outcome calls step again, with the execution as it is by then.
func (s *Store) StepExecution(ctx context.Context, executionID string, step func(ctx context.Context, tx Storage, e Execution) (Step, error)) (Transition, error) {
	op := fmt.Sprintf("step execution %q", executionID)
	if err := checkText("ExecutionID", executionID); err != nil {
		return Transition{}, &opError{op, err}
	}
	return locked(ctx, s, op, executionID, func(ctx context.Context, s *Store) (Transition, error) {
		return within(ctx, s, op, func(s *Store) (Transition, error) { return s.step(ctx, op, executionID, step) })
	})
}

func (s *Store) step(ctx context.Context, op, executionID string, step func(context.Context, Storage, Execution) (Step, error)) (Transition, error) {
	row, err := db.Execution(s.conn, executionID, s.wait).HeldExecution(ctx, db.HeldExecutionParams{ExecutionID: executionID})
	if errors.Is(err, pgx.ErrNoRows) {
		return Transition{}, &opError{op, ErrExecutionNotFound}
	}
	if err != nil {
		return Transition{}, s.failedRead(op, err)
	}
	// The two rows have the same columns. If this does not compile, one of them was changed alone: run statigen again.
	e := executionFromRow(db.ExecutionRow(row))
	switch e.Status {
	case NeedsMigration:
		return Transition{}, &opError{op, &ParkedError{e}}
	case Active:
		return s.stepActive(ctx, op, e, step)
	}
	return Transition{Execution: e, Discarded: true}, nil
}

func (s *Store) stepActive(ctx context.Context, op string, e Execution, step func(context.Context, Storage, Execution) (Step, error)) (Transition, error) {
	made, err := step(s.entered(ctx, e.ExecutionID, true), s, e)
	if err == nil {
		err = made.check()
	}
	if err != nil {
		return Transition{}, &opError{op, err}
	}
	if made.Discard {
		return Transition{Execution: e, Discarded: true}, nil
	}
	row, err := s.toStep(e.ExecutionID, made.Input).StepExecution(ctx, stepParams(e.ExecutionID, made))
	if errors.Is(err, pgx.ErrNoRows) {
		err = errReasonGone // the row is ours, so it takes a trigger, or the function itself, to get here
	}
	if err != nil {
		return Transition{}, s.failed(op, err)
	}
	return Transition{Execution: stepped(e, made, row)}, nil
}

// toStep is where the update goes: behind the lock, and behind the input if there is one.
func (s *Store) toStep(executionID string, in *Input) db.ExecutionQueries {
	if in == nil {
		return db.Execution(s.conn, executionID, s.wait)
	}
	return db.ExecutionToStep(s.conn, executionID, appendInputParams(executionID, *in, s.room()), s.wait)
}

func stepParams(executionID string, made Step) db.StepExecutionParams {
	return db.StepExecutionParams{
		ExecutionID: executionID, Status: made.Status, Failure: made.Failure,
		KeepPosition: made.KeepPosition, PositionBlob: made.PositionBlob, OutcomeBlob: made.OutcomeBlob,
	}
}

func stepped(e Execution, made Step, row db.StepExecutionRow) Execution {
	e.Status, e.Failure = made.Status, made.Failure
	if !made.KeepPosition {
		e.PositionBlob = made.PositionBlob
	}
	e.OutcomeBlob, e.UpdatedAt, e.EndedAt = row.OutcomeBlob, row.UpdatedAt, row.EndedAt
	return e
}

// LockExecution has an execution, which need not be there, to itself while do runs: no other verb on the id, of this store
// or any other in the database, and no other program that takes the execution's lock, comes in between.
//
// It locks the execution, and its row if there is one, and waits for whoever else has it locked. On a pool it is one READ
// COMMITTED transaction, in which tx works too: two round trips, and whatever do sends; it commits if do returns nil, and
// an error of do's is returned. In a host's transaction the locks last to its end, and nothing is undone. Verbs on the same
// execution must go through tx: any other would wait for this one for ever, and is refused with *ReentrantError. A retry
// calls do again.
func (s *Store) LockExecution(ctx context.Context, executionID string, do func(ctx context.Context, tx Storage) error) error {
	op := fmt.Sprintf("lock execution %q", executionID)
	if err := checkText("ExecutionID", executionID); err != nil {
		return &opError{op, err}
	}
	_, err := locked(ctx, s, op, executionID, func(ctx context.Context, s *Store) (struct{}, error) {
		return within(ctx, s, op, func(s *Store) (struct{}, error) { return struct{}{}, s.hold(ctx, op, executionID, do) })
	})
	return err
}

func (s *Store) hold(ctx context.Context, op, executionID string, do func(context.Context, Storage) error) error {
	_, err := db.Execution(s.conn, executionID, s.wait).HoldExecution(ctx, db.HoldExecutionParams{ExecutionID: executionID})
	if err != nil {
		return s.failedRead(op, err)
	}
	if err := do(s.entered(ctx, executionID, false), s); err != nil {
		return &opError{op, err}
	}
	return nil
}

// UnparkExecution makes a parked execution active again, and clears its failure. One that is active is left as it is; one
// that has ended is discarded: it is returned as it is. ErrExecutionNotFound if there is none of the id. It locks, waits and
// answers as FailExecution does.
func (s *Store) UnparkExecution(ctx context.Context, executionID string) (Transition, error) {
	op := fmt.Sprintf("unpark execution %q", executionID)
	if err := checkText("ExecutionID", executionID); err != nil {
		return Transition{}, &opError{op, err}
	}
	return locked(ctx, s, op, executionID, func(ctx context.Context, s *Store) (Transition, error) {
		return alone(ctx, s, op, func(s *Store) (Transition, error) { return s.unpark(ctx, op, executionID) })
	})
}

func (s *Store) unpark(ctx context.Context, op, executionID string) (Transition, error) {
	row, err := db.Execution(s.conn, executionID, s.wait).UnparkExecution(ctx, db.UnparkExecutionParams{ExecutionID: executionID})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Transition{}, &opError{op, ErrExecutionNotFound}
	case err != nil:
		return Transition{}, s.failed(op, err)
	case row.Status == NeedsMigration:
		return Transition{}, &opError{op, errReasonGone}
	}
	e := unparkedExecution(row)
	if row.Unparked {
		e.Failure = nil
	}
	return Transition{Execution: e, Discarded: row.Discarded}, nil
}
