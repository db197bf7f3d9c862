package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// errNoPostgres is what a test on a machine without Postgres fails with.
var errNoPostgres = errors.New("no Postgres found (looked for postgres, initdb and pg_ctl in PATH, in pg_config --bindir " +
	"and in " + debianBins + "): install it (Debian: apt-get install postgresql), " +
	"or set " + binVariable + " to the folder of its programs, or " + urlVariable + " to a superuser's URL of a running server")

// binVariable names the folder of the programs to start a throwaway cluster with.
const binVariable = "STATIGEN_TEST_POSTGRES_BIN"

// debianBins is where Debian's packages put one Postgres beside the other; none of them is in PATH.
const debianBins = "/usr/lib/postgresql/*/bin"

// findBin is the folder that the environment names, else the one that holds the newest Postgres on this machine.
func findBin() (string, error) {
	given := os.Getenv(binVariable)
	if given == "" {
		return newestBin(binDirs(debianBins))
	}
	if version(given) == 0 {
		return "", fmt.Errorf("%s: want the absolute path of a folder with postgres, initdb and pg_ctl, got %q", binVariable, given)
	}
	return given, nil
}

// binDirs lists the folders in which a Postgres may be installed, with repetitions.
func binDirs(installed string) []string {
	var dirs []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		// A link is followed: the rest of the installation lies beside the program, not beside the link.
		if program, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres")); err == nil {
			dirs = append(dirs, filepath.Dir(program))
		}
	}
	if dir, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(dir)))
	}
	more, _ := filepath.Glob(installed) // fails for a malformed pattern only
	return append(dirs, more...)
}

// newestBin is the one of the folders that holds the newest Postgres.
func newestBin(dirs []string) (string, error) {
	newest, highest := "", 0
	for _, dir := range dirs {
		if v := version(dir); v > highest {
			newest, highest = dir, v
		}
	}
	if newest == "" {
		return "", errNoPostgres
	}
	return newest, nil
}

var versionNumber = regexp.MustCompile(`^postgres \([^)]*\) (\d+)(?:\.(\d+))?`)

// version is the version of the Postgres in a folder as one number (15.18: 150018), and zero where there is no whole one.
func version(dir string) int {
	if !filepath.IsAbs(dir) { // the watchdog runs elsewhere
		return 0
	}
	for _, program := range []string{"postgres", "initdb", "pg_ctl"} {
		if _, err := exec.LookPath(filepath.Join(dir, program)); err != nil {
			return 0
		}
	}
	answer, err := exec.Command(filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return 0
	}
	return parseVersion(string(answer))
}

// parseVersion reads the answer of postgres --version: "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)".
func parseVersion(answer string) int {
	found := versionNumber.FindStringSubmatch(answer)
	if found == nil {
		return 0
	}
	major, _ := strconv.Atoi(found[1])
	minor, _ := strconv.Atoi(found[2]) // "18beta1" has none
	return major*10000 + minor
}
