package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// FuzzArgumentsAreKeptOrRefusedUnsent gives any bytes to every verb, in each of pgx's exec modes, one call after the other: on a
// pool, or in a transaction that is rolled back. A verb refuses what is at fault in its own arguments, before it sends
// anything; what it takes reads back as it was. The server finds fault with nothing, and no lock is left.
func FuzzArgumentsAreKeptOrRefusedUnsent(f *testing.F) {
	h := newHost(f)
	var wire pgtest.Wire
	ways := append(transactions(f, h, &wire), pools(f, h, &wire)...)
	judge := h.Conn(f)
	for i, text := range uglyTexts() {
		other := uglyTexts()[(i+1)%len(uglyTexts())]
		f.Add(byte(i), int64(0), text, "loan 1", other, "", []byte(text), []byte(nil))
		f.Add(byte(i+1), int64(i), "sha256:1", text, "ops", other, []byte{0, 255}, []byte(`{"`+text+`": "`+other+`"}`))
	}
	for i, text := range uglyMetadata() {
		f.Add(byte(i), int64(-i), "sha256:1", "loan 1", "ops", "", []byte{}, []byte(text))
	}
	for _, wait := range []int64{math.MinInt64, -1, 1, 999_999, 1_000_000, math.MaxInt32 * 1_000_000, math.MaxInt32*1_000_000 + 1, math.MaxInt64} {
		f.Add(byte(wait), wait, "sha256:1", "loan 1", "ops", "", []byte{1}, []byte(nil))
	}
	f.Fuzz(func(t *testing.T, way byte, wait int64, hash, id, word, rowID string, blob, metadata []byte) {
		bound := time.Duration(wait)
		ways[int(way)%len(ways)](t, store.WithLockTimeout(bound), func(s *store.Store) {
			wire.Reset()
			calls{t, s, &wire, judge, bound, hash, id, word, rowID, blob, metadata}.life()
		})
		if n := h.AdvisoryLocks(t); n > 0 {
			t.Errorf("%d advisory locks are left", n)
		}
	})
}

// A useOfStore gives a test a store, and takes back what was done with it.
type useOfStore func(t *testing.T, opt store.Option, test func(*store.Store))

func transactions(f *testing.F, h *host, wire *pgtest.Wire) []useOfStore {
	f.Helper()
	var ways []useOfStore
	for _, mode := range execModes {
		conn := h.Conn(f, pgtest.ExecMode(mode), pgtest.Record(wire))
		ways = append(ways, func(t *testing.T, opt store.Option, test func(*store.Store)) {
			tx, err := conn.Begin(t.Context())
			must(t, err)
			defer func() { must(t, tx.Rollback(context.Background())) }()
			test(store.New(nil, opt).WithTx(tx))
			usable(t, tx)
		})
	}
	return ways
}

func pools(f *testing.F, h *host, wire *pgtest.Wire) []useOfStore {
	f.Helper()
	cleaner := h.Conn(f)
	var ways []useOfStore
	for _, mode := range execModes {
		pool := h.Pool(f, pgtest.ExecMode(mode), pgtest.Record(wire), pgtest.MaxConns(1))
		ways = append(ways, func(t *testing.T, opt store.Option, test func(*store.Store)) {
			defer func() {
				_, err := cleaner.Exec(context.Background(), "DELETE FROM "+h.charts+"; DELETE FROM "+h.executions+"; DELETE FROM "+h.inputs, pgx.QueryExecModeSimpleProtocol)
				must(t, err)
			}()
			test(store.New(pool, opt))
		})
	}
	return ways
}

