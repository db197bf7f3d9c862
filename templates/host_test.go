package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// The tests of this package run here, on the default config, and once more for every other host that the
// matrix generates. So they know neither leading columns nor ids nor table names, but find them.

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// A host is a database with the store's tables, and helpers that know them.
type host struct {
	*pgtest.DB
	charts, positions, executions, inputs string // as SQL writes them
}

func newHost(t testing.TB) *host { return newHostBy(t, store.Schema) }

// newHostBy makes the database by SQL that Schema is part of.
func newHostBy(t testing.TB, sql string) *host {
	created := regexp.MustCompile(`(?m)^CREATE TABLE (.*) \($`).FindAllStringSubmatch(store.Schema, -1)
	if len(created) != 4 {
		t.Fatalf("Schema creates %d tables, want 4", len(created))
	}
	return &host{
		DB:     pgtest.New(t, sql),
		charts: created[0][1], positions: created[1][1], executions: created[2][1], inputs: created[3][1],
	}
}

func (h *host) store(t testing.TB, opts ...pgtest.Option) *store.Store {
	return store.New(h.Pool(t, opts...))
}

// begin opens a transaction on a connection of its own and returns the store in it.
func (h *host) begin(t testing.TB, level string, opts ...pgtest.Option) (*store.Store, pgx.Tx) {
	t.Helper()
	tx, err := h.Conn(t, opts...).BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.TxIsoLevel(level)})
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	return store.New(nil).WithTx(tx), tx
}

func pid(tx pgx.Tx) uint32 { return tx.Conn().PgConn().PID() }

// query reads one value as the superuser.
func query[T any](t testing.TB, h *host, sql string, args ...any) T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), h.URL())
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer conn.Close(context.Background())
	var value T
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

var serial atomic.Int64

func newHash() string {
	return fmt.Sprintf("sha256:%064x", serial.Add(1))
}

func newChart(hash string) store.Chart {
	return store.Chart{Leading: leading("eu"), ContentHash: hash, IdentityBlob: []byte{0, 255}, ChartBlob: []byte("<scxml/>")}
}

func newExecution(hash string) store.NewExecution {
	return store.NewExecution{
		Leading:     leading("eu"),
		ExecutionID: fmt.Sprintf("execution %d", serial.Add(1)), ContentHash: hash,
		IdentityBlob: []byte{0, 255}, PositionBlob: []byte{1}, Metadata: []byte(`{"amount": 100}`),
	}
}

func newPosition(hash string) store.Position {
	return store.Position{
		Leading:   leading("eu"),
		SessionID: fmt.Sprintf("session %d", serial.Add(1)), ContentHash: hash, IdentityBlob: []byte{0, 255}, PositionBlob: []byte{1},
	}
}

func newInput() store.Input { return store.Input{Door: store.DoorStep, InputBlob: []byte{0, 255}} }

// newChild is the only child of an invocation, on the same chart as its linkage names.
func newChild(parent, hash string) store.NewExecution {
	e := newExecution(hash)
	e.Linkage = &store.Linkage{ParentExecutionID: parent, InvokeID: "call", ContentHash: hash}
	e.ExecutionID = e.Linkage.ChildID()
	return e
}

// stepTo is a step that makes the same of every execution.
func stepTo(made store.Step) func(context.Context, store.Storage, store.Execution) (store.Step, error) {
	return func(context.Context, store.Storage, store.Execution) (store.Step, error) { return made, nil }
}

// createBy creates an execution through a function.
func createBy(ctx context.Context, s store.Storage, e store.NewExecution) (store.Execution, error) {
	ref := store.ExecutionRef{ExecutionID: e.ExecutionID, ContentHash: e.ContentHash, Linkage: e.Linkage}
	return s.CreateExecutionFunc(ctx, ref, func(context.Context, store.Storage) (store.NewExecution, error) { return e, nil })
}

func mustSave(t testing.TB, s *store.Store) string {
	t.Helper()
	hash := newHash()
	must(t, s.SaveChart(t.Context(), newChart(hash)))
	return hash
}

func mustCreate(t testing.TB, s *store.Store, hash string) store.Execution {
	t.Helper()
	e, err := s.CreateExecution(t.Context(), newExecution(hash))
	must(t, err)
	return e
}

func mustRetire(t testing.TB, s *store.Store, hash string) store.Retirement {
	t.Helper()
	r, err := s.RetireChart(t.Context(), hash, by("ops"))
	must(t, err)
	return r
}

