package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Conn is where a store's statements go: a pool, or a transaction. The zero Conn goes nowhere.
type Conn struct {
	pool *pgxpool.Pool
	tx   pgx.Tx
	host bool
	own  *OwnTx

	serialized bool          // the host keeps two verbs off one execution: no execution's lock is taken
	acquire    time.Duration // how long to wait for a connection of the pool; 0 leaves it to the context
}

// OnPool sends every batch on a connection of its own, as one implicit transaction.
func OnPool(pool *pgxpool.Pool) Conn { return Conn{pool: pool} }

// OnHostTx joins a transaction that the host opened and will end. Locks taken there last to its end, and it
// may hold locks of its own.
func OnHostTx(tx pgx.Tx) Conn { return Conn{tx: tx, host: true} }

// Pool returns the pool, or nil in a transaction.
func (c Conn) Pool() *pgxpool.Pool { return c.pool }

// Tx returns the transaction, or nil on a pool.
func (c Conn) Tx() pgx.Tx {
	if c.own != nil {
		return c.own.tx
	}
	return c.tx
}

// Shares says whether two of them are one connection, in a transaction.
func (c Conn) Shares(other Conn) bool {
	return c.Tx() != nil && other.Tx() != nil && c.Tx().Conn() == other.Tx().Conn()
}

// InHostTx says whether a host's transaction goes on after the verb.
func (c Conn) InHostTx() bool { return c.host }

// Serialized says whether the host itself keeps two verbs off one execution.
func (c Conn) Serialized(yes bool) Conn {
	c.serialized = yes
	return c
}

// Acquire bounds the wait for a connection of the pool.
func (c Conn) Acquire(bound time.Duration) Conn {
	c.acquire = bound
	return c
}

// NoConnectionError says that the pool had no connection in time.
type NoConnectionError struct{ Bound time.Duration }

func (e *NoConnectionError) Error() string {
	return "the pool had no connection within " + e.Bound.String()
}

func (c Conn) connection(ctx context.Context) (*pgxpool.Conn, error) {
	bounded := ctx
	if c.acquire > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, c.acquire)
		defer cancel()
	}
	conn, err := c.pool.Acquire(bounded)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() == nil && bounded.Err() != nil:
		err = &NoConnectionError{c.acquire}
	}
	return nil, NotSentError{err}
}

// send sends a batch. The connection of a pool is taken here and not by the pool's own SendBatch, so that
// failing to get one is told apart from a failure after which nobody knows what was done.
func (c Conn) send(ctx context.Context, b *pgx.Batch) (*exchange, error) {
	switch {
	case c.own != nil:
		return c.own.send(ctx, b)
	case c.pool == nil:
		return &exchange{results: c.tx.SendBatch(ctx, b)}, nil
	}
	conn, err := c.connection(ctx)
	if err != nil {
		return nil, err
	}
	return &exchange{results: conn.SendBatch(ctx, b), conn: conn}, nil
}

// exchange is a batch that was sent and whose results are being read.
type exchange struct {
	results pgx.BatchResults
	conn    *pgxpool.Conn // nil in a transaction
	begun   bool          // the first statement was carried out
}

// close reads what is left and returns the first error that nobody has seen. Only after a nil from here has
// the server said that it committed: an error at commit arrives behind all results.
func (x *exchange) close() error {
	err := x.results.Close()
	if x.conn != nil {
		x.conn.Release()
	}
	return err
}

// NotSentError is a failure before the first byte went out.
type NotSentError struct{ err error }

func (e NotSentError) Error() string { return e.err.Error() }

func (e NotSentError) Unwrap() error { return e.err }

// SafeToRetry is what pgconn.SafeToRetry asks.
func (e NotSentError) SafeToRetry() bool { return true }
