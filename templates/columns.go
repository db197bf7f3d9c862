package store

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"
)

// A column is the value of a leading column on its way into the database.
type column struct {
	field    string
	value    any
	required bool // NOT NULL, and without a default
	length   int  // of a varchar; 0 where there is no bound
}

// checkColumns refuses what the database would refuse, and what would arrive there as something else.
func checkColumns(columns ...column) error {
	for _, c := range columns {
		if reason := c.refused(); reason != "" {
			return &InvalidError{c.field, reason}
		}
	}
	return nil
}

func (c column) refused() string {
	switch v := c.value.(type) {
	case string:
		return c.text(v)
	case *string:
		return pointer(v, c.text)
	case time.Time:
		return refusedTime(v)
	case *time.Time:
		return pointer(v, refusedTime)
	case pgtype.UUID:
		return c.set(v.Valid, "")
	case pgtype.Numeric:
		return c.set(v.Valid, refusedNumeric(v))
	case pgtype.Date:
		return c.set(v.Valid, refusedDate(v))
	case json.RawMessage:
		if v == nil {
			return c.set(false, "")
		}
		return refusedJSON(v)
	case []byte:
		return c.set(v != nil, "")
	}
	return c.refusedArray()
}

func (c column) refusedArray() string {
	switch v := c.value.(type) {
	case pgtype.Array[string]:
		return array(c, v, c.text)
	case pgtype.Array[time.Time]:
		return array(c, v, refusedTime)
	case pgtype.Array[pgtype.Numeric]:
		return array(c, v, refusedNumeric)
	case pgtype.Array[pgtype.Date]:
		return array(c, v, refusedDate)
	case pgtype.Array[json.RawMessage]:
		return array(c, v, refusedElement)
	case pgtype.Array[[]byte]:
		return array(c, v, anything)
	case pgtype.Array[pgtype.UUID]:
		return array(c, v, anything)
	case pgtype.Array[int16]:
		return array(c, v, anything)
	case pgtype.Array[int32]:
		return array(c, v, anything)
	case pgtype.Array[int64]:
		return array(c, v, anything)
	case pgtype.Array[bool]:
		return array(c, v, anything)
	}
	return "" // a number or a boolean, or a pointer to one
}

func anything[E any](E) string { return "" }

// set refuses the absence of what must be there; reason is what is wrong with what is there.
func (c column) set(valid bool, reason string) string {
	switch {
	case valid:
		return reason
	case c.required:
		return "is not set"
	}
	return ""
}

func pointer[T any](v *T, refused func(T) string) string {
	if v == nil {
		return ""
	}
	return refused(*v)
}

// array looks at dimensions and elements. The column would take more dimensions, but none of the tools that read it later
// need expect them.
func array[E any](c column, a pgtype.Array[E], refused func(E) string) string {
	if !a.Valid {
		return c.set(false, "")
	}
	one := len(a.Dims) == 1 && int(a.Dims[0].Length) == len(a.Elements)
	if !one && len(a.Dims) > 0 {
		return "has dimensions that are not one of " + strconv.Itoa(len(a.Elements)) + " elements"
	}
	for i, e := range a.Elements {
		if reason := refused(e); reason != "" {
			return "has an element, the one at " + strconv.Itoa(i) + ", that " + reason
		}
	}
	return ""
}

func (c column) text(v string) string {
	if c.length > 0 && utf8.RuneCountInString(v) > c.length {
		return fmt.Sprintf("has more than %d characters", c.length)
	}
	return refusedByText(v)
}

// refusedTime keeps to the years that are written alike everywhere.
func refusedTime(t time.Time) string {
	if year := t.UTC().Year(); year < 1 || year > 9999 {
		return "is not in the years 1 to 9999"
	}
	return ""
}

func refusedDate(d pgtype.Date) string {
	if d.InfinityModifier != pgtype.Finite || !d.Valid {
		return ""
	}
	if year := d.Time.Year(); year < 1 || year > 9999 {
		return "is not in the years 1 to 9999"
	}
	return ""
}

func refusedNumeric(n pgtype.Numeric) string {
	switch {
	case !n.Valid || n.NaN || n.InfinityModifier != pgtype.Finite:
		return ""
	case n.Int == nil:
		return "has no Int"
	case !fitsNumeric(n.Int.String() + "e" + strconv.Itoa(int(n.Exp))):
		return "is a number that Postgres cannot store"
	}
	return ""
}

func refusedJSON(raw json.RawMessage) string {
	switch {
	case !utf8.Valid(raw):
		return "is not valid UTF-8"
	case !json.Valid(raw):
		return "is not JSON"
	}
	return refusedByJSONB(raw)
}

// refusedElement refuses nil as well: an element of such an array is never NULL, but may be the JSON null.
func refusedElement(raw json.RawMessage) string {
	if raw == nil {
		return "is nil"
	}
	return refusedJSON(raw)
}
