//go:build unix

package pgtest

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestAKilledServerComesBackWithWhatItHadSaid(t *testing.T) {
	t.Parallel()
	m := NewMortal(t, "CREATE TABLE held (x int)")
	for _, setting := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		if got := answer[string](t, m.Conn(t), "SELECT current_setting($1)", setting); got != "on" {
			t.Errorf("%s = %s, want on", setting, got)
		}
	}
	for round := 1; round <= 2; round++ {
		data, before := postmasterOf(t, m.URL())
		m.Exec(t, "INSERT INTO held VALUES (7)")
		open := m.Conn(t)
		m.Kill(t)
		if alive(before) {
			t.Errorf("postmaster %d is alive", before)
		}
		if _, err := pgx.Connect(t.Context(), m.URL()); err == nil {
			t.Error("a killed server let somebody in")
		}
		if _, err := open.Exec(t.Context(), "SELECT"); err == nil {
			t.Error("a killed server answered")
		}
		m.Restart(t)
		if again, now := postmasterOf(t, m.URL()); again != data || now == before {
			t.Errorf("process %d in %s, want another than %d in %s", now, again, before, data)
		}
		if got := answer[int](t, m.Conn(t), "SELECT count(*) FROM held"); got != round {
			t.Errorf("%d rows are left, want %d", got, round)
		}
	}
}
