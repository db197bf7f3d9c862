package store

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/statigen/statigen/templates/internal/db"
)

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
	var starved *db.NoConnectionError
	switch {
	case err == nil:
		return nil
	case serverCode(err) == codeLockNotAvailable, errors.As(err, &starved):
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
	return !notSent(err) && !errors.Is(err, pgx.ErrTxCommitRollback)
}

// notSent says whether not one byte went out. Of a connection that it finds closed pgx says so as well. But it may have
// closed it itself when the answer failed to come, to a commit or to a batch in the simple protocol: that is what it
// reports then, and not why it did. So of a closed connection only what the pool had to say counts.
func notSent(err error) bool {
	if errors.Is(err, pgconn.ErrConnClosed) {
		return errors.As(err, new(db.NotSentError))
	}
	return pgconn.SafeToRetry(err)
}

// wantsReadCommitted says whether another isolation level than READ COMMITTED stood in the verb's way.
func wantsReadCommitted(err error) bool {
	var level *IsolationError
	return errors.As(err, &level) || serverCode(err) == codeSerialization
}
