package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// answer is the one value that a query returns.
func answer[T any](t testing.TB, db querier, sql string, args ...any) T {
	t.Helper()
	var v T
	if err := db.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// databases counts the databases whose names begin so.
func databases(t testing.TB, d *DB, prefix string) int {
	t.Helper()
	return answer[int](t, d.server.admin, "SELECT count(*) FROM pg_database WHERE starts_with(datname, $1)", prefix)
}

// mustFailWith wants exactly one failure, which holds the text.
func mustFailWith(t *testing.T, failures []string, text string) {
	t.Helper()
	if len(failures) != 1 || !strings.Contains(failures[0], text) {
		t.Errorf("got failures %q, want one with %q", failures, text)
	}
}

func TestDatabasesOfTwoTestsAreApart(t *testing.T) {
	t.Parallel()
	one, other := New(t, ""), New(t, "")
	one.Exec(t, "CREATE TABLE here (x int)")
	if answer[bool](t, other.Conn(t), "SELECT to_regclass('here') IS NOT NULL") {
		t.Error("a table made in one database is seen in the other")
	}
	if got, want := answer[string](t, one.Conn(t), "SELECT current_database()"), one.Name(); got != want {
		t.Errorf("got a connection to %q, want %q", got, want)
	}
}

func TestSchemaIsAppliedOnceForEachText(t *testing.T) {
	t.Parallel()
	const schema = "CREATE TABLE made AS SELECT clock_timestamp() AS at;"
	made := func(schema string) time.Time {
		return answer[time.Time](t, New(t, schema).Conn(t), "SELECT at FROM made")
	}
	first := made(schema)
	if second := made(schema); !second.Equal(first) {
		t.Errorf("the schema was applied at %v and again at %v", first, second)
	}
	if made(schema + " -- another text").Equal(first) {
		t.Error("another schema text got the same template")
	}
}

func TestParallelTestsShareATemplate(t *testing.T) {
	t.Parallel()
	const schema = "CREATE TABLE parallel AS SELECT clock_timestamp() AS at;"
	var wait sync.WaitGroup
	made := make([]time.Time, 8)
	for i := range made {
		wait.Go(func() {
			failures := rehearse(t, func(t testing.TB) {
				made[i] = answer[time.Time](t, New(t, schema).Pool(t), "SELECT at FROM parallel")
			})
			if len(failures) > 0 {
				t.Error(failures)
			}
		})
	}
	wait.Wait()
	for _, at := range made {
		if !at.Equal(made[0]) || at.IsZero() {
			t.Errorf("the template was made at %v and at %v", made[0], at)
		}
	}
}

func TestFaultInTheSchemaFailsTheTest(t *testing.T) {
	db := New(t, "")
	before := databases(t, db, db.server.prefix+"_t")
	for range 2 {
		mustFailWith(t, rehearse(t, func(t testing.TB) { New(t, "CREATE TABLE oops (") }), "syntax error")
	}
	if after := databases(t, db, db.server.prefix+"_t"); after != before {
		t.Errorf("got %d templates, want %d as before", after, before)
	}
}

func TestDatabaseIsGoneAfterTheTest(t *testing.T) {
	t.Parallel()
	monitor := New(t, "")
	var name string
	failures := rehearse(t, func(rt testing.TB) {
		db := New(rt, "")
		name = db.Name()
		connectBesides(t, db)
	})
	if len(failures) > 0 {
		t.Errorf("got failures %q, want none", failures)
	}
	if name == "" || databases(t, monitor, name) != 0 {
		t.Errorf("database %q is still there", name)
	}
}

// connectBesides opens a connection that the DB knows nothing of.
func connectBesides(t testing.TB, db *DB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), db.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeConn(conn) })
	return conn
}

func TestNamesCarryCheckoutAndProcess(t *testing.T) {
	form := regexp.MustCompile(fmt.Sprintf(`^statigen_([0-9a-f]{8})_%d_[a-z0-9]{6}$`, os.Getpid()))
	here := form.FindStringSubmatch(namePrefix())
	t.Chdir(t.TempDir())
	elsewhere := form.FindStringSubmatch(namePrefix())
	if here == nil || elsewhere == nil || here[1] == elsewhere[1] {
		t.Errorf("got %q and, in another checkout, %q, want two that match %v", here, elsewhere, form)
	}
}

