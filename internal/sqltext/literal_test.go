package sqltext

import "testing"

func TestALiteralShowsWhatItHolds(t *testing.T) {
	for text, want := range map[string]string{
		"it's":                   `'it''s'`,
		`a\b`:                    `E'a\\b'`,
		"a\r\nb":                 `E'a\r\nb'`,
		"\x1b[31m\t\u0085":       `E'\u001B[31m\u0009\u0085'`,
		"\u202e\u2066\ufeff":     `E'\u202E\u2066\uFEFF'`,
		"\u2028\u2029":           `E'\u2028\u2029'`,
		"\U000E0041tag":          `E'\U000E0041tag'`,
		"日本 é \u00a0 \U0001F600": "'日本 é \u00a0 \U0001F600'",
	} {
		if got := Literal(text); got != want {
			t.Errorf("literal of %q is %s, want %s", text, got, want)
		}
	}
}