// uglyTexts are hard on an encoding, on SQL, or on an index.
func uglyTexts() []string {
	return []string{
		"", "\x00", "a\x00b", "\xff", "a\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80", "\ufffd", "\ufeff", "\u202ea", "\U0010FFFF", "e\u0301", "日本",
		`'`, `''`, `\`, `\'`, `\\`, `\x00`, `\u0000`, `"`, `$1`, `$$`, `--`, `/*`, `*/`, `;`, `?`, `:a`, `@a`, `%s`, `{{charts}}`, `{`, `{}`, `NULL`, `null`,
		" ", " a ", "\n", "\r\n", "\t", "\x7f", "\x1b[31m", "<&>\u2028", "\b\f\x01", `'; DROP TABLE x; --`, "ten chars!", "eleven char",
		noise(2684), noise(2685), noise(2692), noise(2693), noise(20000), strings.Repeat("a", 100000),
	}
}

// noise is a text that nothing makes shorter.
func noise(n int) string {
	text := make([]byte, n)
	state := uint32(1)
	for i := range text {
		state = state*1664525 + 1013904223
		text[i] = '#' + byte(state>>24)%90
	}
	return string(text)
}

// uglyMetadata is JSON, nearly JSON, and JSON that jsonb does not take.
func uglyMetadata() []string {
	return []string{
		`[]`, `null`, `1`, `"a"`, ` {} `, `{} {}`, `{"a":`, `{"a":1,}`, `{'a':1}`, `{"a":1,"a":2}`, "{\"a\":\"\xff\"}", "{\"a\":\"\x00\"}", "{\"a\":\"\n\"}", "\ufeff{}",
		`{"a":"\u0000"}`, `{"\u0000":1}`, `{"a":"\\u0000"}`, `{"a":"\ud800"}`, `{"a":"\udc00\ud800"}`, `{"a":"\ud83d\ude00"}`, `{"a":"\uD83D\u0061"}`, `{"a":"\u"}`,
		`{"a":1e400000}`, `{"a":1e131072}`, `{"a":1e-16383}`, `{"a":1e-16384}`, `{"a":0e99999999999}`, `{"a":-0}`, `{"a":01}`, `{"a":1.}`, `{"a":NaN}`,
		`{"statifier_persistence":{}}`, `{"\u0073tatifier_persistence":1}`, `{"a":{"statifier_persistence":1}}`, `{"":1}`, `{"a":1.50}`, `{"\/":"\/"}`,
		`{"a":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`, `{"a":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + `}`,
		`{"` + noise(3000) + `":"` + strings.Repeat("a", 100000) + `"}`, strings.Repeat(`{"a":`, 500) + `{}` + strings.Repeat("}", 500),
	}
}

// storesAsMetadata is the server's judgement, and the reference's on its own key. What is deeper is no JSON to Go.
func (c calls) storesAsMetadata() bool {
	if c.metadata == nil || bytes.Count(c.metadata, []byte("[")) >= 10000 {
		return c.metadata == nil
	}
	var takes bool
	const sql = "SELECT jsonb_typeof($1::text::jsonb) = 'object' AND NOT $1::text::jsonb ? 'statifier_persistence'"
	err := c.judge.QueryRow(c.t.Context(), sql, string(c.metadata)).Scan(&takes)
	return err == nil && takes
}

// calls are those on one chart and one execution.
type calls struct {
	t                     *testing.T
	s                     *store.Store
	wire                  *pgtest.Wire
	judge                 *pgx.Conn
	wait                  time.Duration
	hash, id, word, rowID string
	blob, metadata        []byte
}

// What fits, in a second opinion. An index holds no more than a key.
func storable(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") }
func names(text string) bool    { return text != "" && storable(text) }
func isKey(text string) bool    { return names(text) && len(text) <= 2684 }

// life is that of a chart and an execution on it.
func (c calls) life() {
	c.t.Helper()
	c.leading()
	saved, made := c.save(), c.create()
	c.count(made)
	c.looksAtTheLock()
	c.position()
	c.log(made)
	if made {
		c.step()
		c.pins()
		c.end()
	} else {
		c.endsNothing()
	}
	c.retire(saved)
}

// answers calls a verb whose arguments are fit or not, and demands a refusal before anything is sent if they are not. The
// server must find nothing wrong with them, whatever they are.
func (c calls) answers(verb string, fit bool, err error) bool {
	c.t.Helper()
	trips := c.wire.Trips()
	c.wire.Reset()
	var invalid *store.InvalidError
	switch refused := errors.As(err, &invalid); {
	case sqlState(err) != "":
		c.t.Fatalf("%s: the server refuses what was sent: %v", verb, err)
	case refused == fit:
		c.t.Errorf("%s: answers %.500v; are its arguments fit to be stored? %t", verb, err, fit)
	case refused && trips != 0:
		c.t.Errorf("%s: refused after %d round trips: %.500v", verb, trips, err)
	}
	return fit
}

// equal demands that something reads as it was given.
func (c calls) equal(what string, want, got any) {
	c.t.Helper()
	if diff := unlike(want, got, cmp.Comparer(sameJSON)); diff != "" {
		c.t.Errorf("%s is another (-given +read):\n%.2000s", what, diff)
	}
}

// sameJSON passes over spelling, which is the server's: <, & and U+2028 are escapes to encoding/json.
func sameJSON(a, b json.RawMessage) bool {
	var one, other any
	if json.Unmarshal(a, &one) != nil || json.Unmarshal(b, &other) != nil {
		return bytes.Equal(a, b)
	}
	return reflect.DeepEqual(one, other)
}

// leading gives the host's columns any text. Whether they take it depends on the host's types, so it may be kept or refused.
func (c calls) leading() {
	c.t.Helper()
	chart := newChart(newHash())
	chart.Leading = leading(c.word)
	err := c.s.SaveChart(c.t.Context(), chart)
	if !c.answers("save with leading columns", err == nil, err) {
		return
	}
	read, err := c.s.Chart(c.t.Context(), chart.ContentHash)
	c.answers("read leading columns", true, err)
	c.equal("a leading column", chart.Leading, read.Leading)
}

func (c calls) save() (saved bool) {
	c.t.Helper()
	chart := newChart(c.hash)
	chart.IdentityBlob, chart.ChartBlob = c.blob, c.blob
	saved = c.answers("save", isKey(c.hash) && c.blob != nil, c.s.SaveChart(c.t.Context(), chart))
	read, err := c.s.Chart(c.t.Context(), c.hash)
	c.answers("read a chart", names(c.hash), err)
	if !saved {
		c.is("read a chart", names(c.hash), err, store.ErrChartNotFound)
		return false
	}
	chart.RowID, chart.InsertedAt, chart.UpdatedAt = read.RowID, read.InsertedAt, read.UpdatedAt
	c.equal("the chart", chart, read)
	return true
}

// is demands an answer from a verb whose arguments are fit.
func (c calls) is(verb string, fit bool, err, want error) {
	c.t.Helper()
	if fit && !errors.Is(err, want) {
		c.t.Errorf("%s: answers %.500v, want %v", verb, err, want)
	}
}

func (c calls) create() (made bool) {
	c.t.Helper()
	e := newExecution(c.hash)
	e.ExecutionID, e.IdentityBlob, e.PositionBlob, e.Metadata = c.id, c.blob, c.blob, c.metadata
	fit := giveRowID(&e.RowID, c.rowID) && isKey(c.hash) && isKey(c.id) && c.blob != nil && c.storesAsMetadata()
	created, err := c.s.CreateExecution(c.t.Context(), e)
	made = c.answers("create", fit, err)
	read, err := c.s.Execution(c.t.Context(), c.id)
	c.answers("read an execution", names(c.id), err)
	if !made {
		c.is("read an execution", names(c.id), err, store.ErrExecutionNotFound)
		return false
	}
	c.equal("the execution", created, read)
	c.kept(e, created)
	return true
}

// giveRowID gives the host's kind of row id, and says whether it is one.
func giveRowID(id any, text string) bool {
	switch id := id.(type) {
	case *string:
		*id = text
		return text == "" || isKey(text)
	case *pgtype.UUID:
		copy(id.Bytes[:], text)
		id.Valid = true
	case *int64:
		*id = int64(len(text))
		return text == ""
	}
	return true
}

func (c calls) kept(e store.NewExecution, created store.Execution) {
	c.t.Helper()
	want := created
	want.Leading, want.ExecutionID, want.ContentHash, want.Status = e.Leading, c.id, c.hash, store.Active
	want.IdentityBlob, want.PositionBlob, want.Failure = c.blob, c.blob, nil
	if e.RowID != (store.NewExecution{}).RowID {
		want.RowID = e.RowID
	}
	c.equal("what was created", want, created)
	var same bool
	must(c.t, c.judge.QueryRow(c.t.Context(), "SELECT $1::text::jsonb = $2::text::jsonb", metadataOf(c.metadata), string(created.Metadata)).Scan(&same))
	if !same {
		c.t.Errorf("metadata %.500q reads %.500q", c.metadata, created.Metadata)
	}
}

func metadataOf(given []byte) string {
	if given == nil {
		return "{}"
	}
	return string(given)
}

func (c calls) count(made bool) {
	c.t.Helper()
	counts, err := c.s.CountExecutions(c.t.Context(), c.hash)
	if c.answers("count", names(c.hash), err); counts.Active == 1 != made {
		c.t.Errorf("counted %+v, and an execution was created: %t", counts, made)
	}
}

func (c calls) looksAtTheLock() {
	c.t.Helper()
	info, err := c.s.LockInfo(c.t.Context(), c.hash)
	if !c.answers("look at the lock", names(c.hash), err) {
		return
	}
	texts := map[string][]string{"content_hash": {c.hash}, "store": {store.StoreString + " " + c.hash}, "both": {c.hash, store.StoreString + " " + c.hash}}
	var keys []int32
	const sql = "SELECT array_agg(DISTINCT hashtext(t) ORDER BY hashtext(t)) FROM unnest($1::text[]) AS t"
	must(c.t, c.judge.QueryRow(c.t.Context(), sql, texts[store.LockKey]).Scan(&keys))
	c.equal("the lock's key", keys, info.Keys)
}

// position saves one, reads it, and takes it away again, for it pins the chart.
func (c calls) position() {
	c.t.Helper()
	p := newPosition(c.hash)
	p.SessionID, p.IdentityBlob, p.PositionBlob = c.id, c.blob, c.blob
	saved := c.answers("save a position", isKey(c.hash) && isKey(c.id) && c.blob != nil, c.s.SavePosition(c.t.Context(), p))
	read, err := c.s.Position(c.t.Context(), c.id)
	c.answers("read a position", names(c.id), err)
	if saved {
		p.RowID, p.InsertedAt, p.UpdatedAt = read.RowID, read.InsertedAt, read.UpdatedAt
		c.equal("the position", p, read)
	} else {
		c.is("read a position", names(c.id), err, store.ErrPositionNotFound)
	}
	c.answers("delete a position", names(c.id), c.s.DeletePosition(c.t.Context(), c.id))
}

func (c calls) log(made bool) {
	c.t.Helper()
	_, err := c.s.AppendInput(c.t.Context(), c.id, store.Input{Door: c.word, InputBlob: c.blob})
	fit := names(c.id) && names(c.word) && c.blob != nil
	appended := c.answers("append an input", fit, err) && made
	if !made {
		c.is("append an input", fit, err, store.ErrExecutionNotFound)
	}
	log, err := c.s.Inputs(c.t.Context(), c.id)
	c.answers("read the inputs", names(c.id), err)
	if !appended {
		return
	}
	if len(log) != 1 || log[0].Door != c.word || !bytes.Equal(log[0].InputBlob, c.blob) || log[0].InputBlob == nil {
		c.t.Errorf("the log is %+v, and an input was appended", log)
	}
}

// step is refused, if at all, behind its function, and so behind a round trip.
func (c calls) step() {
	c.t.Helper()
	made := store.Step{Status: store.Active, PositionBlob: c.blob, OutcomeBlob: c.blob, Failure: &c.word}
	stepped, err := c.s.StepExecution(c.t.Context(), c.id, stepTo(made))
	c.wire.Reset()
	if !c.answers("step", storable(c.word), err) {
		return
	}
	read, err := c.s.Execution(c.t.Context(), c.id)
	c.answers("read what was stepped", true, err)
	c.equal("the execution that was stepped", stepped.Execution, read)
}

func (c calls) options() store.RetireOptions {
	// The transaction has the shared lock already, which is an upgrade.
	return store.RetireOptions{By: c.word, LockTimeout: c.wait, AllowUpgrade: true}
}

// pins tries to retire the chart under the execution.
func (c calls) pins() {
	c.t.Helper()
	_, err := c.s.RetireChart(c.t.Context(), c.hash, c.options())
	var pinned *store.PinnedError
	if c.answers("retire a pinned chart", names(c.word), err) && !errors.As(err, &pinned) {
		c.t.Errorf("a retirement under an execution answers %v", err)
	}
}

func (c calls) end() {
	c.t.Helper()
	failed, err := c.s.FailExecution(c.t.Context(), c.id, c.word)
	fit := c.answers("fail", storable(c.word), err)
	cancelled, err := c.s.CancelExecution(c.t.Context(), c.id)
	c.answers("cancel", true, err)
	c.equal("whether the second end is discarded", fit, cancelled.Discarded)
	if fit {
		c.equal("the reason", &c.word, failed.Execution.Failure)
		c.equal("the reason, read again", &c.word, cancelled.Execution.Failure)
	}
}

func (c calls) endsNothing() {
	c.t.Helper()
	_, err := c.s.FailExecution(c.t.Context(), c.id, c.word)
	c.is("fail", c.answers("fail", names(c.id) && storable(c.word), err), err, store.ErrExecutionNotFound)
	_, err = c.s.CancelExecution(c.t.Context(), c.id)
	c.is("cancel", c.answers("cancel", names(c.id), err), err, store.ErrExecutionNotFound)
}

func (c calls) retire(saved bool) {
	c.t.Helper()
	_, err := c.s.RetireChart(c.t.Context(), c.hash, c.options())
	fit := c.answers("retire", names(c.hash) && names(c.word), err)
	retirement, retired, readErr := c.s.Retirement(c.t.Context(), c.hash)
	c.answers("read the retirement", names(c.hash), readErr)
	c.equal("whether the chart is retired", fit && saved, retired)
	switch {
	case fit && !saved:
		c.is("retire", true, err, store.ErrChartNotFound)
	case fit:
		c.equal("the tombstone", store.Retirement{ContentHash: c.hash, RetiredAt: retirement.RetiredAt, RetiredBy: c.word}, retirement)
		c.nothingStartsOn()
	}
}

// nothingStartsOn demands that the chart is final under its odd name.
func (c calls) nothingStartsOn() {
	c.t.Helper()
	for verb, err := range map[string]error{
		"read":   second(c.s.Chart(c.t.Context(), c.hash)),
		"create": second(c.s.CreateExecution(c.t.Context(), newExecution(c.hash))),
		"save":   c.s.SaveChart(c.t.Context(), newChart(c.hash)),
		"retire": second(c.s.RetireChart(c.t.Context(), c.hash, by("ops"))),
	} {
		var retired *store.ChartRetiredError
		if !errors.As(err, &retired) || retired.RetiredBy != c.word {
			c.t.Errorf("%s on a retired chart answers %.500v", verb, err)
		}
	}
}
