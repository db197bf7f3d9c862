package store_test

import (
	"encoding/json"
	"math/big"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// values has one value for each type that a leading column may have.
type values struct {
	text    string
	integer int16
	boolean bool
	uuid    pgtype.UUID
	numeric pgtype.Numeric
	date    pgtype.Date
	time    time.Time
	json    json.RawMessage
	bytes   []byte
}

// leading fills every leading column, whatever the host has.
func leading(text string) store.Leading { return filled(valuesWith(text)) }

func valuesWith(text string) values {
	quoted, _ := json.Marshal(text)
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	return values{
		text: text, integer: int16(len(text)), boolean: true, uuid: pgtype.UUID{Bytes: [16]byte{byte(len(text))}, Valid: true},
		numeric: pgtype.Numeric{Int: big.NewInt(1250), Exp: -2, Valid: true}, date: pgtype.Date{Time: day, Valid: true}, time: day,
		json: quoted, bytes: []byte(text),
	}
}

func filled(with values) store.Leading {
	var l store.Leading
	v := reflect.ValueOf(&l).Elem()
	for i := range v.NumField() {
		field := v.Field(i)
		if field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		with.fill(field.Addr().Interface())
	}
	return l
}

func (w values) fill(field any) {
	switch f := field.(type) {
	case *string:
		*f = w.text
	case *int16:
		*f = w.integer
	case *int32:
		*f = int32(w.integer)
	case *int64:
		*f = int64(w.integer)
	case *bool:
		*f = w.boolean
	case *pgtype.UUID:
		*f = w.uuid
	case *pgtype.Numeric:
		*f = w.numeric
	case *pgtype.Date:
		*f = w.date
	case *time.Time:
		*f = w.time
	case *json.RawMessage:
		*f = w.json
	case *[]byte:
		*f = w.bytes
	default:
		w.fillArray(field)
	}
}

func (w values) fillArray(field any) {
	switch f := field.(type) {
	case *pgtype.Array[string]:
		*f = array(w.text, "", "NULL")
	case *pgtype.Array[int16]:
		*f = array(w.integer, 0)
	case *pgtype.Array[int32]:
		*f = array(int32(w.integer), 0)
	case *pgtype.Array[int64]:
		*f = array(int64(w.integer), 0)
	case *pgtype.Array[bool]:
		*f = array(w.boolean, false)
	case *pgtype.Array[pgtype.UUID]:
		*f = array(w.uuid, pgtype.UUID{})
	case *pgtype.Array[pgtype.Numeric]:
		*f = array(w.numeric, pgtype.Numeric{})
	case *pgtype.Array[pgtype.Date]:
		*f = array(w.date, pgtype.Date{})
	case *pgtype.Array[time.Time]:
		*f = array(w.time, time.Unix(0, 0).UTC())
	case *pgtype.Array[json.RawMessage]:
		*f = array(w.json, json.RawMessage("null"))
	case *pgtype.Array[[]byte]:
		*f = array(w.bytes, []byte{}, nil)
	}
}

// array leaves the dimensions out, as a host may.
func array[E any](elements ...E) pgtype.Array[E] {
	return pgtype.Array[E]{Elements: elements, Valid: true}
}

// unlike is cmp.Diff, but for what is the same in two spellings: numbers, and the dimensions of an array that has one.
func unlike(want, got any, also ...cmp.Option) string {
	return cmp.Diff(want, got, cmp.Options(also), cmp.Comparer(func(a, b pgtype.Numeric) bool { return number(a) == number(b) }),
		cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Dims" }, cmp.Comparer(func(a, b []pgtype.ArrayDimension) bool {
			return len(a) <= 1 && len(b) <= 1
		})))
}

func number(n pgtype.Numeric) string {
	if n.Int == nil {
		return cmp.Diff(pgtype.Numeric{}, n)
	}
	value, ok := new(big.Rat).SetString(n.Int.String() + "e" + big.NewInt(int64(n.Exp)).String())
	if !ok {
		return "no number"
	}
	return value.String()
}

func TestEveryHelperKnowsEveryType(t *testing.T) {
	v := reflect.ValueOf(leading("eu"))
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("the column %s of type %s is not filled", v.Type().Field(i).Name, v.Field(i).Type())
		}
	}
}

