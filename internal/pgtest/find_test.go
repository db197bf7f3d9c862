package pgtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMachineWithoutPostgresFailsTheTestAndSaysWhatToDo(t *testing.T) {
	t.Setenv("PATH", "")
	lazy := lazyServer{}
	lazy.open()
	lazy.start = func() (*server, error) {
		_, err := newestBin(binDirs(t.TempDir() + "/*/bin"))
		return nil, err
	}
	failures := rehearse(t, func(t testing.TB) { lazy.newDB(t, "") })
	mustFailWith(t, failures, "apt-get install postgresql")
	mustFailWith(t, failures, "set STATIGEN_TEST_POSTGRES_BIN")
	mustFailWith(t, failures, "STATIGEN_TEST_DATABASE_URL")
}

// installation makes a folder that looks like a Postgres of this version.
func installation(t *testing.T, version string, programs ...string) string {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\necho 'postgres (PostgreSQL) %s (Debian 99.1)'\n", version)
	for _, program := range programs {
		if err := os.WriteFile(filepath.Join(dir, program), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestNewestWholePostgresIsTaken(t *testing.T) {
	whole := []string{"postgres", "initdb", "pg_ctl"}
	want := installation(t, "18beta1", whole...)
	got, err := newestBin([]string{
		installation(t, "9.6.24", whole...), installation(t, "17.9", whole...), want, installation(t, "17.10", whole...),
		installation(t, "19.1", "postgres", "pg_ctl"), installation(t, "devel", whole...), "relative", "/nowhere", "",
	})
	if err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestTheFolderThatTheEnvironmentNamesIsTaken(t *testing.T) {
	named := installation(t, "9.6", "postgres", "initdb", "pg_ctl")
	t.Setenv(binVariable, named)
	if got, err := findBin(); got != named || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, named)
	}
}

func TestAFolderWithoutAWholePostgresIsRefused(t *testing.T) {
	t.Setenv(binVariable, installation(t, "18.1", "postgres", "initdb"))
	if got, err := findBin(); err == nil || !strings.HasPrefix(err.Error(), binVariable) {
		t.Errorf("got %q, %v, want an error that names the variable", got, err)
	}
}

func TestVersionsAreReadAsNumbers(t *testing.T) {
	for answer, want := range map[string]int{
		"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)": 150018,
		"postgres (PostgreSQL) 17.2":                           170002,
		"postgres (PostgreSQL) 18beta1":                        180000,
		"postgres":                                             0,
	} {
		if got := parseVersion(answer); got != want {
			t.Errorf("%s: got %d, want %d", answer, got, want)
		}
	}
}

func TestLinkInPathIsFollowedToTheInstallation(t *testing.T) {
	genuine, links := installation(t, "18.1", "postgres"), t.TempDir()
	if err := os.Symlink(filepath.Join(genuine, "postgres"), filepath.Join(links, "postgres")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", links)
	if got := binDirs(""); len(got) != 1 || got[0] != genuine {
		t.Errorf("got %q, want %q", got, genuine)
	}
}
