package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/templates/internal/db"
)

// Store is one set of tables. It holds no state but where its statements go and how long they may wait, so it
// is safe for concurrent use as far as the pool or the transaction is: a pool by everybody, a transaction by
// one goroutine at a time.
type Store struct {
	conn       db.Conn
	wait       db.Wait
	logCap     int64
	serializer Serializer
}

// Option sets up a Store. No option changes the lock key.
type Option func(*Store)

// WithLockTimeout bounds every lock wait but a retirement's, which has a bound of its own: each wait for the
// chart's shared lock, for an execution's lock, and for a row lock in the same verb. A wait that reaches it
// fails with *LockTimeoutError. It is rounded up to whole milliseconds. Without it, or with zero, the bound is
// that of the context and of the session's own lock_timeout; negative is no bound whatever the session says.
//
// When a connection sees a statement for the first time, pgx has the server prepare it in a round trip of its own.
// That waits for nobody but whoever has a table locked against reading (DDL, LOCK TABLE), and is bounded by the context
// and the session's own lock_timeout only.
func WithLockTimeout(d time.Duration) Option {
	return func(s *Store) { s.wait = db.Wait(d) }
}

// New returns the store on a pool: each verb is a transaction of its own, in most cases one implicit
// transaction of one round trip. It sends nothing. It takes a pool and not a connection, for a connection may
// be inside somebody's transaction.
//
// The pool may lead through PgBouncer in transaction mode, and in statement mode if its sessions default to READ
// COMMITTED. There pgx's default, QueryExecModeCacheStatement, wants PgBouncer 1.21 or newer; every other mode will do.
func New(pool *pgxpool.Pool, opts ...Option) *Store {
	s := &Store{}
	for _, opt := range opts {
		opt(s)
	}
	return s.on(db.OnPool(pool))
}

// WithTx returns the store in a transaction of the host's: what its verbs write is written when the host
// commits, and the locks they take last until then. It sends nothing.
//
// What the store itself decides (a retired chart, a pinned one, an execution that exists, …) leaves the
// transaction usable. What the server raises (a serialization failure, a deadlock, a constraint of the host's,
// a lock timeout outside RetireChart) aborts it; a host that wants to go on wraps the call in tx.Begin.
//
// Several verbs in one transaction can deadlock with another such transaction. What avoids it: end and create
// executions in the order of their ids, save and create on charts in the order of their hashes, and retire in a
// transaction of its own. Where that cannot be, the error is Retryable.
//
// If the host's Commit fails with anything but an error of the server's, the outcome is unknown. pgconn.SafeToRetry is no
// help: of a commit whose answer was lost pgx may report that the connection was closed, and call that safe.
func (s *Store) WithTx(tx pgx.Tx) *Store { return s.on(db.OnHostTx(tx)) }

// on is the store with its statements going elsewhere.
func (s *Store) on(conn db.Conn) *Store {
	other := *s
	other.conn = conn.Serialized(s.serializer != nil)
	return &other
}

// TxOf returns the transaction that a Storage is bound to, for rows of the host's own beside the store's: the one given to
// WithTx, or the one in which a verb runs the host's function. There is none on a pool.
func TxOf(s Storage) (pgx.Tx, bool) {
	bound, ok := s.(*Store)
	if !ok || bound.conn.Tx() == nil {
		return nil, false
	}
	return bound.conn.Tx(), true
}

// alone runs a verb on the pool and, should the pool's sessions default to another isolation level than READ
// COMMITTED and the verb come to grief over it, once more in a READ COMMITTED transaction of the store's own.
// In a host's transaction the level is the host's choice, and the answer stands.
func alone[T any](ctx context.Context, s *Store, op string, verb func(*Store) (T, error)) (T, error) {
	return twice(ctx, s, op, verb, s.failed)
}

// aloneReading is alone for a verb that writes nothing: not even a commit that fails leaves a doubt.
func aloneReading[T any](ctx context.Context, s *Store, op string, verb func(*Store) (T, error)) (T, error) {
	return twice(ctx, s, op, verb, s.failedRead)
}

// twice is a verb's first try and its second. failed words a commit that failed.
func twice[T any](ctx context.Context, s *Store, op string, verb func(*Store) (T, error), failed func(string, error) error) (T, error) {
	s = s.bounded(ctx)
	answer, err := verb(s)
	if s.conn.Pool() == nil || !wantsReadCommitted(err) {
		return answer, err
	}
	return inOwnTx(ctx, s, op, verb, failed)
}

// inOwnTx runs a verb in a READ COMMITTED transaction of the store's own, and commits if the verb answers no error.
func inOwnTx[T any](ctx context.Context, s *Store, op string, verb func(*Store) (T, error), failed func(string, error) error) (T, error) {
	var none T
	own := db.NewOwnTx(s.conn)
	defer own.End(ctx)
	answer, err := verb(s.on(own.Conn()))
	if err != nil {
		return none, err
	}
	if err := own.Commit(ctx); err != nil {
		return none, failed(op, err)
	}
	return answer, nil
}

// within runs a verb that takes several trips: in the host's transaction, or in one of the store's own.
func within[T any](ctx context.Context, s *Store, op string, verb func(*Store) (T, error)) (T, error) {
	if s.conn.Pool() == nil {
		return verb(s)
	}
	return inOwnTx(ctx, s.bounded(ctx), op, verb, s.failed)
}