// Whatever way pgx sends and receives it, whatever the session's settings, a value arrives as it was.
func TestLeadingColumnsKeepTheirValuesOnEveryRoute(t *testing.T) {
	h := newHost(t)
	routes := h.routes(t)
	plainly := h.store(t)
	east := time.FixedZone("east", 5*3600+1800)
	day := time.Date(2024, 2, 29, 23, 30, 0, 0, east)
	for name, w := range map[string]values{
		"plain": {
			text: "'\\\"", integer: -32768, uuid: pgtype.UUID{Bytes: [16]byte{255}, Valid: true},
			numeric: pgtype.Numeric{Int: big.NewInt(-1050), Exp: -3, Valid: true}, date: pgtype.Date{Time: day, Valid: true},
			time: day.Add(123456789), json: json.RawMessage(`{"a": ["é", null, "\"{},"]}`), bytes: []byte{0, '\\', 255},
		},
		"early": {
			text: "{,}", integer: 32767, boolean: true, uuid: pgtype.UUID{Valid: true},
			numeric: pgtype.Numeric{Int: big.NewInt(7), Exp: 40, Valid: true},
			date:    pgtype.Date{Time: time.Date(1, 1, 1, 0, 0, 0, 0, east), Valid: true},
			time:    time.Time{}, json: json.RawMessage(`null`), bytes: []byte{},
		},
		"late": {
			text: "日本", numeric: pgtype.Numeric{NaN: true, Valid: true}, uuid: pgtype.UUID{Valid: true},
			date: pgtype.Date{InfinityModifier: pgtype.Infinity, Valid: true},
			time: time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), json: json.RawMessage(`"x"`), bytes: []byte("x"),
		},
		"small": {
			text: "", numeric: pgtype.Numeric{Int: new(big.Int), Valid: true}, uuid: pgtype.UUID{Valid: true},
			date: pgtype.Date{Time: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC), Valid: true},
			time: time.Date(1969, 12, 31, 23, 59, 59, 999999500, east), json: json.RawMessage(`1.50`), bytes: nil,
		},
	} {
		if w.bytes == nil {
			w.bytes = []byte{1}
		}
		want := w
		want.time = w.time.UTC().Truncate(time.Microsecond)
		if want.date.Time.Location() == east {
			y, m, d := w.date.Time.Date()
			want.date.Time = time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		}
		for _, r := range routes {
			for _, zone := range []string{"UTC", "Asia/Kolkata", "America/New_York"} {
				s := h.store(t, r.open, pgtest.MaxConns(1), pgtest.Setting("TimeZone", zone), pgtest.Setting("DateStyle", "ISO, DMY"))
				e := newExecution(newHash())
				e.Leading = filled(w)
				created, err := s.CreateExecution(t.Context(), e)
				if err != nil {
					t.Errorf("%s, %s: %v", name, r.name, err)
					continue
				}
				read, err := s.Execution(t.Context(), e.ExecutionID)
				must(t, err)
				ended, err := s.CancelExecution(t.Context(), e.ExecutionID)
				must(t, err)
				chart := newChart(e.ContentHash)
				chart.Leading = e.Leading
				must(t, s.SaveChart(t.Context(), chart))
				saved, err := s.Chart(t.Context(), e.ContentHash)
				must(t, err)
				plain, err := plainly.Execution(t.Context(), e.ExecutionID)
				must(t, err)
				for what, got := range map[string]store.Leading{
					"created": created.Leading, "read": read.Leading, "ended": ended.Execution.Leading, "saved": saved.Leading, "read plainly": plain.Leading,
				} {
					if d := unlike(filled(want), got); d != "" {
						t.Errorf("%s, %s, %s, %s (-want +got):\n%s", name, r.name, zone, what, d)
					}
				}
			}
		}
	}
}

// An array without elements is one, and not NULL.
func TestAnEmptyArrayIsNotNull(t *testing.T) {
	h := newHost(t)
	for _, r := range h.routes(t) {
		e := newExecution(newHash())
		arrays := func(l *store.Leading, visit func(name string, valid reflect.Value)) {
			v := reflect.ValueOf(l).Elem()
			for i := range v.NumField() {
				if f := v.Field(i); f.Kind() == reflect.Struct && f.FieldByName("Elements").IsValid() {
					visit(v.Type().Field(i).Name, f)
				}
			}
		}
		arrays(&e.Leading, func(_ string, array reflect.Value) {
			array.SetZero()
			array.FieldByName("Valid").SetBool(true)
		})
		created, err := h.store(t, r.open, pgtest.MaxConns(1)).CreateExecution(t.Context(), e)
		must(t, err)
		arrays(&created.Leading, func(name string, array reflect.Value) {
			if !array.FieldByName("Valid").Bool() || array.FieldByName("Elements").Len() != 0 {
				t.Errorf("%s: %s is %v, want an array of nothing", r.name, name, array)
			}
		})
	}
}

