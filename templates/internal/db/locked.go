// Package db is sqlc's output and, in front of it, the lock-first handle: no query that makes a pin, reads a
// tombstone to act on it or retires a chart can be reached but through a handle that sends it behind its lock.
package db

import (
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A handle lists what may be done behind one kind of lock. It is an interface and never *Queries, whose WithTx
// would drop the lock.
type (
	// ReadQueries need no lock: their answers hold nothing.
	ReadQueries interface {
		Chart(ctx context.Context, arg ChartParams) (ChartRow, error)
		CountExecutions(ctx context.Context, arg CountExecutionsParams) (CountExecutionsRow, error)
		Execution(ctx context.Context, arg ExecutionParams) (ExecutionRow, error)
		HasExecution(ctx context.Context, arg HasExecutionParams) (bool, error)
		Inputs(ctx context.Context, arg InputsParams) ([]InputsRow, error)
		Position(ctx context.Context, arg PositionParams) (PositionRow, error)
		Children(ctx context.Context, arg ChildrenParams) ([]string, error)
		LockInfo(ctx context.Context, arg LockInfoParams) ([]LockInfoRow, error)
	}

	// SharedQueries run behind a chart's shared lock.
	SharedQueries interface {
		ChartState(ctx context.Context, arg ChartStateParams) (ChartStateRow, error)
		ChartStateForShare(ctx context.Context, arg ChartStateForShareParams) (ChartStateForShareRow, error)
		CreateExecution(ctx context.Context, arg CreateExecutionParams) (CreateExecutionRow, error)
		CreateExecutionForShare(ctx context.Context, arg CreateExecutionForShareParams) (CreateExecutionForShareRow, error)
		CreateRefusal(ctx context.Context, arg CreateRefusalParams) (CreateRefusalRow, error)
		SaveChart(ctx context.Context, arg SaveChartParams) (SaveChartRow, error)
		SavePosition(ctx context.Context, arg SavePositionParams) (SavePositionRow, error)
		SavePositionForShare(ctx context.Context, arg SavePositionForShareParams) (string, error)
	}

	// ExclusiveQueries run behind a chart's exclusive lock.
	ExclusiveQueries interface {
		RetireChart(ctx context.Context, arg RetireChartParams) (RetireChartRow, error)
	}

	// ExecutionQueries run behind an execution's lock.
	ExecutionQueries interface {
		AppendInput(ctx context.Context, arg AppendInputParams) (AppendInputRow, error)
		EndExecution(ctx context.Context, arg EndExecutionParams) (EndExecutionRow, error)
		HeldExecution(ctx context.Context, arg HeldExecutionParams) (HeldExecutionRow, error)
		HoldExecution(ctx context.Context, arg HoldExecutionParams) (int64, error)
		StepExecution(ctx context.Context, arg StepExecutionParams) (StepExecutionRow, error)
		UnparkExecution(ctx context.Context, arg UnparkExecutionParams) (UnparkExecutionRow, error)
	}

	// FreeQueries remove what pins, or what nothing needs: they lock rows alone.
	FreeQueries interface {
		DeletePosition(ctx context.Context, arg DeletePositionParams) (string, error)
	}
)

// Reads returns the queries that need no lock. Each is a batch of its own all the same: a query sent by itself takes, in
// pgx's mode that describes every statement, a second round trip that relies on what the first one left in the connection,
// and a pooler may by then have lent that to somebody else, whose statement would answer.
func Reads(c Conn) ReadQueries { return New(&locked{conn: c}) }

// Wait bounds the wait for a lock, and for every other lock up to the end of the verb's statement. Zero leaves
// the bound to the session's own lock_timeout.
type Wait time.Duration

// Shared takes the chart's shared lock before each of its queries.
func Shared(c Conn, contentHash string, w Wait) SharedQueries {
	return New(&locked{conn: c, before: w.around(takeShared(contentHash)), after: w.restore(c)})
}

// SharedToCreate is Shared for a create. In a transaction, where a later verb on the execution would take its lock behind
// the chart's and so in the wrong order, it takes the execution's first. pins are the charts that the execution will pin.
func SharedToCreate(c Conn, executionID string, pins []string, w Wait) SharedQueries {
	var before []step
	if c.pool == nil {
		before = takeExecution(c, executionID)
	}
	return New(&locked{conn: c, before: w.around(append(before, takeAllShared(pins))...), after: w.restore(c)})
}

// Execution takes the execution's lock before each of its queries.
func Execution(c Conn, executionID string, w Wait) ExecutionQueries {
	return New(&locked{conn: c, before: w.around(takeExecution(c, executionID)...), after: w.restore(c)})
}

// ExecutionToStep is Execution, and appends an input to the execution's log in front of each query. That a log is full
// stops no step.
func ExecutionToStep(c Conn, executionID string, in AppendInputParams, w Wait) ExecutionQueries {
	return New(&locked{conn: c, before: w.around(append(takeExecution(c, executionID), appendTo(in))...), after: w.restore(c)})
}

// Free sends each of its queries as a batch of its own, as Reads does.
func Free(c Conn, w Wait) FreeQueries {
	return New(&locked{conn: c, before: w.around(), after: w.restore(c)})
}

// Exclusive takes the chart's exclusive lock before each of its queries. In a host's transaction it refuses an
// upgrade, unless allowUpgrade, and works between a savepoint and its release, so that a lock timeout leaves
// the transaction usable.
func Exclusive(c Conn, contentHash string, w Wait, allowUpgrade bool) ExclusiveQueries {
	if !c.InHostTx() {
		return New(&locked{conn: c, before: []step{takeExclusive(contentHash, w)}})
	}
	return New(&locked{
		conn:      c,
		before:    []step{statement("SAVEPOINT " + savepoint), takeExclusiveJoined(contentHash, w, allowUpgrade)},
		after:     []step{putSettingsBack, statement("RELEASE SAVEPOINT " + savepoint)},
		savepoint: true,
	})
}

// savepoint may be the name of a host's savepoint as well: the newer one of a name is the one that counts.
const savepoint = "statigen_retire"

// undoTimeout bounds two statements that wait for nothing but the network.
const undoTimeout = 5 * time.Second

// locked is a DBTX that sends every statement behind its lock statements, in one batch. What sqlc generated
// runs on it unchanged, and cannot run without the lock.
type locked struct {
	conn      Conn
	before    []step
	after     []step
	savepoint bool
}

// A step queues one statement.
type step func(ctx context.Context, q *Queries) error

// open sends the batch and reads up to the results of the statement itself.
func (l *locked) open(ctx context.Context, sql string, args []any) (*exchange, error) {
	batch, err := l.batch(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	x, err := l.conn.send(ctx, batch)
	if err != nil {
		return nil, err
	}
	for range l.before {
		if _, err := x.results.Exec(); err != nil {
			return nil, l.close(ctx, x, err)
		}
		x.begun = true
	}
	return x, nil
}

func (l *locked) batch(ctx context.Context, sql string, args []any) (*pgx.Batch, error) {
	b := &pgx.Batch{}
	q := New(recorder{b})
	for _, queue := range l.before {
		if err := queue(ctx, q); err != nil {
			return nil, err
		}
	}
	b.Queue(sql, args...)
	for _, queue := range l.after {
		if err := queue(ctx, q); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// close ends an exchange whose statement answered err. An error that closing brings up counts before the
// absence of a row: then there was no answer at all.
func (l *locked) close(ctx context.Context, x *exchange, err error) error {
	closing := x.close()
	if closing != nil && (err == nil || errors.Is(err, pgx.ErrNoRows)) {
		err = closing
	}
	var server *pgconn.PgError
	if l.savepoint && x.begun && errors.As(err, &server) {
		undo(ctx, l.conn.tx, savepoint)
	}
	return err
}

// undo lets the host's transaction go on as if the verb had not been called, even if the call's context ended with
// the server's answer. It comes only after the server said that our savepoint was set: it would else go back to one
// of the host's of that name. Should it fail, the transaction is beyond help, and the first error is what the host
// needs to know.
func undo(ctx context.Context, tx pgx.Tx, savepoint string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	for _, sql := range []string{"ROLLBACK TO SAVEPOINT " + savepoint, "RELEASE SAVEPOINT " + savepoint} {
		_, _ = tx.Exec(ctx, sql)
	}
}

// Exec is part of DBTX.
func (l *locked) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	x, err := l.open(ctx, sql, args)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := x.results.Exec()
	if err := l.close(ctx, x, err); err != nil {
		return pgconn.CommandTag{}, err
	}
	return tag, nil
}

// Query is part of DBTX.
func (l *locked) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	x, err := l.open(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	rows, err := x.results.Query()
	if err != nil {
		return nil, l.close(ctx, x, err)
	}
	return &lockedRows{Rows: rows, close: func() error { return l.close(ctx, x, rows.Err()) }}, nil
}

// QueryRow is part of DBTX. Nothing is sent before Scan, so a row that nobody scans holds no connection.
func (l *locked) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return lockedRow(func(dest []any) error {
		x, err := l.open(ctx, sql, args)
		if err != nil {
			return err
		}
		return l.close(ctx, x, x.results.QueryRow().Scan(dest...))
	})
}

type lockedRow func(dest []any) error

func (scan lockedRow) Scan(dest ...any) error { return scan(dest) }

// lockedRows ends the exchange with its last row, so that Err knows whether the server committed.
type lockedRows struct {
	pgx.Rows
	close  func() error
	closed bool
	err    error
}

func (r *lockedRows) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.Rows.Close()
	r.err = r.close()
}

func (r *lockedRows) Next() bool {
	if r.closed || r.Rows.Next() {
		return !r.closed
	}
	r.Close()
	return false
}

func (r *lockedRows) Err() error {
	if r.closed {
		return r.err
	}
	return r.Rows.Err()
}

// The steps are sqlc's own methods, so that neither their SQL nor the order of their arguments stands twice.

func takeShared(contentHash string) step {
	return func(ctx context.Context, q *Queries) error {
		return q.LockChartShared(ctx, LockChartSharedParams{ContentHash: contentHash})
	}
}

// takeAllShared takes the shared locks of the charts, the plain way where it is one.
func takeAllShared(contentHashes []string) step {
	if len(contentHashes) == 1 {
		return takeShared(contentHashes[0])
	}
	return func(ctx context.Context, q *Queries) error {
		return q.LockChartsShared(ctx, LockChartsSharedParams{ContentHashes: contentHashes})
	}
}

// takeExecution takes the execution's lock, unless the host has a means of its own.
func takeExecution(c Conn, executionID string) []step {
	if c.serialized {
		return nil
	}
	return []step{func(ctx context.Context, q *Queries) error {
		return q.LockExecution(ctx, LockExecutionParams{ExecutionID: executionID})
	}}
}

func takeExclusive(contentHash string, w Wait) step {
	return func(ctx context.Context, q *Queries) error {
		return q.LockChartExclusive(ctx, LockChartExclusiveParams{ContentHash: contentHash, LockTimeout: w.setting()})
	}
}

func takeExclusiveJoined(contentHash string, w Wait, allowUpgrade bool) step {
	return func(ctx context.Context, q *Queries) error {
		return q.LockChartExclusiveJoined(ctx, LockChartExclusiveJoinedParams{
			ContentHash: contentHash, LockTimeout: w.setting(), AllowUpgrade: allowUpgrade,
		})
	}
}

func appendTo(in AppendInputParams) step {
	return func(ctx context.Context, q *Queries) error {
		_, err := q.AppendInput(ctx, in) // queued: the answer comes with the batch, and nothing depends on it
		return err
	}
}

func putTimeoutBack(ctx context.Context, q *Queries) error { return q.RestoreLockTimeout(ctx) }

func putSettingsBack(ctx context.Context, q *Queries) error { return q.RestoreSettings(ctx) }

func statement(sql string) step {
	return func(ctx context.Context, q *Queries) error {
		_, err := q.db.Exec(ctx, sql)
		return err
	}
}

// around puts the bound, if there is one, before the lock statements.
func (w Wait) around(locks ...step) []step {
	if w == 0 {
		return locks
	}
	set := func(ctx context.Context, q *Queries) error {
		return q.SetLockTimeout(ctx, SetLockTimeoutParams{LockTimeout: w.setting()})
	}
	return append([]step{set}, locks...)
}

// restore puts a host's own bound back. On a pool, and in the store's own transaction, it ends with the verb.
func (w Wait) restore(c Conn) []step {
	if w == 0 || !c.InHostTx() {
		return nil
	}
	return []step{putTimeoutBack}
}

// setting is the bound as lock_timeout reads it: whole milliseconds, rounded up, for 0 is no bound; which is
// what a negative Wait asks for.
func (w Wait) setting() string {
	if w < 0 {
		return "0"
	}
	ms := w / Wait(time.Millisecond)
	if w%Wait(time.Millisecond) != 0 {
		ms++
	}
	return strconv.FormatInt(int64(min(ms, math.MaxInt32)), 10) + "ms"
}

// recorder queues the statement that a method of Queries would have sent.
type recorder struct{ batch *pgx.Batch }

func (r recorder) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	r.batch.Queue(sql, args...)
	return pgconn.CommandTag{}, nil
}

func (r recorder) Query(context.Context, string, ...any) (pgx.Rows, error) {
	return nil, errors.New("statigen: a statement that answers many rows cannot be queued")
}

// QueryRow queues a statement whose row nobody reads.
func (r recorder) QueryRow(_ context.Context, sql string, args ...any) pgx.Row {
	r.batch.Queue(sql, args...)
	return lockedRow(func([]any) error { return nil })
}
