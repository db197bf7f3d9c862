package store

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/templates/internal/db"
)

// WithInputLogCap bounds every execution's log: the last of so many places is for the marker that closes it, so one less
// inputs are kept. Zero or less is no bound. It is the host's word: replicas with another cap close a log elsewhere.
func WithInputLogCap(places int64) Option {
	return func(s *Store) { s.logCap = places }
}

// room is how many inputs a log holds.
func (s *Store) room() int64 {
	if s.logCap <= 0 {
		return math.MaxInt64
	}
	return s.logCap - 1
}

// AppendInput writes an input behind the last one of an execution, whatever its status, and returns its number:
// ErrExecutionNotFound if there is no execution of the id, ErrInputLogFull if the log is closed, or is by this call.
//
// It locks the execution and its row, and waits for whoever else has it locked; it takes no chart lock. One round
// trip. At a higher level than READ COMMITTED it fails with 40001 if the execution or its log has changed since the
// transaction's snapshot. A retry after an unknown outcome may write the input twice: read the log first.
func (s *Store) AppendInput(ctx context.Context, executionID string, in Input) (int64, error) {
	op := fmt.Sprintf("append an input to execution %q", executionID)
	if err := checkText("ExecutionID", executionID); err != nil {
		return 0, &opError{op, err}
	}
	if err := in.check(); err != nil {
		return 0, &opError{op, err}
	}
	return locked(ctx, s, op, executionID, func(ctx context.Context, s *Store) (int64, error) {
		return alone(ctx, s, op, func(s *Store) (int64, error) { return s.appendInput(ctx, op, executionID, in) })
	})
}

func (s *Store) appendInput(ctx context.Context, op, executionID string, in Input) (int64, error) {
	row, err := db.Execution(s.conn, executionID, s.wait).AppendInput(ctx, appendInputParams(executionID, in, s.room()))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, &opError{op, ErrExecutionNotFound}
	case err != nil:
		return 0, s.failed(op, err)
	case row.Full:
		return 0, &opError{op, ErrInputLogFull}
	case !row.Appended:
		return 0, &opError{op, errReasonGone}
	}
	return row.Seq, nil
}

// Inputs returns an execution's log, oldest first, or ErrExecutionNotFound. It reads all of it into memory, locks nothing
// and waits for nothing. One round trip; an empty log takes a second one, to learn whether there is an execution.
func (s *Store) Inputs(ctx context.Context, executionID string) ([]Input, error) {
	op := fmt.Sprintf("read the inputs of execution %q", executionID)
	if err := checkText("ExecutionID", executionID); err != nil {
		return nil, &opError{op, err}
	}
	return aloneReading(ctx, s, op, func(s *Store) ([]Input, error) { return s.inputs(ctx, op, executionID) })
}

func (s *Store) inputs(ctx context.Context, op, executionID string) ([]Input, error) {
	reads := db.Reads(s.conn)
	rows, err := reads.Inputs(ctx, db.InputsParams{ExecutionID: executionID})
	if err != nil {
		return nil, s.failedRead(op, err)
	}
	log := make([]Input, len(rows))
	for i, row := range rows {
		log[i] = inputFromRow(row)
	}
	if len(log) > 0 {
		return log, nil
	}
	found, err := reads.HasExecution(ctx, db.HasExecutionParams{ExecutionID: executionID})
	if err == nil && !found {
		err = ErrExecutionNotFound
	}
	return log, s.failedRead(op, err)
}
