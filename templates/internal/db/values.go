package db

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

type (
	// TextArray is the first of the arrays that leading columns may be. sqlc is told these names.
	TextArray        = pgtype.Array[string]
	UUIDArray        = pgtype.Array[pgtype.UUID]
	Int2Array        = pgtype.Array[int16]
	Int4Array        = pgtype.Array[int32]
	Int8Array        = pgtype.Array[int64]
	BoolArray        = pgtype.Array[bool]
	NumericArray     = pgtype.Array[pgtype.Numeric]
	DateArray        = pgtype.Array[pgtype.Date]
	TimestampArray   = pgtype.Array[time.Time]
	TimestamptzArray = pgtype.Array[time.Time]
	JSONBArray       = pgtype.Array[json.RawMessage]
	ByteaArray       = pgtype.Array[[]byte]
)

// UTC takes the place from a time. To the server a timestamp is what the clock showed there, and pgx leaves it that.
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
