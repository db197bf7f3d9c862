package sqltext

import "strings"

// longLine is where a list goes on in another line. sqlc reads lines of up to 64 KiB, and what stands behind a longer one
// in a schema it passes over without a word. Lists of common length stay on the line of their hole.
const longLine = 4096

// list is a list that is being written.
type list struct {
	text strings.Builder
	line int // how much of it stands on the last line
}

// add writes an item, with the separator that belongs to it.
func (l *list) add(item string) {
	if l.line > 0 && l.line+len(item) > longLine {
		l.text.WriteByte('\n')
		l.line = 0
	}
	l.text.WriteString(item)
	l.line += len(item)
}

func (l *list) String() string { return l.text.String() }
