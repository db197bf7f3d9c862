package db

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// The arrays that leading columns may be, under the names that sqlc is told.
type (
	// TextArray is text[] and varchar[].
	TextArray = pgtype.Array[string]
	// UUIDArray is uuid[].
	UUIDArray = pgtype.Array[pgtype.UUID]
	// Int2Array is smallint[].
	Int2Array = pgtype.Array[int16]
	// Int4Array is integer[].
	Int4Array = pgtype.Array[int32]
	// Int8Array is bigint[].
	Int8Array = pgtype.Array[int64]
	// BoolArray is boolean[].
	BoolArray = pgtype.Array[bool]
	// NumericArray is numeric[].
	NumericArray = pgtype.Array[pgtype.Numeric]
	// DateArray is date[].
	DateArray = pgtype.Array[pgtype.Date]
	// TimestampArray is timestamp[].
	TimestampArray = pgtype.Array[time.Time]
	// TimestamptzArray is timestamptz[].
	TimestamptzArray = pgtype.Array[time.Time]
	// JSONBArray is jsonb[].
	JSONBArray = pgtype.Array[json.RawMessage]
	// ByteaArray is bytea[].
	ByteaArray = pgtype.Array[[]byte]
)

// UTC takes the place from a time. To the server a timestamp is what the clock showed there, and pgx leaves it at that.
func UTC(t time.Time) time.Time { return t.UTC() }

// UTCPointer is UTC where there may be none.
func UTCPointer(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	utc := t.UTC()
	return &utc
}

// ToArray gives an array that has none its dimensions: pgx would write NULL, or leave the elements out.
func ToArray[E any](a pgtype.Array[E]) pgtype.Array[E] {
	if !a.Valid || len(a.Dims) > 0 {
		return a
	}
	a.Dims = []pgtype.ArrayDimension{}
	if n := len(a.Elements); n > 0 {
		a.Dims = append(a.Dims, pgtype.ArrayDimension{Length: int32(n), LowerBound: 1})
	}
	return a
}

// UTCArray is ToArray with every time in UTC.
func UTCArray(a pgtype.Array[time.Time]) pgtype.Array[time.Time] {
	a.Elements = slices.Clone(a.Elements)
	for i, t := range a.Elements {
		a.Elements[i] = t.UTC()
	}
	return ToArray(a)
}
