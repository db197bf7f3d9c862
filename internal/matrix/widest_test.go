package matrix

import (
	"fmt"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/host"
	"github.com/statigen/statigen/internal/model"
)

// A server creates the widest table that the config lets by, prepares every statement on it, and has no room for more.
func TestAServerHasRoomForTheMostLeadingColumnsAndNoMore(t *testing.T) {
	list := make([]string, model.MaxLeading())
	for i := range list {
		list[i] = fmt.Sprintf("{name: column_%d, type: timestamptz}", i)
	}
	s := host.NewModule(t, "example.com/wide", "").Generate(t, "statigen.yaml",
		"{version: 1, stores: {wide: {out: wide, leading_columns: ["+strings.Join(list, ", ")+"]}}}")[0]
	conn := installed(t, s)
	if _, err := conn.Exec(t.Context(), "ALTER TABLE "+s.Relation(s.Executions)+" ADD COLUMN one_more text"); err == nil {
		t.Error("the server has room for one more; model.MaxLeading is too small")
	}
}
