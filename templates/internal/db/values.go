package db

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// The arrays that leading columns may be.
type (
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

// UTC is the time as the database keeps it: in microseconds, which pgx cuts in some of its modes and the server rounds in
// others, and without a place.
func UTC(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// UTCPointer is UTC where there may be none.
func UTCPointer(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	utc := UTC(*t)
	return &utc
}

// ToArray gives an array that has none its one dimension. pgx would write it without its elements.
func ToArray[E any](a pgtype.Array[E]) pgtype.Array[E] {
	if a.Valid && len(a.Dims) == 0 && len(a.Elements) > 0 {
		a.Dims = []pgtype.ArrayDimension{{Length: int32(len(a.Elements)), LowerBound: 1}}
	}
	return a
}

// ToTimes is ToArray with every time in UTC.
func ToTimes(a TimestamptzArray) TimestamptzArray { return convert(a, UTC) }

// ToTimestamps writes the times out, in UTC: in some of its modes pgx declares every time.Time as a timestamptz, and the
// server would turn that into a timestamp by the session's TimeZone.
func ToTimestamps(a TimestampArray) TextArray {
	return convert(a, func(t time.Time) string { return UTC(t).Format("2006-01-02 15:04:05.999999") })
}

func convert[E, F any](a pgtype.Array[E], element func(E) F) pgtype.Array[F] {
	out := pgtype.Array[F]{Dims: a.Dims, Valid: a.Valid}
	for _, e := range a.Elements {
		out.Elements = append(out.Elements, element(e))
	}
	return ToArray(out)
}
