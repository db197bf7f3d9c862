package pgtest

import (
	_ "embed"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// bouncerScript is a PgBouncer's watchdog.
//
//go:embed bouncer.sh
var bouncerScript string

// Pooling says when a PgBouncer lends a server's connection to the next client.
type Pooling string

const (
	// TransactionPooling is between two transactions.
	TransactionPooling Pooling = "transaction"
	// StatementPooling is between two statements; a transaction block is refused, but not one within one message.
	StatementPooling Pooling = "statement"
)

// Bouncer starts a PgBouncer in front of the server and returns the option to connect through it, as the superuser or as
// one of the roles. Of a client's settings it takes TimeZone, DateStyle and application_name; what else a session needs
// is set for its role. However many clients there are, a role has three connections to the server in a database. The
// bouncer is stopped at the test's end. A machine without PgBouncer fails the test.
func (d *DB) Bouncer(t testing.TB, mode Pooling, roles ...string) Option {
	t.Helper()
	bouncer, err := startBouncer(bouncerSettings(d.Config(t).ConnConfig, mode), d.bouncerUsers(t, roles))
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		if err := bouncer.stop(); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return func(c *pgxpool.Config) {
		c.ConnConfig.Host, c.ConnConfig.Port = bouncer.folder, 6432
		c.ConnConfig.TLSConfig, c.ConnConfig.Fallbacks = nil, nil
	}
}

func startBouncer(settings, users string) (*throwaway, error) {
	program, err := findBouncer("pgbouncer", "/usr/sbin/pgbouncer")
	if err != nil {
		return nil, err
	}
	cmd, err := watchdogCommand(bouncerScript, program)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(cmd.Env, "SETTINGS="+settings, "USERS="+users)
	return runThrowaway(cmd, patience)
}

// findBouncer is the first of the programs that is there. Debian's is not in everybody's PATH.
func findBouncer(programs ...string) (string, error) {
	for _, program := range programs {
		if found, err := exec.LookPath(program); err == nil {
			return found, nil
		}
	}
	return "", errors.New("no pgbouncer found (looked in PATH and in /usr/sbin): install it (Debian: apt-get install pgbouncer)")
}

// bouncerSettings ask no client for a password: its folder is closed to others.
func bouncerSettings(server *pgx.ConnConfig, mode Pooling) string {
	return fmt.Sprintf(`[databases]
* = host='%s' port=%d
[pgbouncer]
pool_mode = %s
default_pool_size = 3
listen_port = 6432
auth_type = trust
server_tls_sslmode = prefer`, strings.ReplaceAll(server.Host, "'", "''"), server.Port, mode)
}

// bouncerUsers is its list of users: all have the superuser's password, as [DB.Role] sees to.
func (d *DB) bouncerUsers(t testing.TB, roles []string) string {
	t.Helper()
	superuser := d.Config(t).ConnConfig
	var users strings.Builder
	for _, user := range append([]string{superuser.User}, roles...) {
		fmt.Fprintf(&users, "%s %s\n", bouncerQuote(user), bouncerQuote(superuser.Password))
	}
	return users.String()
}

func bouncerQuote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
