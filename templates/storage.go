package store

import "context"

// Storage is what a store does, wherever it keeps its rows.
type Storage interface {
	SaveChart(ctx context.Context, c Chart) error
	Chart(ctx context.Context, contentHash string) (Chart, error)
	Retirement(ctx context.Context, contentHash string) (Retirement, bool, error)
	RetireChart(ctx context.Context, contentHash string, opts RetireOptions) (Retirement, error)
	CountExecutions(ctx context.Context, contentHash string) (ExecutionCounts, error)

	CreateExecution(ctx context.Context, e NewExecution) (Execution, error)
	CreateExecutionFunc(ctx context.Context, ref ExecutionRef, create func(ctx context.Context, tx Storage) (NewExecution, error)) (Execution, error)
	Execution(ctx context.Context, executionID string) (Execution, error)
	LockExecution(ctx context.Context, executionID string, do func(ctx context.Context, tx Storage) error) error
	StepExecution(ctx context.Context, executionID string, step func(ctx context.Context, tx Storage, e Execution) (Step, error)) (Transition, error)
	FailExecution(ctx context.Context, executionID, reason string) (Transition, error)
	CancelExecution(ctx context.Context, executionID string) (Transition, error)
	UnparkExecution(ctx context.Context, executionID string) (Transition, error)
	CancelChildren(ctx context.Context, parentID string) (int64, error)

	SavePosition(ctx context.Context, p Position) error
	Position(ctx context.Context, sessionID string) (Position, error)
	DeletePosition(ctx context.Context, sessionID string) error

	AppendInput(ctx context.Context, executionID string, in Input) (int64, error)
	Inputs(ctx context.Context, executionID string) ([]Input, error)
}

var _ Storage = (*Store)(nil)
