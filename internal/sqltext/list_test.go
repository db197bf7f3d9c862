package sqltext

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/model"
)

// sqlc reads lines of up to 64 KiB.
func TestNoLineIsLongerThanSQLCReads(t *testing.T) {
	s := store(t, model.Spec{Leading: longColumns()})
	files, err := Queries(s)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := Schema(s)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(files, map[string][]byte{"schema.sql": schema})
	for name, text := range files {
		for number, line := range bytes.Split(text, []byte("\n")) {
			if len(line) >= 64<<10 {
				t.Errorf("%s:%d has %d bytes", name, number+1, len(line))
			}
		}
	}
}

// longColumns are as many as there is room for, with names and some defaults as long as they may be, in characters that
// SQL writes longer.
func longColumns() []model.ColumnSpec {
	columns := make([]model.ColumnSpec, model.MaxLeading())
	longest := strings.Repeat("\x01", 8192)
	for i := range columns {
		columns[i] = model.ColumnSpec{Name: strings.Repeat(`"`, 58) + fmt.Sprintf("c%04d", i), Type: "text", Collation: strings.Repeat(`"`, 63)}
		if i%500 == 0 {
			columns[i].Default = &longest
		}
	}
	return columns
}
