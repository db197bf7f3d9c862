package db

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// handle is a locked DBTX on a pool of one connection: whatever keeps it makes the next call hang, and the test
// fail in pgtest's own check.
func handle(t *testing.T) (*locked, *pgxpool.Pool) {
	pool := pgtest.New(t, "").Pool(t, pgtest.MaxConns(1))
	return &locked{conn: OnPool(pool), before: []step{takeShared("hash")}}, pool
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var server *pgconn.PgError
	if !errors.As(err, &server) || server.Code != code {
		t.Errorf("got error %v, want SQLSTATE %s", err, code)
	}
}

func TestARowThatNobodyScansHoldsNothing(t *testing.T) {
	l, pool := handle(t)
	l.QueryRow(t.Context(), "SELECT 1")
	if n := pool.Stat().TotalConns(); n != 0 {
		t.Errorf("%d connections opened, want none", n)
	}
}

func TestAHandleRunsItsStatementUnderTheLock(t *testing.T) {
	l, _ := handle(t)
	const held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND mode = 'ShareLock'"
	var n int
	must(t, l.QueryRow(t.Context(), held).Scan(&n))
	if n == 0 {
		t.Error("QueryRow ran without the lock")
	}
	rows, err := l.Query(t.Context(), held)
	must(t, err)
	many, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
	must(t, err)
	if many != n {
		t.Errorf("Query ran under %d locks, want %d", many, n)
	}
	tag, err := l.Exec(t.Context(), "DO $$ BEGIN ASSERT ("+held+") > 0; END $$")
	must(t, err)
	if tag.String() != "DO" {
		t.Errorf("Exec answered %q", tag)
	}
}

func TestRowsGiveTheConnectionBackHoweverTheyEnd(t *testing.T) {
	l, pool := handle(t)
	ctx := t.Context()
	rows, err := l.Query(ctx, "SELECT generate_series(1, 1000)")
	must(t, err)
	rows.Next()
	rows.Close() // abandoned
	rows.Close()
	must(t, rows.Err())
	if rows.Next() {
		t.Error("a row after Close")
	}

	rows, err = l.Query(ctx, "SELECT 1 / (3 - g) FROM generate_series(1, 1000) AS g")
	if err == nil {
		for rows.Next() {
			continue
		}
		err = rows.Err()
	}
	wantCode(t, err, "22012")
	_, err = l.Query(ctx, "SELECT nonsense")
	wantCode(t, err, "42703")
	_, err = l.Exec(ctx, "SELECT 1 / 0")
	wantCode(t, err, "22012")
	wantCode(t, l.QueryRow(ctx, "SELECT 1 / 0").Scan(new(int)), "22012")
	if err := l.QueryRow(ctx, "SELECT 1 WHERE false").Scan(new(int)); !errors.Is(err, pgx.ErrNoRows) {
		t.Errorf("no row answered %v", err)
	}
	if err := l.QueryRow(ctx, "SELECT 'abc'::text").Scan(new(int)); err == nil {
		t.Error("a text was scanned into an int")
	}
	bounded, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	must(t, pool.Ping(bounded))
}

// The constraint is checked at commit, behind every result: who looks at the results alone reports a row that
// does not exist.
func TestEveryWayToReadReportsAnErrorAtCommit(t *testing.T) {
	db := pgtest.New(t, `CREATE TABLE a (id int PRIMARY KEY);
		CREATE TABLE b (id int REFERENCES a DEFERRABLE INITIALLY DEFERRED)`)
	l := &locked{conn: OnPool(db.Pool(t, pgtest.MaxConns(1))), before: []step{takeShared("hash")}}
	const insert = "INSERT INTO b VALUES (1) RETURNING id"
	_, err := l.Exec(t.Context(), insert)
	wantCode(t, err, "23503")
	wantCode(t, l.QueryRow(t.Context(), insert).Scan(new(int)), "23503")
	wantCode(t, l.QueryRow(t.Context(), "WITH i AS (INSERT INTO b VALUES (1)) SELECT 1 WHERE false").Scan(new(int)), "23503")
	rows, err := l.Query(t.Context(), insert)
	must(t, err)
	for rows.Next() {
		continue
	}
	wantCode(t, rows.Err(), "23503")
	rows, err = l.Query(t.Context(), insert)
	must(t, err)
	rows.Close()
	wantCode(t, rows.Err(), "23503")
}

func TestAQueuedStatementOfManyRowsIsRefused(t *testing.T) {
	l, _ := handle(t)
	l.before = []step{func(ctx context.Context, q *Queries) error {
		rows, err := q.db.Query(ctx, "SELECT 1")
		if err == nil {
			rows.Close()
		}
		return err
	}}
	_, err := l.Exec(t.Context(), "SELECT 1")
	if err == nil || !strings.Contains(err.Error(), "cannot be queued") {
		t.Errorf("got error %v, want one that says that it cannot be queued", err)
	}
}

func TestAWaitIsRoundedUpToWholeMilliseconds(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		-1:                             "0",
		1:                              "1ms",
		time.Millisecond:               "1ms",
		time.Millisecond + 1:           "2ms",
		5 * time.Second:                "5000ms",
		time.Duration(1<<63 - 1):       "2147483647ms",
		(1<<31-1)*time.Millisecond + 1: "2147483647ms",
	} {
		if got := Wait(wait).setting(); got != want {
			t.Errorf("Wait(%d) = %s, want %s", wait, got, want)
		}
	}
}