func TestAdvisoryLockLeftBehindFailsTheTest(t *testing.T) {
	t.Parallel()
	failures := rehearse(t, func(rt testing.TB) {
		db := New(rt, "")
		db.patience = 20 * pause
		answer[any](t, connectBesides(t, db), "SELECT pg_advisory_lock(7)")
	})
	mustFailWith(t, failures, "advisory locks are left at the test's end: [\"(0,7) ExclusiveLock")
}

func TestAdvisoryLockInAnIdleConnectionFailsTheTest(t *testing.T) {
	t.Parallel()
	failures := rehearse(t, func(t testing.TB) {
		answer[any](t, New(t, "").Pool(t), "SELECT pg_advisory_lock(7)")
	})
	mustFailWith(t, failures, "advisory locks are left in idle connections of a pool: [\"(0,7) ExclusiveLock")
}

func TestConnectionThatIsNotReleasedFailsTheTest(t *testing.T) {
	t.Parallel()
	failures := rehearse(t, func(rt testing.TB) {
		db := New(rt, "")
		db.patience = 20 * pause
		conn, err := db.Pool(rt).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Release)
	})
	mustFailWith(t, failures, "1 connections of a pool were not released")
}

func TestPoolAndConnectionAreClosedAfterTheTest(t *testing.T) {
	t.Parallel()
	db := New(t, "")
	var conn *pgx.Conn
	var pool *pgxpool.Pool
	failures := rehearse(t, func(rt testing.TB) {
		conn, pool = db.Conn(rt), db.Pool(rt)
		answer[any](t, conn, "SELECT pg_advisory_lock(7)") // held when the pool is closed, and no fault of the pool's
		answer[any](t, pool, "SELECT pg_advisory_xact_lock(8)")
	})
	if len(failures) > 0 {
		t.Errorf("got failures %q, want none", failures)
	}
	if !conn.IsClosed() {
		t.Error("the connection is open")
	}
	if err := pool.Ping(t.Context()); err == nil {
		t.Error("the pool is open")
	}
}

func TestOptionsReachTheSession(t *testing.T) {
	t.Parallel()
	db := New(t, "")
	role := db.Role(t)
	pool := db.Pool(t, Isolation("serializable"), Setting("TimeZone", "Africa/Lagos"), As(role),
		MaxConns(1), ExecMode(pgx.QueryExecModeExec))
	got := answer[string](t, pool, `SELECT concat_ws(', ', current_setting('transaction_isolation'),
		current_setting('TimeZone'), current_user)`)
	if want := "serializable, Africa/Lagos, " + role; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	config := pool.Config()
	if config.MaxConns != 1 || config.ConnConfig.DefaultQueryExecMode != pgx.QueryExecModeExec {
		t.Errorf("got %d connections and mode %v", config.MaxConns, config.ConnConfig.DefaultQueryExecMode)
	}
}

func TestRoleMayDoWhatItIsGrantedAndIsDropped(t *testing.T) {
	t.Parallel()
	db := New(t, "CREATE TABLE a (x int); CREATE TABLE b (x int)")
	var role string
	failures := rehearse(t, func(rt testing.TB) {
		role = db.Role(rt, "GRANT SELECT ON a TO %s", "CREATE SCHEMA own AUTHORIZATION %s")
		conn := db.Conn(rt, As(role))
		answer[int](t, conn, "SELECT count(*) FROM a")
		if _, err := conn.Exec(t.Context(), "SELECT FROM b"); err == nil {
			t.Error("the role reads a table without a grant")
		}
		if other := db.Role(rt); other == role {
			t.Errorf("two roles are called %q", role)
		}
	})
	if len(failures) > 0 {
		t.Errorf("got failures %q, want none", failures)
	}
	if answer[int](t, db.server.admin, "SELECT count(*) FROM pg_roles WHERE rolname = $1", role) != 0 {
		t.Errorf("role %q is still there", role)
	}
}

