package faults

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// call is the arguments of one call, which no other call has. All are of the same length, so that conversations are too.
type call struct {
	hash, execution, by string
	row                 store.RowID
}

func newCall(serial int) call {
	return call{
		hash: fmt.Sprintf("sha256:%06d", serial), execution: fmt.Sprintf("e%06d", serial), by: fmt.Sprintf("ops%06d", serial),
		row: store.NewRowID(),
	}
}

// verb is what is interrupted.
type verb struct {
	name    string
	prepare func(ctx context.Context, s *store.Store, c call) error
	do      func(ctx context.Context, s *store.Store, c call) error
	there   string // SQL that asks whether this call, and no other, was carried out: with its hash, execution, row and by
	own     func(err error, c call) bool
}

var create = verb{
	name:    "create",
	prepare: save,
	do: func(ctx context.Context, s *store.Store, c call) error {
		_, err := s.CreateExecution(ctx, store.NewExecution{
			RowID: c.row, ExecutionID: c.execution, ContentHash: c.hash, IdentityBlob: []byte{1}, PositionBlob: []byte{2},
		})
		return err
	},
	there: `SELECT EXISTS (SELECT FROM statifier_executions
		WHERE content_hash = @hash AND execution_id = @execution AND id = @row AND status = 'active')`,
	own: func(err error, c call) bool {
		var exists *store.ExecutionExistsError
		return errors.As(err, &exists) && exists.RowID == c.row
	},
}

var retire = verb{
	name:    "retire",
	prepare: save,
	do: func(ctx context.Context, s *store.Store, c call) error {
		_, err := s.RetireChart(ctx, c.hash, store.RetireOptions{By: c.by})
		return err
	},
	there: `SELECT EXISTS (SELECT FROM statifier_charts
		WHERE content_hash = @hash AND retired_by = @by AND retired_at IS NOT NULL AND chart_blob IS NULL AND identity_blob IS NULL)`,
	own: func(err error, c call) bool {
		var retired *store.ChartRetiredError
		return errors.As(err, &retired) && retired.RetiredBy == c.by
	},
}

func save(ctx context.Context, s *store.Store, c call) error {
	return s.SaveChart(ctx, store.Chart{ContentHash: c.hash, IdentityBlob: []byte{1}, ChartBlob: []byte{2}})
}

// told is what a caller was told, in a word.
type told string

const (
	done    told = "done"
	failed  told = "failed" // nothing was done
	unknown told = "unknown"
)

// tell reads a verb's answer on a pool.
func tell(err error) told {
	switch {
	case err == nil:
		return done
	case errors.Is(err, store.ErrOutcomeUnknown):
		return unknown
	}
	return failed
}

// tellCommit reads the error of a host's own commit. What pgx says of a closed connection, that nothing was sent, is not so:
// it closes the connection when the answer does not come, and reports that it found it closed.
func tellCommit(err error) told {
	var server *pgconn.PgError
	switch {
	case err == nil:
		return done
	case errors.Is(err, pgconn.ErrConnClosed):
		return unknown
	case pgconn.SafeToRetry(err), errors.As(err, &server) && server.SeverityUnlocalized == "ERROR":
		return failed
	}
	return unknown
}

// class is what a caller was told, and whether it was done.
type class struct {
	told  told
	there bool
}

func (c class) String() string {
	return fmt.Sprintf("told %s, %s", c.told, map[bool]string{true: "there", false: "not there"}[c.there])
}

// wrong says that the caller was told what is not so.
func (c class) wrong() bool { return c.told == done && !c.there || c.told == failed && c.there }

// lab is a database that has no part in the fault.
type lab struct {
	*pgtest.DB
	pool  *pgxpool.Pool
	store *store.Store
}

func newLab(t *testing.T, db *pgtest.DB) *lab {
	t.Helper()
	pool := db.Pool(t, pgtest.Setting("synchronous_commit", "local")) // which waits for no standby
	return &lab{db, pool, store.New(pool)}
}

// there says whether the call was carried out.
func (l *lab) there(t *testing.T, v verb, c call) (there bool) {
	t.Helper()
	args := pgx.NamedArgs{"hash": c.hash, "execution": c.execution, "row": c.row, "by": c.by}
	if err := l.pool.QueryRow(t.Context(), v.there, args).Scan(&there); err != nil {
		t.Fatal(err)
	}
	return there
}

// awaitGone waits until a backend has ended: what it has not done by then it never does.
func (l *lab) awaitGone(t *testing.T, backend uint32) {
	t.Helper()
	pgtest.Await(t, fmt.Sprintf("backend %d to end", backend), func() (gone bool) {
		const sql = "SELECT NOT EXISTS (SELECT FROM pg_catalog.pg_stat_activity WHERE pid = $1)"
		if err := l.pool.QueryRow(t.Context(), sql, backend).Scan(&gone); err != nil {
			t.Fatal(err)
		}
		return gone
	})
}

// settle tries a call that was not told done once more: what was done says that it was this call's, and what was not is
// done now.
func (l *lab) settle(t *testing.T, v verb, c call, was class) {
	t.Helper()
	switch err := v.do(t.Context(), l.store, c); {
	case was.there && !v.own(err, c):
		t.Errorf("%s: the retry said %v, want that it was done before, by this call", was, err)
	case !was.there && err != nil:
		t.Errorf("%s: the retry said %v, want it done", was, err)
	case !l.there(t, v, c):
		t.Errorf("%s: not there after a retry", was)
	}
}

// decided says whether the store refused the call: it was answered, and has done nothing.
func decided(err error) bool {
	var (
		retired *store.ChartRetiredError
		pinned  *store.PinnedError
	)
	return errors.As(err, &retired) || errors.As(err, &pinned) || errors.Is(err, store.ErrChartNotFound)
}

// settleAmong settles a call that others compete with: what was not done may have become impossible.
func (l *lab) settleAmong(t *testing.T, k interrupted) {
	t.Helper()
	was := l.there(t, k.verb, k.call)
	err := k.do(t.Context(), l.store, k.call)
	if own := k.own(err, k.call); own != was || err != nil && !own && !decided(err) {
		t.Errorf("%s of %s, there %t: the retry said %v", k.name, k.hash, was, err)
	}
}

// nothingStranded looks for a live execution on a retired chart.
func (l *lab) nothingStranded(t *testing.T) {
	t.Helper()
	const sql = `SELECT count(*) FROM statifier_charts c JOIN statifier_executions e USING (content_hash)
		WHERE c.retired_at IS NOT NULL AND e.status IN ('active', 'needs_migration')`
	var stranded int
	if err := l.pool.QueryRow(t.Context(), sql).Scan(&stranded); err != nil {
		t.Fatal(err)
	}
	if stranded > 0 {
		t.Errorf("%d live executions are on retired charts", stranded)
	}
}
