package db

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// VerifyQueries look at the server and its catalogs. None of them touches the store's tables.
type VerifyQueries interface {
	ColumnsFound(ctx context.Context) ([]ColumnsFoundRow, error)
	ProbeLocks(ctx context.Context) (ProbeLocksRow, error)
	Session(ctx context.Context) (SessionRow, error)
	TablesFound(ctx context.Context) ([]TablesFoundRow, error)
	TakeProbeLocks(ctx context.Context) error
	UniqueIndexesFound(ctx context.Context) ([]UniqueIndexesFoundRow, error)
}

// Aside is a transaction, or a part of the host's, of which nothing is kept, locks included.
type Aside struct{ tx pgx.Tx }

// asideSavepoint may be the name of a host's savepoint as well: the newer one of a name is the one that counts.
const asideSavepoint = "statigen_verify"

// Aside runs look on one connection, and then goes back to where it began.
func (c Conn) Aside(ctx context.Context, look func(Aside) error) error {
	tx, leave, err := c.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if _, err := tx.Exec(ctx, "SAVEPOINT "+asideSavepoint); err != nil {
		return err
	}
	if c.pool == nil {
		defer undo(ctx, tx, asideSavepoint)
	}
	return look(Aside{tx})
}

// enter begins a transaction on a pool, and returns what ends it.
func (c Conn) enter(ctx context.Context) (tx pgx.Tx, leave func(), err error) {
	if c.pool == nil {
		return c.tx, func() {}, nil
	}
	tx, err = c.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	// A rollback that fails leaves a broken connection, which the pool drops.
	return tx, func() { _ = tx.Rollback(ctx) }, err
}

// Try runs a query. What the server refuses spoils nothing for the next query; err is what ends them all.
func (a Aside) Try(ctx context.Context, query func(VerifyQueries) error) (refused, err error) {
	return a.try(ctx, query(New(a.tx)))
}

// Prepare has the server read and check a statement. It is prepared without a name, so that nothing is left of it on a
// connection that others get from a pooler.
func (a Aside) Prepare(ctx context.Context, sql string) (refused, err error) {
	_, err = a.tx.Prepare(ctx, "", sql)
	return a.try(ctx, err)
}

func (a Aside) try(ctx context.Context, answer error) (refused, err error) {
	var server *pgconn.PgError
	if !errors.As(answer, &server) {
		return nil, answer
	}
	if _, err := a.tx.Exec(ctx, "ROLLBACK TO SAVEPOINT "+asideSavepoint); err != nil {
		return nil, answer
	}
	return answer, nil
}

// Name is the name of one of the package's statements.
func Name(sql string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(sql, "-- name: "), " ")
	return name
}

// Statements are all that the package sends to the store's tables and for its locks, but for savepoints.
func Statements() []string {
	return []string{
		appendInput,
		chart,
		chartState,
		chartStateForShare,
		children,
		columnsFound,
		countExecutions,
		createExecution,
		createExecutionForShare,
		createRefusal,
		deletePosition,
		endExecution,
		execution,
		hasExecution,
		heldExecution,
		holdExecution,
		inputs,
		lockChartExclusive,
		lockChartExclusiveJoined,
		lockChartShared,
		lockChartsShared,
		lockExecution,
		lockInfo,
		position,
		probeLocks,
		restoreLockTimeout,
		restoreSettings,
		retireChart,
		saveChart,
		savePosition,
		savePositionForShare,
		session,
		setLockTimeout,
		stepExecution,
		tablesFound,
		takeProbeLocks,
		uniqueIndexesFound,
		unparkExecution,
	}
}
