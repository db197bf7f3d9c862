//go:build unix

package pgtest

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestSocketStandsInAShortPlainFolder(t *testing.T) {
	for temp, want := range map[string]string{
		"/var/tmp":                        "/var/tmp",
		"/tmp/" + strings.Repeat("x", 66): "/tmp/" + strings.Repeat("x", 66),
		"/tmp/" + strings.Repeat("x", 67): "",
		"/tmp/it's":                       "",
		"/tmp/a,b":                        "",
		"relative":                        "",
		"":                                "",
	} {
		if got := socketBase(temp); got != want {
			t.Errorf("TMPDIR=%s: got %q, want %q", temp, got, want)
		}
	}
}

func TestClusterRunsWithoutItsUsersEnvironmentAndIsRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // closed to the server's user, if root runs the test
	t.Setenv("PGPORT", "1")
	t.Setenv("PGDATA", "/nowhere")
	t.Setenv("TZ", "UTC")
	t.Chdir(t.TempDir())
	c, err := startCluster()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), c.url().String())
	if err != nil {
		t.Fatal(errors.Join(err, c.stop()))
	}
	got := answer[string](t, conn, `SELECT concat_ws(', ', current_setting('listen_addresses'), current_setting('fsync'),
		current_setting('synchronous_commit'), datcollate, current_setting('server_encoding'), current_setting('TimeZone'))
		FROM pg_database WHERE datname = current_database()`)
	if want := ", off, on, C, UTF8, Asia/Kathmandu"; got != want {
		t.Errorf("got settings %q, want %q", got, want)
	}
	if err := c.stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(c.folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cluster's folder: got %v, want it removed", err)
	}
}

func TestClusterStandsOnDiskWhereMemoryIsShort(t *testing.T) {
	t.Setenv("TMPDIR", "")
	t.Setenv("PATH", smallMemory(t)+":"+os.Getenv("PATH"))
	c, err := startCluster()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.stop(); err != nil || !strings.HasPrefix(c.folder, "/tmp/pgtest.") {
		t.Errorf("got the cluster in %q, %v, want it in /tmp", c.folder, err)
	}
}

// smallMemory is a folder, open to the server's user, with a df that reports what Docker gives.
func smallMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "pgtest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	const df = "#!/bin/sh\necho Filesystem\necho shm 65536 0 65536 0% /dev/shm\n"
	program := filepath.Join(dir, "df")
	err = errors.Join(os.WriteFile(program, []byte(df), 0o700), os.Chmod(program, 0o755), os.Chmod(dir, 0o755))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestClusterThatDoesNotStartShowsItsLog(t *testing.T) {
	cmd, err := watchdogCommand(clusterScript, "/nowhere")
	if err != nil {
		t.Fatal(err)
	}
	c, err := runThrowaway(cmd, patience)
	if c != nil || err == nil || !strings.Contains(err.Error(), "/nowhere/initdb") {
		t.Errorf("got %v, %v, want the shell's complaint about /nowhere/initdb", c, err)
	}
}

func TestWatchdogThatSaysNothingIsGivenUp(t *testing.T) {
	begin := time.Now()
	c, err := runThrowaway(exec.Command("sleep", "30"), 5*pause)
	if took := time.Since(begin); c != nil || err == nil || took > patience {
		t.Errorf("got %v, %v after %v, want an error at once", c, err, took)
	}
}

func TestNoServerOutlivesItsTestBinary(t *testing.T) {
	for name, end := range map[string]func(c *child) error{
		"killed":      func(c *child) error { return c.Process.Kill() },
		"interrupted": func(c *child) error { return syscall.Kill(-c.Process.Pid, syscall.SIGINT) },
		"exited":      func(c *child) error { _, err := io.WriteString(c.in, "exit\n"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startChild(t, urlVariable+"=")
			data, postmaster := postmasterOf(t, c.url)
			if err := end(c); err != nil {
				t.Fatal(err)
			}
			if err := c.Wait(); err == nil {
				t.Error("the child ended well")
			}
			Await(t, "the postmaster to end", func() bool { return !alive(postmaster) })
			Await(t, "the folder to go", func() bool {
				_, err := os.Stat(filepath.Dir(data))
				return errors.Is(err, fs.ErrNotExist)
			})
		})
	}
}

// The end may come while a server starts, when nobody is left to hear that it is ready.
func TestNoServerOutlivesATestBinaryThatEndsDuringItsStart(t *testing.T) {
	bin, err := findBin()
	if err != nil {
		t.Fatal(err)
	}
	for script, program := range map[string]string{clusterScript: bin, bouncerScript: "false"} {
		cmd, err := watchdogCommand(script, program)
		if err != nil {
			t.Fatal(err)
		}
		hold, err1 := cmd.StdinPipe()
		said, err2 := cmd.StdoutPipe()
		if err := errors.Join(err1, err2, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(said)
		lines.Scan()
		if err := errors.Join(said.Close(), hold.Close(), cmd.Wait()); err != nil {
			t.Errorf("the watchdog ended with %v", err)
		}
		if _, err := os.Stat(lines.Text()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the folder %q: got %v, want it removed", lines.Text(), err)
		}
	}
}

// postmasterOf asks a server for its data folder and process.
func postmasterOf(t *testing.T, url string) (data string, pid int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer closeConn(conn)
	data = answer[string](t, conn, "SELECT current_setting('data_directory')")
	pid, err = postmasterIn(data)
	if err != nil || !alive(pid) {
		t.Fatalf("no postmaster in %q: %v", data, err)
	}
	return data, pid
}
