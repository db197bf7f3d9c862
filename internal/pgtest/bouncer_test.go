package pgtest

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// throughBouncer is a client of a bouncer, in a mode that asks nothing of it.
func throughBouncer(t *testing.T, db *DB, via Option, opts ...Option) *pgx.Conn {
	t.Helper()
	return db.Conn(t, append(opts, via, ExecMode(pgx.QueryExecModeExec))...)
}

func backend(t *testing.T, conn querier) int {
	t.Helper()
	return answer[int](t, conn, "SELECT pg_backend_pid()")
}

func TestABouncerLendsOneConnectionToSeveralClients(t *testing.T) {
	t.Parallel()
	for _, mode := range []Pooling{TransactionPooling, StatementPooling} {
		db := New(t, "")
		via := db.Bouncer(t, mode)
		one, other := throughBouncer(t, db, via), throughBouncer(t, db, via)
		if first, second := backend(t, one), backend(t, other); first != second {
			t.Errorf("%s: got backends %d and %d, want the same", mode, first, second)
		}
	}
}

func TestATransactionThroughABouncerHoldsItsConnectionOrIsRefused(t *testing.T) {
	t.Parallel()
	for mode, want := range map[Pooling]string{TransactionPooling: "", StatementPooling: "08P01"} {
		db := New(t, "")
		via := db.Bouncer(t, mode)
		conn := throughBouncer(t, db, via)
		tx, err := conn.Begin(t.Context())
		var refused *pgconn.PgError
		if errors.As(err, &refused); (err != nil) != (want != "") || refused != nil && refused.Code != want {
			t.Fatalf("%s: begin answered %v, want %q", mode, err, want)
		}
		if err != nil {
			continue
		}
		if mine, others := backend(t, tx), backend(t, throughBouncer(t, db, via)); mine == others {
			t.Errorf("%s: another client is in the transaction's backend", mode)
		}
	}
}

func TestRolesGoThroughABouncerWithTheirOwnSettings(t *testing.T) {
	t.Parallel()
	db := New(t, "")
	role := db.Role(t, "ALTER ROLE %s SET lock_timeout = '7s'")
	conn := throughBouncer(t, db, db.Bouncer(t, TransactionPooling, role), As(role), Setting("TimeZone", "Asia/Tokyo"))
	got := answer[string](t, conn, "SELECT concat_ws(', ', current_user, current_setting('lock_timeout'), current_setting('TimeZone'))")
	if want := role + ", 7s, Asia/Tokyo"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestABouncerIsGoneAfterTheTest(t *testing.T) {
	t.Parallel()
	var folder string
	t.Run("test", func(t *testing.T) {
		config := &pgxpool.Config{ConnConfig: &pgx.ConnConfig{}}
		New(t, "").Bouncer(t, TransactionPooling)(config)
		folder = config.ConnConfig.Host
		if _, err := os.Stat(folder); err != nil {
			t.Error(err)
		}
	})
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the bouncer's folder: got %v, want it removed", err)
	}
}

func TestBouncerThatDoesNotStartShowsItsLog(t *testing.T) {
	t.Parallel()
	if _, err := startBouncer("[pgbouncer]\npool_mode = none", ""); err == nil || !strings.Contains(err.Error(), "pool_mode") {
		t.Errorf("got %v, want the bouncer's complaint about pool_mode", err)
	}
}

func TestMachineWithoutABouncerIsToldWhatToDo(t *testing.T) {
	if _, err := findBouncer("/nowhere/pgbouncer"); err == nil || !strings.Contains(err.Error(), "apt-get install pgbouncer") {
		t.Errorf("got %v, want what to install", err)
	}
}

func TestUsersOfABouncerAreQuoted(t *testing.T) {
	if got, want := bouncerQuote(`it's "me"`), `"it's ""me"""`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
