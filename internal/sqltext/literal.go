package sqltext

import (
	"fmt"
	"strings"

	"github.com/statigen/statigen/internal/model"
)

// Literal writes a string constant that means the same whatever standard_conforming_strings says, on one line: sqlc takes
// a line that looks like a comment for one, even inside a constant, and drops it. What does not show, or shows the rest
// of its line in another order, is written as an escape: the text is read in reviews and on terminals.
func Literal(text string) string {
	quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
	var escaped strings.Builder
	for _, r := range quoted {
		escaped.WriteString(character(r))
	}
	if escaped.String() == quoted {
		return quoted
	}
	return "E" + escaped.String()
}

func character(r rune) string {
	switch {
	case r == '\\':
		return `\\`
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case !model.Unprintable(r):
		return string(r)
	case r > 0xffff:
		return fmt.Sprintf(`\U%08X`, r)
	}
	return fmt.Sprintf(`\u%04X`, r)
}
