//go:build unix

package pgtest

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestStandbyShowsWhatThePrimaryWritesAndWritesNothing(t *testing.T) {
	primary, standby := Standby(t, "CREATE TABLE held (x int)")
	primary.Exec(t, "INSERT INTO held VALUES (7)")
	AwaitReplay(t, primary, standby)
	conn := standby.Conn(t)
	if got := answer[int](t, conn, "SELECT x FROM held"); got != 7 {
		t.Errorf("the standby shows %d, want 7", got)
	}
	if !answer[bool](t, conn, "SELECT pg_is_in_recovery()") {
		t.Error("the standby is no standby")
	}
	_, err := conn.Exec(t.Context(), "INSERT INTO held VALUES (8)")
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "25006" {
		t.Errorf("writing to the standby: %v, want 25006", err)
	}
}

func TestStandbyAndItsPrimaryAreRemovedAtTheTestsEnd(t *testing.T) {
	var folders []string
	t.Run("test", func(t *testing.T) {
		for _, d := range func() []*DB { primary, standby := Standby(t, ""); return []*DB{primary, standby} }() {
			folders = append(folders, answer[string](t, d.Conn(t), "SELECT current_setting('unix_socket_directories')"))
		}
	})
	if folders[0] == folders[1] {
		t.Errorf("both stand in %s", folders[0])
	}
	for _, folder := range folders {
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v, want it removed", folder, err)
		}
		if _, err := pgx.Connect(t.Context(), "host="+folder+" user=postgres"); err == nil {
			t.Errorf("a server answers in %s", folder)
		}
	}
}

func TestAStandbyIsThrownAwayWhateverServerIsGiven(t *testing.T) {
	given := New(t, "")
	t.Setenv(urlVariable, given.URL())
	primary, standby := Standby(t, "")
	for _, d := range []*DB{primary, standby} {
		if d.server.url.String() == given.server.url.String() {
			t.Errorf("%s is the given server", d.URL())
		}
	}
}
