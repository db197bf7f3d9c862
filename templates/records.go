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
	Linkage      *Linkage        // nil: no child of another execution
}

// ExecutionRef is the execution that CreateExecutionFunc is to create: its id, and what it will pin.
type ExecutionRef struct {
	ExecutionID string
	ContentHash string
	Linkage     *Linkage // nil: no child of another execution
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

// Position is where a session of an interpreter stands that is no execution. SavePosition ignores RowID, InsertedAt and
// UpdatedAt.
type Position struct {
	Leading
	RowID        RowID
	SessionID    string
	ContentHash  string
	IdentityBlob []byte    // not nil
	PositionBlob []byte    // not nil
	InsertedAt   time.Time // UTC, the server's clock, as is the next
	UpdatedAt    time.Time
}

// The doors through which an input comes into an execution.
const (
	DoorStep             = "step"
	DoorDoneInvocation   = "done_invocation"
	DoorFailedInvocation = "failed_invocation"
	DoorAnswerParent     = "answer_parent"
)

// Input is what came into an execution. AppendInput ignores all but Door and InputBlob: the leading columns are those of the
// execution.
type Input struct {
	Leading
	RowID      RowID
	Seq        int64     // from 0, without gaps
	Door       string    // not empty; one of the doors above, if a reader of the reference's is to know it
	InputBlob  []byte    // not nil in what is appended; nil is the marker that closes a full log
	InsertedAt time.Time // UTC, the server's clock
}

// Step is what a step makes of an execution. Metadata and the chart stay what they are.
type Step struct {
	Status       string  // Active, Completed, Failed or Cancelled
	PositionBlob []byte  // nil: no position
	KeepPosition bool    // the position stays what it is; PositionBlob must be nil
	Failure      *string // why it failed; nil clears it
	OutcomeBlob  []byte  // nil: the outcome stays what it is
	Input        *Input  // is appended to the log, in the same transaction; that the log is full stops no step
	Discard      bool    // nothing is written; all else must be unset
}

// Transition is what a verb made of an execution.
type Transition struct {
	Execution Execution
	Discarded bool // nothing was written: the execution had ended already, or a step's function said so
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
