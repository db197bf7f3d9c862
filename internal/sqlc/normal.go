package sqlc

import "strings"

// normal leaves quoted names and constants as they are. Outside of them comments go, white space is one space, and
// every spelling of a parameter is a question mark.
func normal(sql string) string {
	var out strings.Builder
	inWord := false
	for len(sql) > 0 {
		n, text := lexeme(sql, inWord)
		out.WriteString(text)
		inWord = isWord(sql[n-1])
		sql = sql[n:]
	}
	return strings.TrimRight(strings.TrimSpace(out.String()), "; ")
}

// lexeme returns the length of the first lexeme, and what it is in normal form.
func lexeme(sql string, inWord bool) (n int, text string) {
	switch c := sql[0]; {
	case c == '"', c == '\'':
		n = quoted(sql, c, false)
	case c == 'E' && !inWord && strings.HasPrefix(sql[1:], "'"):
		n = 1 + quoted(sql[1:], '\'', true)
	case blank(sql) > 0:
		return blank(sql), " "
	case parameter(sql) > 0:
		return parameter(sql), "?"
	}
	n = max(n, 1)
	return n, sql[:n]
}

// quoted is the length of a quoted name or constant; a quote that stands twice is one of its letters, unless none comes
// after it. It is 0 if the quote is never closed.
func quoted(sql string, quote byte, escapes bool) int {
	end := 0
	for i := 1; i < len(sql); i++ {
		switch {
		case escapes && sql[i] == '\\':
			i++
		case sql[i] != quote:
		case i+1 < len(sql) && sql[i+1] == quote:
			end = i + 1
			i++
		default:
			return i + 1
		}
	}
	return end
}

// blank is the length of the comments and the white space at the beginning.
func blank(sql string) int {
	rest := sql
	for {
		switch {
		case strings.HasPrefix(rest, "--"):
			_, after, _ := strings.Cut(rest, "\n")
			rest = after
		case rest != "" && strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			rest = rest[1:]
		default:
			return len(sql) - len(rest)
		}
	}
}

// parameter is the length of a parameter in any of its spellings: @name, sqlc.arg(name), sqlc.narg(name), $1.
func parameter(sql string) int {
	for _, opening := range []string{"sqlc.arg(", "sqlc.narg("} {
		if rest, is := strings.CutPrefix(sql, opening); is {
			if n := word(rest); n > 0 && strings.HasPrefix(rest[n:], ")") {
				return len(opening) + n + 1
			}
		}
	}
	if n := word(sql[1:]); n > 0 && (sql[0] == '@' || sql[0] == '$') {
		return n + 1
	}
	return 0
}

// word is the length of the word at the beginning.
func word(sql string) int {
	n := 0
	for n < len(sql) && isWord(sql[n]) {
		n++
	}
	return n
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
