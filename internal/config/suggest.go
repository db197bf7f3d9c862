package config

import "strconv"

// suggest names the word that was probably meant: the nearest, if it is at most two letters away.
func suggest(got string, words []string) string {
	best, nearest := 3, ""
	for _, w := range words {
		if d := distance(got, w); d < best && d < len(w) {
			best, nearest = d, w
		}
	}
	if nearest == "" {
		return ""
	}
	return "; did you mean " + strconv.Quote(nearest) + "?"
}

// distance counts the letters to insert, delete, replace or swap with their neighbour to make b of a.
func distance(a, b string) int {
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
	return rows[len(a)][len(b)]
}
