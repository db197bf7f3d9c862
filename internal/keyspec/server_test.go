package keyspec_test

import (
	"os"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// FuzzHashesAgreeWithAServer holds the two hash functions against the server's own. Its seeds run with every test.
func FuzzHashesAgreeWithAServer(f *testing.F) {
	conn := pgtest.New(f, "").Conn(f)
	var one sync.Mutex
	for length := range 40 {
		f.Add(string(make([]byte, length)) + "x")
		f.Add("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"[:length])
	}
	for _, s := range []string{"", emptyHash, "café h", "日本 \U0001F600", `"we ird.""s"."select" sha256:`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = storable(s)
		one.Lock()
		defer one.Unlock()
		var text int32
		var extended int64
		err := conn.QueryRow(t.Context(), "SELECT hashtext($1), hashtextextended($1, 0)", pgx.QueryExecModeExec, s).Scan(&text, &extended)
		if err != nil {
			t.Fatal(err)
		}
		if got := keyspec.Hashtext(s); got != text {
			t.Errorf("Hashtext(%q) = %d, the server says %d", s, got, text)
		}
		if got := keyspec.HashtextExtended(s); got != extended {
			t.Errorf("HashtextExtended(%q) = %d, the server says %d", s, got, extended)
		}
	})
}

// storable makes any bytes a text that the server takes: no NUL, valid UTF-8.
func storable(s string) string {
	runes := make([]rune, 0, len(s))
	for _, r := range s {
		if r != 0 && r != utf8.RuneError {
			runes = append(runes, r)
		}
	}
	return string(runes)
}
