package pgtest

import (
	"strings"
	"testing"
)

// Role makes a role that may log in and returns its name, which is unique in the cluster and needs no quotes. Each grant is
// SQL in which %s stands for the role: "GRANT SELECT ON charts TO %s". The role is dropped at the test's end.
func (d *DB) Role(t testing.TB, grants ...string) string {
	t.Helper()
	name := d.server.name("r")
	d.Exec(t, "CREATE ROLE "+quote(name)+" LOGIN PASSWORD "+d.passwordLiteral())
	t.Cleanup(func() {
		d.Exec(t, "DROP OWNED BY "+quote(name)+" CASCADE; DROP ROLE "+quote(name))
	})
	for _, grant := range grants {
		d.Exec(t, strings.ReplaceAll(grant, "%s", quote(name)))
	}
	return name
}

// passwordLiteral is the superuser's password: with it As changes the user and nothing else.
func (d *DB) passwordLiteral() string {
	password, ok := d.server.url.User.Password()
	if !ok {
		return "NULL"
	}
	return "'" + strings.ReplaceAll(password, "'", "''") + "'"
}
