package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// errReasonGone says that something refused the call, several times, and was gone when it was asked what. It takes
// writers that delete rows, or triggers, to get here.
var errReasonGone = errors.New("refused for a reason that was gone when it was read; try again")

// Facts that need no more words. Every error of the package says what was asked, of which chart or execution,
// in which store.
var (
	// ErrChartNotFound: no chart has this content hash.
	ErrChartNotFound = errors.New("chart not found")

	// ErrExecutionNotFound: no execution has this id.
	ErrExecutionNotFound = errors.New("execution not found")

	// ErrPositionNotFound: no session of this id has a position.
	ErrPositionNotFound = errors.New("position not found")

	// ErrInputLogFull: the execution's log is closed. No input is taken after this.
	ErrInputLogFull = errors.New("input log full")

	// ErrOutcomeUnknown: the connection broke, or the context ended, while the server was at work, so the verb
	// may or may not have been carried out. A save, a retirement and the end of an execution may be tried
	// again; a create too, if it set RowID: see NewExecution. The cause is in the chain.
	ErrOutcomeUnknown = errors.New("outcome unknown")
)

// ChartRetiredError says that the chart is retired, which is final. Nothing was written.
type ChartRetiredError struct {
	ContentHash string
	RetiredAt   time.Time // UTC
	RetiredBy   string    // empty if the tombstone does not say
}

func (e *ChartRetiredError) Error() string {
	return fmt.Sprintf("chart %q was retired at %s by %q", e.ContentHash, e.RetiredAt.Format(time.RFC3339Nano), e.RetiredBy)
}

// PinnedError says that something keeps the chart from being retired. Nothing was written.
type PinnedError struct {
	ContentHash string
	Counts      PinCounts
}

func (e *PinnedError) Error() string {
	more := ""
	if e.Counts.More {
		more = " or more"
	}
	return fmt.Sprintf("chart %q is pinned (active %d, needs_migration %d, children %d, positions %d%s)",
		e.ContentHash, e.Counts.Active, e.Counts.NeedsMigration, e.Counts.Children, e.Counts.Positions, more)
}

// ExecutionExistsError says that an execution of this id exists, written by somebody else or by an earlier try.
// Nothing was written.
type ExecutionExistsError struct {
	ExecutionID string
	RowID       RowID // of the execution that exists
	ContentHash string
	InsertedAt  time.Time // UTC
}

func (e *ExecutionExistsError) Error() string {
	return fmt.Sprintf("execution %q exists on chart %q since %s", e.ExecutionID, e.ContentHash, e.InsertedAt.Format(time.RFC3339Nano))
}

// LockTimeoutError says that a lock was not granted in time. Nothing was written. It is Retryable. Who holds a
// chart's lock is what LockInfo says.
type LockTimeoutError struct {
	Timeout time.Duration // zero: the session's own lock_timeout
	Err     error         // the server's error, SQLSTATE 55P03; inside a verb that runs a function also a pool without a connection
}

func (e *LockTimeoutError) Error() string {
	if e.Timeout <= 0 {
		return fmt.Sprintf("no lock within the session's lock_timeout: %v", e.Err)
	}
	return fmt.Sprintf("no lock within %s: %v", e.Timeout, e.Err)
}

func (e *LockTimeoutError) Unwrap() error { return e.Err }

// LockUpgradeError says that the host's transaction holds the chart's shared lock, from a verb before, and asks for
// the exclusive one. Two such transactions would deadlock. Nothing was written. Retire in a transaction of its own,
// or retire first and read afterwards.
type LockUpgradeError struct {
	ContentHash string
	Busy        bool // AllowUpgrade was set, and another transaction holds the lock too
}

func (e *LockUpgradeError) Error() string {
	if e.Busy {
		return fmt.Sprintf("this transaction and another hold the shared lock of chart %q", e.ContentHash)
	}
	return fmt.Sprintf("this transaction holds the shared lock of chart %q", e.ContentHash)
}

// IsolationError says that at the host's isolation level the answer could be wrong, for the transaction's snapshot
// may be older than the lock. Nothing was written. Use READ COMMITTED; a create, a save or a read of a chart whose
// row the snapshot shows works at every level.
type IsolationError struct {
	ContentHash string
	Level       string // as the server names it
}

func (e *IsolationError) Error() string {
	return fmt.Sprintf("chart %q: not safe at isolation level %s (want read committed)", e.ContentHash, e.Level)
}

// RowSecurityError says that row-level security hides rows of these tables from the role, so a tombstone or a pin
// could go unseen. Nothing was written.
type RowSecurityError struct {
	ContentHash string // empty from Verify
	Tables      string // as in SQL, separated by commas
}

func (e *RowSecurityError) Error() string {
	if e.ContentHash == "" {
		return fmt.Sprintf("row-level security filters %s for this role", e.Tables)
	}
	return fmt.Sprintf("chart %q: row-level security filters %s for this role", e.ContentHash, e.Tables)
}

// ParkedError says that an execution waits for a migration, so that it takes no step. Nothing was written.
type ParkedError struct {
	Execution Execution
}

func (e *ParkedError) Error() string {
	return fmt.Sprintf("execution %q needs a migration from chart %q", e.Execution.ExecutionID, e.Execution.ContentHash)
}

// ReentrantError says that the call came from inside a verb that has the same execution locked, and would wait for that
// for ever, or change under it what it is about to write. Nothing was sent.
type ReentrantError struct {
	ExecutionID string
}

func (e *ReentrantError) Error() string {
	return fmt.Sprintf("execution %q is in the hands of the verb that runs this function", e.ExecutionID)
}

// InvalidError says that an argument cannot be stored. Nothing was sent.
type InvalidError struct {
	Field  string
	Reason string
}

func (e *InvalidError) Error() string { return e.Field + " " + e.Reason }

// Retryable says whether nothing was written for the sake of another call, so that the same one, in a new
// transaction, may succeed: a serialization failure (40001), a deadlock (40P01), a lock timeout (55P03), or a refusal
// whose reason was gone when it was read.
func Retryable(err error) bool {
	switch serverCode(err) {
	case codeSerialization, codeDeadlock, codeLockNotAvailable:
		return true
	}
	var timeout *LockTimeoutError
	return errors.As(err, &timeout) || errors.Is(err, errReasonGone)
}

// SQLSTATEs that the package tells apart.
const (
	codeSerialization         = "40001"
	codeDeadlock              = "40P01"
	codeLockNotAvailable      = "55P03"
	codeUniqueViolation       = "23505"
	codeUndefinedTable        = "42P01"
	codeUndefinedColumn       = "42703"
	codeInsufficientPrivilege = "42501"
)

func serverCode(err error) string {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		return server.Code
	}
	return ""
}

// opError says what was asked.
type opError struct {
	op  string
	err error
}

func (e *opError) Error() string { return fmt.Sprintf("%s in store %s: %v", e.op, StoreString, e.err) }

func (e *opError) Unwrap() error { return e.err }

// outcomeError puts ErrOutcomeUnknown beside its cause.
type outcomeError struct{ err error }

func (e *outcomeError) Error() string { return fmt.Sprintf("%v: %v", ErrOutcomeUnknown, e.err) }

func (e *outcomeError) Unwrap() []error { return []error{ErrOutcomeUnknown, e.err} }