func by(who string) store.RetireOptions { return store.RetireOptions{By: who} }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantAs fails unless err is an E, and returns it.
func wantAs[E error](t testing.TB, err error) E {
	t.Helper()
	var e E
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want a %T", err, e)
	}
	return e
}

func wantIs(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got error %v, want %v", err, target)
	}
}

func sqlState(err error) string {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		return server.Code
	}
	return ""
}

// plantExecutions writes executions as they may be there, whatever verbs there are to write them.
func (h *host) plantExecutions(t testing.TB, hash, status string, n int) {
	t.Helper()
	columns, values := h.required(t, h.executions)
	h.Exec(t, `INSERT INTO `+h.executions+` (`+columns+` execution_id, status, content_hash, identity_blob, inserted_at, updated_at)
		SELECT `+values+` gen_random_uuid(), $2::text, $1, '', now(), now() FROM generate_series(1, $3::int)`, hash, status, n)
}

// plantPositions writes positions as sessions would, for their verbs come later.
func (h *host) plantPositions(t testing.TB, hash string, n int) {
	t.Helper()
	columns, values := h.required(t, h.positions)
	h.Exec(t, `INSERT INTO `+h.positions+` (`+columns+` session_id, content_hash, identity_blob, position_blob, inserted_at, updated_at)
		SELECT `+values+` gen_random_uuid(), $1, '', '', now(), now() FROM generate_series(1, $2::int)`, hash, n)
}

// plantLinkage makes an execution the child of another, pinning the chart.
func (h *host) plantLinkage(t testing.TB, child, parent, hash string) {
	t.Helper()
	h.Exec(t, `UPDATE `+h.executions+` SET metadata = jsonb_build_object('statifier_persistence', jsonb_build_object(
		'parent_execution_id', $2::text, 'invoke_id', 'call', 'child_index', 0, 'content_hash', $3::text))
		WHERE execution_id = $1`, child, parent, hash)
}

// optional says of each leading column whether it may be left out.
func (h *host) optional(t testing.TB) []bool {
	t.Helper()
	return query[[]bool](t, h, `SELECT coalesce(array_agg(NOT attnotnull OR atthasdef ORDER BY attnum), '{}')
		FROM pg_attribute WHERE attrelid = $1::regclass AND attnum BETWEEN 2 AND 1 + $2`, h.executions, reflect.TypeFor[store.Leading]().NumField())
}

// required lists the columns that an INSERT must name, beside those that every host has, with values.
func (h *host) required(t testing.TB, table string) (columns, values string) {
	t.Helper()
	columns = query[string](t, h, `SELECT coalesce(string_agg(quote_ident(attname) || ', ', '' ORDER BY attnum), '') `+requiredColumns, table)
	values = query[string](t, h, `SELECT coalesce(string_agg(CASE type
		WHEN 'text' THEN 'gen_random_uuid()::text'
		WHEN 'uuid' THEN 'gen_random_uuid()'
		ELSE quote_literal(CASE WHEN type LIKE '%[]' OR type = 'jsonb' THEN '{}' WHEN type LIKE 'timestamp%' OR type = 'date' THEN '2024-01-01' ELSE '1' END) || '::' || type
		END || ', ', '' ORDER BY attnum), '') FROM (SELECT attnum, format_type(atttypid, NULL) AS type `+requiredColumns+`) AS c`, table)
	return columns, values
}

const requiredColumns = `FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND attnotnull AND NOT atthasdef
	AND attname NOT IN ('session_id', 'content_hash', 'identity_blob', 'position_blob', 'inserted_at', 'updated_at',
		'execution_id', 'status')`

// stranded counts what must never be: retired charts that something still needs.
func (h *host) stranded(t testing.TB) int {
	t.Helper()
	return query[int](t, h, strings.NewReplacer("CHARTS", h.charts, "EXECUTIONS", h.executions, "POSITIONS", h.positions).Replace(`
		SELECT count(*) FROM CHARTS c WHERE c.retired_at IS NOT NULL AND (
			EXISTS (SELECT FROM EXECUTIONS e WHERE e.content_hash = c.content_hash AND e.status IN ('active', 'needs_migration'))
			OR EXISTS (SELECT FROM POSITIONS p WHERE p.content_hash = c.content_hash)
			OR EXISTS (SELECT FROM EXECUTIONS k
				JOIN EXECUTIONS p ON p.execution_id = k.metadata -> 'statifier_persistence' ->> 'parent_execution_id'
				WHERE k.metadata -> 'statifier_persistence' ->> 'content_hash' = c.content_hash
					AND p.status IN ('active', 'needs_migration')))`))
}