// What the database would refuse, or would keep as something else, is refused before a byte is sent.
func TestLeadingValuesThatCannotBeStoredAreRefused(t *testing.T) {
	h := newHost(t)
	var wire pgtest.Wire
	s, tx := h.begin(t, "", pgtest.Record(&wire))
	at := func(year int) time.Time { return time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC) }
	good := leading("eu")
	for name, change := range map[string]func(w *values){
		"a NUL":                    func(w *values) { w.text = "a\x00b" },
		"no UTF-8":                 func(w *values) { w.text = "a\xffb" },
		"the year 0":               func(w *values) { w.time, w.date.Time = at(0), at(0) },
		"the year 10000":           func(w *values) { w.time, w.date.Time = at(10000), at(10000) },
		"a number without digits":  func(w *values) { w.numeric.Int = nil },
		"a number too great":       func(w *values) { w.numeric.Exp = 131072 },
		"a number too fine":        func(w *values) { w.numeric.Exp = -16384 },
		"JSON that is empty":       func(w *values) { w.json = json.RawMessage{} },
		"JSON that is cut short":   func(w *values) { w.json = json.RawMessage(`{"a":`) },
		"JSON with a NUL":          func(w *values) { w.json = json.RawMessage(`"\u0000"`) },
		"JSON with half a pair":    func(w *values) { w.json = json.RawMessage(`["\ud800"]`) },
		"JSON with a great number": func(w *values) { w.json = json.RawMessage(`1e400000`) },
		"JSON that is not UTF-8":   func(w *values) { w.json = json.RawMessage("\"\xff\"") },
	} {
		w := valuesWith("eu")
		change(&w)
		bad := filled(w)
		for i := range reflect.TypeFor[store.Leading]().NumField() {
			e := newExecution(newHash())
			to, from := reflect.ValueOf(&e.Leading).Elem().Field(i), reflect.ValueOf(bad).Field(i)
			to.Set(from)
			if unlike(reflect.ValueOf(good).Field(i).Interface(), from.Interface()) != "" {
				wantRefusedUnsent(t, name, s, &wire, e, i)
			}
		}
	}
	for name, dims := range map[string][]pgtype.ArrayDimension{
		"two dimensions": {{Length: 1, LowerBound: 1}, {Length: 3, LowerBound: 1}},
		"too many":       {{Length: 7, LowerBound: 1}},
		"too few":        {{Length: 1, LowerBound: 1}},
	} {
		for i := range reflect.TypeFor[store.Leading]().NumField() {
			e := newExecution(newHash())
			field := reflect.ValueOf(&e.Leading).Elem().Field(i)
			if field.Kind() == reflect.Struct && field.FieldByName("Dims").IsValid() {
				field.FieldByName("Dims").Set(reflect.ValueOf(dims))
				wantRefusedUnsent(t, name, s, &wire, e, i)
			}
		}
	}
	usable(t, tx)
}

func wantRefusedUnsent(t *testing.T, name string, s *store.Store, wire *pgtest.Wire, e store.NewExecution, field int) {
	t.Helper()
	wire.Reset()
	refused := wantAs[*store.InvalidError](t, second(s.CreateExecution(t.Context(), e)))
	if want := reflect.TypeFor[store.Leading]().Field(field).Name; refused.Field != want {
		t.Errorf("%s: refused for %s (%s), want %s", name, refused.Field, refused.Reason, want)
	}
	if n := wire.Trips(); n != 0 {
		t.Errorf("%s: %d round trips, want none", name, n)
	}
}

// A text that is too long for its column is refused; it is never cut.
func TestALeadingTextIsStoredWholeOrNotAtAll(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	for _, text := range []string{"日本語日本", "日本語日本日本語日本!", "eu        ", "eu         ", "eu                            "} {
		for i := range reflect.TypeFor[store.Leading]().NumField() {
			e := newExecution(newHash())
			reflect.ValueOf(&e.Leading).Elem().Field(i).Set(reflect.ValueOf(leading(text)).Field(i))
			created, err := s.CreateExecution(t.Context(), e)
			if err != nil {
				wantAs[*store.InvalidError](t, err)
				continue
			}
			if d := unlike(e.Leading, created.Leading); d != "" {
				t.Errorf("%q is stored (-want +got):\n%s", text, d)
			}
		}
	}
}
