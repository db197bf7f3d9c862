package pgtest

import (
	"net"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	lockSQL   = "SELECT pg_advisory_xact_lock($1::bigint)"
	insertSQL = "INSERT INTO a (x, y) VALUES ($1, $2)"
	schemaSQL = "CREATE TABLE a (x bigint, y text)"
)

// sendBatch sends both statements in one batch and reads the results.
func sendBatch(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	batch := &pgx.Batch{}
	batch.Queue(lockSQL, 7)
	batch.Queue(insertSQL, 1, nil)
	if err := pool.SendBatch(t.Context(), batch).Close(); err != nil {
		t.Fatal(err)
	}
}

func texts(statements []Statement) []string {
	var sql []string
	for _, s := range statements {
		sql = append(sql, s.SQL)
	}
	return sql
}

func TestBatchIsRecordedInTheOrderSentWithItsTrips(t *testing.T) {
	t.Parallel()
	extended := []string{lockSQL, insertSQL}
	simple := []string{"SELECT pg_advisory_xact_lock( '7' ::bigint)\n;INSERT INTO a (x, y) VALUES ( '1' ,  null )"}
	for _, c := range []struct {
		mode          pgx.QueryExecMode
		want          []string
		first, second int // trips
	}{
		{pgx.QueryExecModeCacheStatement, extended, 2, 1},
		{pgx.QueryExecModeCacheDescribe, extended, 2, 1},
		{pgx.QueryExecModeDescribeExec, extended, 2, 2},
		{pgx.QueryExecModeExec, extended, 1, 1},
		{pgx.QueryExecModeSimpleProtocol, simple, 1, 1},
	} {
		t.Run(c.mode.String(), func(t *testing.T) {
			t.Parallel()
			w := &Wire{}
			pool := New(t, schemaSQL).Pool(t, Record(w), ExecMode(c.mode), MaxConns(1))
			for use, trips := range []int{c.first, c.second} {
				w.Reset()
				sendBatch(t, pool)
				if diff := cmp.Diff(c.want, texts(w.Statements())); diff != "" {
					t.Errorf("use %d, statements (-want +got):\n%s", use+1, diff)
				}
				if got := w.Trips(); got != trips {
					t.Errorf("use %d: got %d trips, want %d", use+1, got, trips)
				}
				for _, s := range w.Statements() {
					if s.Trip != trips {
						t.Errorf("use %d: got %q in trip %d, want all in the last one, %d", use+1, s.SQL, s.Trip, trips)
					}
				}
			}
		})
	}
}

func TestArgumentsAreRecordedAsTheyWereSent(t *testing.T) {
	t.Parallel()
	w := &Wire{}
	pool := New(t, schemaSQL).Pool(t, Record(w))
	if _, err := pool.Exec(t.Context(), insertSQL, 258, "word"); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), insertSQL, nil, ""); err != nil {
		t.Fatal(err)
	}
	want := []Statement{
		{SQL: insertSQL, Args: [][]byte{{0, 0, 0, 0, 0, 0, 1, 2}, []byte("word")}, ArgFormats: []int16{1, 0}, Trip: 2},
		{SQL: insertSQL, Args: [][]byte{nil, {}}, ArgFormats: []int16{1, 0}, Trip: 3},
	}
	if diff := cmp.Diff(want, w.Statements()); diff != "" {
		t.Errorf("statements (-want +got):\n%s", diff)
	}
}

func TestTransactionIsRecordedWithItsFrame(t *testing.T) {
	t.Parallel()
	w := &Wire{}
	pool := New(t, schemaSQL).Pool(t, Record(w))
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "TABLE a")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []Statement{{SQL: "begin", Trip: 1}, {SQL: "TABLE a", Trip: 2}, {SQL: "commit", Trip: 3}}
	if diff := cmp.Diff(want, w.Statements()); diff != "" {
		t.Errorf("statements (-want +got):\n%s", diff)
	}
}

func TestCopyIsOneStatement(t *testing.T) {
	t.Parallel()
	w := &Wire{}
	pool := New(t, schemaSQL).Pool(t, Record(w))
	rows := pgx.CopyFromRows([][]any{{int64(1), "one"}, {int64(2), "two"}})
	if _, err := pool.CopyFrom(t.Context(), pgx.Identifier{"a"}, []string{"x", "y"}, rows); err != nil {
		t.Fatal(err)
	}
	if got := w.Statements(); len(got) != 1 || w.Trips() != 2 {
		t.Errorf("got %v in %d trips, want one statement, after a trip that describes the columns", got, w.Trips())
	}
}

