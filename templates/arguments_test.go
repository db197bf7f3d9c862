package store_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// What the database would refuse is refused before a byte is sent, and a transaction stays usable.
func TestArgumentsThatCannotBeStoredAreRefusedUnsent(t *testing.T) {
	h := newHost(t)
	var wire pgtest.Wire
	s, tx := h.begin(t, "", pgtest.Record(&wire))
	ctx := t.Context()
	create := func(change func(e *store.NewExecution)) func() error {
		return func() error {
			e := newExecution(newHash())
			change(&e)
			return second(s.CreateExecution(ctx, e))
		}
	}
	save := func(change func(c *store.Chart)) func() error {
		return func() error {
			c := newChart(newHash())
			change(&c)
			return s.SaveChart(ctx, c)
		}
	}
	metadata := func(text string) func() error {
		return create(func(e *store.NewExecution) { e.Metadata = json.RawMessage(text) })
	}
	for name, c := range map[string]struct {
		call  func() error
		field string
	}{
		"an empty hash":                {create(func(e *store.NewExecution) { e.ContentHash = "" }), "ContentHash"},
		"a hash with a NUL":            {create(func(e *store.NewExecution) { e.ContentHash = "a\x00b" }), "ContentHash"},
		"a hash that is not UTF-8":     {create(func(e *store.NewExecution) { e.ContentHash = "a\xffb" }), "ContentHash"},
		"an empty id":                  {create(func(e *store.NewExecution) { e.ExecutionID = "" }), "ExecutionID"},
		"no identity":                  {create(func(e *store.NewExecution) { e.IdentityBlob = nil }), "IdentityBlob"},
		"a chart without identity":     {save(func(c *store.Chart) { c.IdentityBlob = nil }), "IdentityBlob"},
		"a chart without source":       {save(func(c *store.Chart) { c.ChartBlob = nil }), "ChartBlob"},
		"a chart without hash":         {save(func(c *store.Chart) { c.ContentHash = "" }), "ContentHash"},
		"metadata that is an array":    {metadata(`[]`), "Metadata"},
		"metadata that is null":        {metadata(`null`), "Metadata"},
		"metadata that is empty":       {metadata(``), "Metadata"},
		"metadata that is cut short":   {metadata(`{"a":`), "Metadata"},
		"metadata with more behind":    {metadata(`{} {}`), "Metadata"},
		"metadata with a NUL":          {metadata(`{"a":"x\u0000y"}`), "Metadata"},
		"metadata with a NUL in a key": {metadata(`{"a\u0000":1}`), "Metadata"},
		"half a surrogate pair":        {metadata(`{"a":"\ud800"}`), "Metadata"},
		"the other half":               {metadata(`{"a":"\udc00\ud800"}`), "Metadata"},
		"a number out of range":        {metadata(`{"a":[1e400000]}`), "Metadata"},
		"metadata that is not UTF-8":   {metadata("{\"a\":\"\xff\"}"), "Metadata"},
		"the reserved key":             {metadata(`{"statifier_persistence":{}}`), "Metadata"},
		"the reserved key, escaped":    {metadata(`{"\u0073tatifier_persistence":1}`), "Metadata"},
		"retired by nobody":            {func() error { return second(s.RetireChart(ctx, newHash(), store.RetireOptions{})) }, "By"},
		"retire without a hash":        {func() error { return second(s.RetireChart(ctx, "", by("ops"))) }, "ContentHash"},
		"read without a hash":          {func() error { return second2(s.Retirement(ctx, "")) }, "ContentHash"},
		"fetch without a hash":         {func() error { return second(s.Chart(ctx, "")) }, "ContentHash"},
		"count without a hash":         {func() error { return second(s.CountExecutions(ctx, "")) }, "ContentHash"},
		"fetch without an id":          {func() error { return second(s.Execution(ctx, "")) }, "ExecutionID"},
		"cancel without an id":         {func() error { return second(s.CancelExecution(ctx, "")) }, "ExecutionID"},
		"a reason with a NUL":          {func() error { return second(s.FailExecution(ctx, "x", "a\x00b")) }, "Reason"},
	} {
		wire.Reset()
		invalid := wantAs[*store.InvalidError](t, c.call())
		if invalid.Field != c.field {
			t.Errorf("%s: refused for %s (%s), want %s", name, invalid.Field, invalid.Reason, c.field)
		}
		if n := wire.Trips(); n != 0 {
			t.Errorf("%s: %d round trips, want none", name, n)
		}
	}
	usable(t, tx)
}

func TestALeadingTextThatCannotBeStoredIsRefused(t *testing.T) {
	h := newHost(t)
	e := newExecution(newHash())
	e.Leading = leading("a\x00b")
	hasText := false
	v := reflect.ValueOf(e.Leading)
	for i := range v.NumField() {
		kind := v.Field(i).Type().String()
		hasText = hasText || strings.Contains(kind, "string") || strings.Contains(kind, "RawMessage")
	}
	err := second(h.store(t).CreateExecution(t.Context(), e))
	if !hasText {
		must(t, err)
		return
	}
	wantAs[*store.InvalidError](t, err)
}

// A backslash and letters that look like an escape, and the longest number there is.
func TestOddMetadataThatJSONBTakesIsTaken(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	for _, text := range []string{
		`{"a": "\\u0000"}`, `{"a": "\\\\ud800"}`, `{"a": "😀"}`, `{"a": "\ud83d\ude00"}`, `{"a": 0e400000}`,
		`{"a": ` + strings.Repeat("9", 131072) + `}`, `{"a": 0.` + strings.Repeat("1", 16383) + `}`, `{"a": {"statifier_persistence": 1}}`,
	} {
		e := newExecution(newHash())
		e.Metadata = json.RawMessage(text)
		if _, err := s.CreateExecution(t.Context(), e); err != nil {
			t.Errorf("metadata %.40s: %v", text, err)
		}
	}
}

// The check of metadata and the server agree on what jsonb takes, but for what only the store forbids.
func TestTheMetadataCheckAgreesWithTheServer(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	conn := h.Conn(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		text := `{"k": ` + oddJSON(random) + `}`
		e := newExecution(newHash())
		e.Metadata = json.RawMessage(text)
		_, err := s.CreateExecution(t.Context(), e)
		_, serverErr := conn.Exec(t.Context(), "SELECT $1::text::jsonb", text)
		if (err == nil) != (serverErr == nil) {
			t.Errorf("%.200s\nstore:  %v\nserver: %v", text, err, serverErr)
		}
		if err != nil && sqlState(err) != "" {
			t.Errorf("%.200s: refused only by the server: %v", text, err)
		}
	}
}

func oddJSON(random *rand.Rand) string {
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	switch random.IntN(3) {
	case 0:
		var b strings.Builder
		for range random.IntN(5) {
			b.WriteString(pick(`\u0000`, `\\u0000`, `\ud83d`, `\ude00`, `\ud83d\ude00`, `\n`, `\\`, `\"`, `é`, `a`, `\/`, `\uFFFD`, `\u0001`))
		}
		return `"` + b.String() + `"`
	case 1:
		number := pick("", "-") + pick("0", "1", "12", "9"+strings.Repeat("0", random.IntN(200)))
		number += pick("", ".0", ".5", "."+strings.Repeat("0", 16000+random.IntN(500)))
		return number + pick("", "e5", "E+7", "e-3", fmt.Sprintf("e%d", 130900+random.IntN(300)), fmt.Sprintf("e-%d", 16200+random.IntN(300)), "e99999999999")
	}
	return "[" + pick("true", "null", "{}", `{"\u0000":1}`, `{"a":[]}`) + "]"
}
