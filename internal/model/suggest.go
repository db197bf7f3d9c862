package model

import (
	"fmt"
	"strconv"
	"strings"
)

// Unknown says that a word is none of those that may stand in its place, and which was probably meant. It is the one
// sentence for keys and values alike. want says in words what may stand there.
func Unknown(noun, got, want string, words ...string) string {
	return fmt.Sprintf("unknown %s %.100q (want %s%s)", noun, got, want, suggest(got, words))
}

// suggest names the words that were probably meant: the nearest, if at most two letters, and every third one, are other
// ones. Capitals are no difference.
func suggest(got string, words []string) string {
	nearest, meant := 3, []string(nil)
	for _, w := range words {
		d := distance(strings.ToLower(got), w)
		if d > len(w)/3 || d > nearest || d == 3 {
			continue
		}
		if d < nearest {
			nearest, meant = d, nil
		}
		meant = append(meant, strconv.Quote(w))
	}
	if len(meant) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(meant, " or ") + "?"
}

// distance counts the letters to insert, delete, replace or swap with their neighbour to make b of a. It stops counting
// at three, which is too many: a word may be as long as its file.
func distance(a, b string) int {
	if d := len(a) - len(b); d > 2 || d < -2 {
		return 3
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			same := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				same++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return min(rows[len(a)][len(b)], 3)
}
