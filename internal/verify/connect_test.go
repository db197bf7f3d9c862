package verify_test

import (
	"context"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/pgtest"
	"github.com/statigen/statigen/internal/verify"
)

// Whatever is wrong with a URL, no piece of a password is in the error.
func TestNoErrorHoldsAPassword(t *testing.T) {
	db := pgtest.New(t, "")
	server, err := url.Parse(db.URL())
	if err != nil {
		t.Fatal(err)
	}
	for name, address := range map[string]string{
		"a wrong role":            withUser(*server, "nobody_here", "hunter2secret"),
		"an unreachable host":     "postgres://me:hunter2secret@127.0.0.1:1/db",
		"an unknown host":         "postgres://me:hunter2secret@no-such-host.invalid/db",
		"a port that is none":     "postgres://me:hunter2secret@localhost:port/db",
		"an @ in the password":    "postgres://me:hunter2@secret@127.0.0.1:1/db",
		"a / in the password":     "postgres://me:12/hunter2secret@127.0.0.1:1/db",
		"a ? in the password":     "postgres://me:12?hunter2secret@127.0.0.1:1/db",
		"a # in the password":     "postgres://me:12#hunter2secret@127.0.0.1:1/db",
		"a % in the password":     "postgres://me:hunter2%secret@127.0.0.1:1/db",
		"no @":                    "postgres://me:hunter2secret",
		"another scheme":          "mysql://me:hunter2secret@127.0.0.1:1/db",
		"no scheme":               "me:hunter2secret@127.0.0.1:1/db",
		"a parameter":             "postgres://me@127.0.0.1:1/db?password=hunter2secret",
		"a wrong parameter":       "postgres://me@127.0.0.1:1/db?password=hunter2secret&sslmode=often",
		"words":                   "host=127.0.0.1 port=1 user=me password=hunter2secret",
		"words that end too soon": "host=127.0.0.1 port=1 password='hunter2secret",
		"a space in a password":   "host=127.0.0.1 port=1 user=me password=hunter2 secret",
	} {
		conn, err := verify.Connect(t.Context(), address)
		if err == nil {
			_ = conn.Close(context.Background())
			t.Errorf("%s: connected", name)
			continue
		}
		for _, piece := range []string{"hunter2", "secret"} {
			if strings.Contains(err.Error(), piece) {
				t.Errorf("%s: the error holds %q: %v", name, piece, err)
			}
		}
	}
}

func withUser(u url.URL, name, password string) string {
	u.User = url.UserPassword(name, password)
	return u.String()
}

// Without a URL the environment says where the server is, as it does to psql.
func TestTheEnvironmentNamesTheDatabase(t *testing.T) {
	db := pgtest.New(t, "")
	config := db.Config(t).ConnConfig
	t.Setenv("PGHOST", config.Host)
	t.Setenv("PGPORT", portOf(config.Port))
	t.Setenv("PGUSER", config.User)
	t.Setenv("PGPASSWORD", config.Password)
	t.Setenv("PGDATABASE", db.Name())
	conn, err := verify.Connect(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if got := conn.Config().Database; got != db.Name() {
		t.Errorf("the database is %q", got)
	}
	t.Setenv("PGPASSWORD", "hunter2secret")
	t.Setenv("PGPORT", "hunter2secret")
	if _, err := verify.Connect(t.Context(), ""); err == nil || strings.Contains(err.Error(), "hunter2secret") {
		t.Errorf("the error is %v (PGHOST %s)", err, os.Getenv("PGHOST"))
	}
}
