package migrations

import (
	"strings"

	"github.com/statigen/statigen/internal/ddl"
)

// goose makes goose's one file. Goose reads it by lines and ends a statement at a line that ends with a semicolon, wherever
// that stands; between its own marks for a statement it does not.
func goose(p part) []File {
	text := p.mark + "\n" + gooseComments(comments(p.about...)) + "\n"
	if alone(p.up) || alone(p.down) {
		text += "-- +goose NO TRANSACTION\n"
	}
	text += "-- +goose Up\n" + gooseStatements(p.up) + gooseComments(p.reviewUp())
	text += "\n-- +goose Down\n" + gooseStatements(p.down) + gooseComments(p.reviewDown())
	return []File{{p.name + ".sql", []byte(text)}}
}

func gooseStatements(all []ddl.Statement) string {
	if len(all) == 0 {
		return statements(nil)
	}
	var text strings.Builder
	for _, s := range all {
		text.WriteString("-- +goose StatementBegin\n" + s.SQL + ";\n-- +goose StatementEnd\n")
	}
	return text.String()
}

// gooseComments keeps names from being read as goose's own words, which it looks for in every comment.
func gooseComments(text string) string { return strings.ReplaceAll(text, "+goose", "+ goose") }
