package generate_test

import (
	"testing"
	"unicode"

	"github.com/statigen/statigen/internal/model"
)

// Generated files are read in reviews and on terminals. A default may hold anything: in the SQL, in the comments and in
// the Go it is written so that it shows.
func TestGeneratedFilesHoldNothingThatDoesNotShow(t *testing.T) {
	odd := "a\x1b[31m\u202eb\u2066\u2028c\u2029\t\r\n\u0085//go:build ignore\n*/`\ufeff\U000e0041"
	s, problems := model.New(model.Module{Path: "example.com/host", Dir: "."}, model.Spec{
		Name: "s", Out: "store", Prefix: "`*/", Leading: []model.ColumnSpec{
			{Name: "nullable", Type: "text", Default: &odd},
			{Name: "`\u00a0*/", Type: "varchar(200)", NotNull: true, Default: &odd},
		},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for name, text := range packageOf(t, s) {
		for i, r := range string(text) {
			if !unicode.IsGraphic(r) && r != '\n' && r != '\t' {
				t.Errorf("%s holds %q: %q", name, r, text[max(0, i-40):min(len(text), i+20)])
			}
		}
	}
}