func TestRoleHasTheSuperusersPassword(t *testing.T) {
	t.Parallel()
	db := New(t, "")
	u := *db.server.url
	if _, ok := u.User.Password(); !ok { // the throwaway server asks for none, and takes any
		u.User = url.UserPassword(u.User.Username(), "it's")
	}
	secured := &DB{server: &server{url: &u, prefix: namePrefix()}, name: db.Name()}
	const sql = "SELECT rolpassword IS NOT NULL FROM pg_authid WHERE rolname = $1"
	if !answer[bool](t, db.server.admin, sql, secured.Role(t)) {
		t.Error("the role has no password")
	}
}

func TestPasswordIsQuoted(t *testing.T) {
	t.Parallel()
	for given, want := range map[*url.Userinfo]string{
		nil:                           "NULL",
		url.User("boss"):              "NULL",
		url.UserPassword("boss", "'"): "''''",
	} {
		db := &DB{server: &server{url: &url.URL{User: given}}}
		if got := db.passwordLiteral(); got != want {
			t.Errorf("%v: got %s, want %s", given, got, want)
		}
	}
}

func TestExecRunsSeveralStatementsOrOneWithArguments(t *testing.T) {
	t.Parallel()
	db := New(t, "")
	db.Exec(t, "CREATE TABLE a (x int); INSERT INTO a VALUES (1)")
	db.Exec(t, "INSERT INTO a VALUES ($1)", 2)
	if got := answer[int](t, db.Conn(t), "SELECT sum(x) FROM a"); got != 3 {
		t.Errorf("got a sum of %d, want 3", got)
	}
	mustFailWith(t, rehearse(t, func(t testing.TB) { db.Exec(t, "SELECT 1/0") }), "division by zero")
}

func TestBlockedBackendIsSeen(t *testing.T) {
	t.Parallel()
	db := New(t, "")
	holder, waiter := db.Conn(t), db.Conn(t)
	answer[any](t, holder, "SELECT pg_advisory_lock(7)")
	done := make(chan error)
	go func() {
		_, err := waiter.Exec(t.Context(), "SELECT pg_advisory_xact_lock(7)")
		done <- err
	}()
	db.AwaitBlocked(t, waiter.PgConn().PID())
	if db.Blocked(t, holder.PgConn().PID()) {
		t.Error("the backend that holds the lock is said to wait")
	}
	if got := db.AdvisoryLocks(t); got != 2 {
		t.Errorf("got %d advisory locks, want one held and one awaited", got)
	}
	answer[any](t, holder, "SELECT pg_advisory_unlock(7)")
	if err := <-done; err != nil {
		t.Error(err)
	}
	if db.Blocked(t, waiter.PgConn().PID()) || db.AdvisoryLocks(t) != 0 {
		t.Error("the lock is released, and somebody is said to wait or to hold it")
	}
}

func TestOtherLocksAndOtherDatabasesAreNoAdvisoryLocks(t *testing.T) {
	t.Parallel()
	db, other := New(t, "CREATE TABLE a (x int)"), New(t, "")
	answer[any](t, other.Conn(t), "SELECT pg_advisory_lock(7)")
	tx, err := db.Conn(t).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	answer[int](t, tx, "SELECT count(*) FROM a")
	if got := []int{db.AdvisoryLocks(t), other.AdvisoryLocks(t)}; !cmp.Equal(got, []int{0, 1}) {
		t.Errorf("got %v advisory locks, want [0 1]", got)
	}
}

func TestAwaitEndsWithTheConditionOrTheBound(t *testing.T) {
	t.Parallel()
	asked := 0
	Await(t, "three questions", func() bool { asked++; return asked == 3 })
	if asked != 3 {
		t.Errorf("got %d questions, want 3", asked)
	}
	failures := rehearse(t, func(t testing.TB) { await(t, 5*pause, "rain", func() bool { return false }) })
	mustFailWith(t, failures, "waited 10ms for rain")
}

func TestNewOutsideOfMainFailsTheTest(t *testing.T) {
	mustFailWith(t, rehearse(t, func(t testing.TB) { new(lazyServer).newDB(t, "") }), "pgtest.Main(m)")
}