func TestStatementIsRecordedWhileItWaits(t *testing.T) {
	t.Parallel()
	db, w := New(t, ""), &Wire{}
	holder, waiter := db.Conn(t), db.Conn(t, Record(w), ExecMode(pgx.QueryExecModeExec))
	answer[any](t, holder, "SELECT pg_advisory_lock(7)")
	done := make(chan error)
	go func() {
		_, err := waiter.Exec(t.Context(), lockSQL, 7)
		done <- err
	}()
	db.AwaitBlocked(t, waiter.PgConn().PID())
	if got := texts(w.Statements()); !slices.Equal(got, []string{lockSQL}) {
		t.Errorf("got %q, want the waiting statement", got)
	}
	answer[any](t, holder, "SELECT pg_advisory_unlock(7)")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRecordedPoolSendsNoPings(t *testing.T) {
	t.Parallel()
	config := New(t, "").Config(t, Record(&Wire{}))
	if config.ShouldPing(t.Context(), pgxpool.ShouldPingParams{IdleDuration: time.Hour}) {
		t.Error("a connection that lay idle for an hour would be pinged")
	}
}

// sink is a connection that accepts everything.
type sink struct{ net.Conn }

func (sink) Write(p []byte) (int, error) { return len(p), nil }

// recorded connects to nowhere.
func recorded(t *testing.T, w *Wire) net.Conn {
	t.Helper()
	config := &pgxpool.Config{ConnConfig: &pgx.ConnConfig{}}
	Record(w)(config)
	conn, err := config.ConnConfig.AfterNetConnect(t.Context(), nil, sink{})
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// encode is the bytes of some messages.
func encode(t *testing.T, messages ...pgproto3.FrontendMessage) []byte {
	t.Helper()
	var encoded []byte
	for _, m := range messages {
		var err error
		if encoded, err = m.Encode(encoded); err != nil {
			t.Fatal(err)
		}
	}
	return encoded
}

func startup() pgproto3.FrontendMessage {
	return &pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "u"}}
}

func TestMessagesInPiecesAreRecorded(t *testing.T) {
	w := &Wire{}
	conn := recorded(t, w)
	sent := encode(
		t, startup(), &pgproto3.PasswordMessage{Password: "secret"},
		&pgproto3.Parse{Name: "s", Query: "SELECT $1"},
		&pgproto3.Bind{PreparedStatement: "s", Parameters: [][]byte{[]byte("1")}}, &pgproto3.Execute{}, &pgproto3.Sync{},
	)
	for i := range sent {
		if n, err := conn.Write(sent[i : i+1]); n != 1 || err != nil {
			t.Fatalf("got %d, %v from a write of one byte", n, err)
		}
	}
	clear(sent) // what was recorded must not lie in the client's buffer
	want := []Statement{{SQL: "SELECT $1", Args: [][]byte{[]byte("1")}, Trip: 1}}
	if diff := cmp.Diff(want, w.Statements()); diff != "" {
		t.Errorf("statements (-want +got):\n%s", diff)
	}
}

func TestTripsOfTwoConnectionsAreToldApart(t *testing.T) {
	w := &Wire{}
	one, other := recorded(t, w), recorded(t, w)
	execute := func(name string) []byte {
		return encode(t, &pgproto3.Parse{Query: name}, &pgproto3.Bind{}, &pgproto3.Execute{})
	}
	for _, step := range []struct {
		conn net.Conn
		sent []byte
	}{
		{one, encode(t, startup())},
		{other, encode(t, startup())},
		{one, execute("one")},
		{other, execute("other")},
		{one, execute("one again")},
		{one, encode(t, &pgproto3.Sync{})},
		{other, encode(t, &pgproto3.Sync{})},
	} {
		if _, err := step.conn.Write(step.sent); err != nil {
			t.Fatal(err)
		}
	}
	want := []Statement{{SQL: "one", Trip: 1}, {SQL: "other", Trip: 2}, {SQL: "one again", Trip: 1}}
	if diff := cmp.Diff(want, w.Statements()); diff != "" || w.Trips() != 2 {
		t.Errorf("%d trips, want 2, statements (-want +got):\n%s", w.Trips(), diff)
	}
}

func TestMalformedMessageIsAnErrorOfTheWrite(t *testing.T) {
	conn := recorded(t, &Wire{})
	if _, err := conn.Write(encode(t, startup())); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte{'B', 0, 0, 0, 5, 1}); err == nil {
		t.Error("got no error for a Bind message that ends early")
	}
}
