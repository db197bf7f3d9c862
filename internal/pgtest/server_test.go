package pgtest

import (
	"strings"
	"testing"
)

func TestMaintenanceDatabaseIsPGDATABASEElseTheURLsElsePostgres(t *testing.T) {
	for _, c := range []struct{ env, given, want string }{
		{"", "postgres://u:p@h:1/own?sslmode=disable", "postgres://u:p@h:1/own?sslmode=disable"},
		{"", "postgresql://h?dbname=own", "postgresql://h/own"},
		{"", "postgres://h", "postgres://h/postgres"},
		{"env", "postgres://h/own?database=x", "postgres://h/env"},
	} {
		t.Setenv("PGDATABASE", c.env)
		got, err := maintenanceURL(c.given)
		if err != nil || got.String() != c.want {
			t.Errorf("PGDATABASE=%q, %s: got %v, %v, want %s", c.env, c.given, got, err, c.want)
		}
	}
	if got, err := maintenanceURL("host=h dbname=own"); err == nil {
		t.Errorf("got %v for something that is no URL", got)
	}
}

func TestGivenServerThatIsNotThereFailsTheTest(t *testing.T) {
	t.Setenv(urlVariable, "postgres:///x?host="+t.TempDir())
	s, err := startServer()
	if s != nil || err == nil || !strings.Contains(err.Error(), urlVariable) {
		t.Errorf("got %v, %v, want an error that names the variable", s, err)
	}
}
