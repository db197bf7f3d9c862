package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/templates/internal/db"
)

// Store is one set of tables. It holds no state but where its statements go and how long they may wait, so it
// is safe for concurrent use as far as the pool or the transaction is: a pool by everybody, a transaction by
// one goroutine at a time.
type Store struct {
	conn db.Conn
	wait db.Wait
}

// Option sets up a Store. No option changes the lock key.
type Option func(*Store)

// WithLockTimeout bounds every lock wait but a retirement's, which has a bound of its own: each wait for the
// chart's shared lock, for an execution's lock, and for a row lock in the same verb. A wait that reaches it
// fails with *LockTimeoutError. It is rounded up to whole milliseconds. Without it, or with zero, the bound is
// that of the context and of the session's own lock_timeout; negative is no bound whatever the session says.
func WithLockTimeout(d time.Duration) Option {
	return func(s *Store) { s.wait = db.Wait(d) }
}

// New returns the store on a pool: each verb is a transaction of its own, in most cases one implicit
// transaction of one round trip. It sends nothing. It takes a pool and not a connection, for a connection may
// be inside somebody's transaction.
func New(pool *pgxpool.Pool, opts ...Option) *Store {
	s := &Store{conn: db.OnPool(pool)}
	for _, opt := range opts {
		opt(s)
	}
	return s
}

// WithTx returns the store in a transaction of the host's: what its verbs write is written when the host
// commits, and the locks they take last until then. It sends nothing.
//
// What the store itself decides (a retired chart, a pinned one, an execution that exists, …) leaves the
// transaction usable. What the server raises (a serialization failure, a deadlock, a constraint of the host's,
// a lock timeout outside RetireChart) aborts it; a host that wants to go on wraps the call in tx.Begin.
//
// Several verbs in one transaction can deadlock with another such transaction. What avoids it: end executions
// first, then create, then retire; and within each, ascending by id or hash. Such an error is Retryable.
func (s *Store) WithTx(tx pgx.Tx) *Store {
	return &Store{conn: db.OnHostTx(tx), wait: s.wait}
}

// alone runs a verb on the pool and, should the pool's sessions default to another isolation level than READ
// COMMITTED and the verb come to grief over it, once more in a READ COMMITTED transaction of the store's own.
// In a host's transaction the level is the host's choice, and the answer stands.
func alone[T any](ctx context.Context, s *Store, op string, verb func(*Store) (T, error)) (T, error) {
	answer, err := verb(s)
	if s.conn.Pool() == nil || !wantsReadCommitted(err) {
		return answer, err
	}
	var none T
	tx, err := s.conn.Pool().BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return none, &opError{op, err} // nothing was asked yet, so nothing can have been done
	}
	// A rollback after a commit does nothing; one that fails leaves a broken connection, which the pool drops.
	defer func() { _ = tx.Rollback(ctx) }()
	if answer, err = verb(&Store{conn: db.OnOwnTx(tx), wait: s.wait}); err != nil {
		return none, err
	}
	if err := tx.Commit(ctx); err != nil {
		return none, s.failed(op, err)
	}
	return answer, nil
}

func wantsReadCommitted(err error) bool {
	var level *IsolationError
	return errors.As(err, &level) || serverCode(err) == codeSerialization
}

// failed words an error that came from pgx. On a pool it says whether the verb may have been carried out all
// the same; in a transaction the end of that transaction decides it.
func (s *Store) failed(op string, err error) error {
	if err != nil && s.conn.Pool() != nil && outcomeUnknown(err) {
		return &opError{op, &outcomeError{err}}
	}
	return s.failedRead(op, err)
}

// failedRead words the error of a call that would have written nothing, so that its outcome is no question.
func (s *Store) failedRead(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case serverCode(err) == codeLockNotAvailable:
		return &opError{op, &LockTimeoutError{Timeout: time.Duration(s.wait), Err: err}}
	}
	return &opError{op, err}
}

// outcomeUnknown says whether the server may have committed: something was sent, and no answer said that it
// was undone. An error of severity ERROR is such an answer; FATAL may come after a commit.
func outcomeUnknown(err error) bool {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		return server.SeverityUnlocalized != "ERROR"
	}
	return !pgconn.SafeToRetry(err) && !errors.Is(err, pgx.ErrTxCommitRollback)
}
