package db

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

func TestAnArrayWithoutDimensionsGetsItsOne(t *testing.T) {
	for _, dims := range [][]pgtype.ArrayDimension{nil, {}} {
		for name, got := range map[string][]pgtype.ArrayDimension{
			"texts": ToArray(TextArray{Elements: []string{"a", "b"}, Dims: dims, Valid: true}).Dims,
			"times": UTCArray(TimestamptzArray{Elements: make([]time.Time, 2), Dims: dims, Valid: true}).Dims,
		} {
			if len(got) != 1 || got[0] != (pgtype.ArrayDimension{Length: 2, LowerBound: 1}) {
				t.Errorf("%s with dimensions %#v: got %v, want one of 2 elements", name, dims, got)
			}
		}
	}
}
