//go:build unix

package pgtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// childVariable makes TestChildHoldsADatabase wait in a child process.
const childVariable = "PGTEST_CHILD"

// TestChildHoldsADatabase is what the child processes below run: it says which database it has, and waits to be let go.
func TestChildHoldsADatabase(t *testing.T) {
	db := New(t, "CREATE TABLE held (x int)")
	if os.Getenv(childVariable) == "" {
		return
	}
	fmt.Println("url", db.URL())
	word, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	if word == "exit\n" {
		os.Exit(3)
	}
}

// child is another test binary that has a database.
type child struct {
	*exec.Cmd
	in  io.WriteCloser
	url string
}

func startChild(t *testing.T, env ...string) *child {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildHoldsADatabase$")
	cmd.Env = append(os.Environ(), append(env, childVariable+"=1")...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	url, ok := strings.CutPrefix(lines.Text(), "url ")
	if !ok {
		t.Fatalf("the child says %q", lines.Text())
	}
	return &child{Cmd: cmd, in: in, url: url}
}

func TestGivenServerIsUsedAndLeftClean(t *testing.T) {
	t.Parallel()
	db := New(t, "")
	c := startChild(t, urlVariable+"="+db.server.url.String(), "PGDATABASE="+db.Name())
	config, err := pgx.ParseConfig(c.url)
	if err != nil {
		t.Fatal(err)
	}
	prefix, _, _ := strings.Cut(config.Database, "_d")
	if got := databases(t, db, prefix); got != 2 {
		t.Errorf("got %d databases %s…, want a template and the test's own", got, prefix)
	}
	if answer[int](t, db.server.admin, "SELECT count(*) FROM pg_stat_activity WHERE datname = $1", db.Name()) == 0 {
		t.Error("nobody is connected to the maintenance database")
	}
	if err := errors.Join(c.in.Close(), c.Wait()); err != nil {
		t.Error(err)
	}
	if got := databases(t, db, prefix); got != 0 {
		t.Errorf("%d databases %s… are left on the server", got, prefix)
	}
}
