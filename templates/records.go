package store

import (
	"encoding/json"
	"time"
)

// The statuses of an execution. Active and NeedsMigration pin its chart; the others are final.
const (
	Active         = "active"
	NeedsMigration = "needs_migration"
	Completed      = "completed"
	Failed         = "failed"
	Cancelled      = "cancelled"
)

// Chart is a statechart's source, known by the hash of its content. The blobs are the interpreter's; the store
// keeps them byte for byte. SaveChart ignores RowID, InsertedAt and UpdatedAt.
type Chart struct {
	Leading
	RowID        RowID
	ContentHash  string // to be saved, at most 2,684 bytes: an index holds no more
	IdentityBlob []byte // not nil
	ChartBlob    []byte // not nil
	InsertedAt   time.Time
	UpdatedAt    time.Time
}

// Retirement is a chart's tombstone.
type Retirement struct {
	ContentHash string
	RetiredAt   time.Time // UTC, the server's clock
	RetiredBy   string    // empty if the tombstone does not say
}

// NewExecution is what CreateExecution writes.
type NewExecution struct {
	Leading
	// RowID is the row's id. The zero value lets the store, or with bigserial ids the database, make one. A
	// host that wants to know after an ErrOutcomeUnknown whether its create was carried out sets it (with
	// NewRowID, which stores without bigserial ids have) and tries again: if the answer is an
	// *ExecutionExistsError with this id, it was. An id must not be used for two executions: the second create
	// fails on the primary key.
	RowID        RowID
	ExecutionID  string // at most 2,684 bytes, as is the next: an index holds no more
	ContentHash  string
	IdentityBlob []byte          // not nil
	PositionBlob []byte          // nil: no position
	Metadata     json.RawMessage // a JSON object; nil is the empty one
}

// Execution is a durable run of one chart.
type Execution struct {
	Leading
	RowID        RowID
	ExecutionID  string
	Status       string
	ContentHash  string
	IdentityBlob []byte
	PositionBlob []byte          // nil: none
	Failure      *string         // why it failed
	Metadata     json.RawMessage // a JSON object, in the server's spelling
	OutcomeBlob  []byte          // nil: none
	InsertedAt   time.Time       // UTC, the server's clock, as are the next two
	UpdatedAt    time.Time
	EndedAt      *time.Time // nil: has not ended, or ended before the column existed
}

// Transition is what a verb made of an execution.
type Transition struct {
	Execution Execution
	Discarded bool // the execution had ended already: nothing was written
}

// ExecutionCounts counts the executions of one chart by status, and the children that pin it: those whose
// linkage names the chart and whose parent can still step.
type ExecutionCounts struct {
	Active         int64
	NeedsMigration int64
	Completed      int64
	Failed         int64
	Cancelled      int64
	Children       int64
}

// PinCounts says what keeps a chart from being retired: Active, NeedsMigration, Children and Positions. The
// other counts pin nothing.
type PinCounts struct {
	ExecutionCounts
	Positions int64
	// More is true when a count stopped at MaxPinCount. Executions are counted up to that many rows, so with
	// More every count is a lower bound.
	More bool
}

// MaxPinCount bounds the counts of a refused retirement: creates wait while it counts.
const MaxPinCount = 1000
