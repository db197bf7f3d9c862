package migrations

import (
	"strings"

	"github.com/statigen/statigen/internal/ddl"
)

// Tern's own lines.
const (
	ternDown = "---- create above / drop below ----"
	ternNoTx = "---- tern: disable-tx ----"
)

// tern makes tern's one file. It splits what runs without a transaction at semicolons outside of quotes.
func tern(p part) []File {
	up := p.mark + "\n" + ternEscape(comments(p.about...)+"\n"+statements(p.up)+p.reviewUp())
	down := ternEscape(statements(p.down) + p.reviewDown())
	return []File{{p.name + ".sql", []byte(ternMode(p.up) + up + "\n" + ternDown + "\n\n" + ternMode(p.down) + down)}}
}

func ternMode(all []ddl.Statement) string {
	if alone(all) {
		return ternNoTx + "\n"
	}
	return ""
}

// ternEscape keeps names from being read as a template's, for that is what tern's files are, and as the line between a
// file's halves, which tern looks for before it reads the template, anywhere.
func ternEscape(text string) string {
	text = strings.ReplaceAll(text, "{{", `{{"{{"}}`)
	return strings.ReplaceAll(text, ternDown, `{{"----"}}`+strings.TrimPrefix(ternDown, "----"))
}
