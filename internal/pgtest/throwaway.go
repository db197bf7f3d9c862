package pgtest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// throwaway is a server under its watchdog, a shell script that prints the server's folder, then "ready" or "failed", and
// stops the server when its standard input ends. It is a process of its own because nothing inside a test binary survives
// a SIGKILL, a panic or an os.Exit; the end of its input is what the kernel brings about in every one of them.
type throwaway struct {
	watchdog *exec.Cmd
	hold     io.Closer // the watchdog's standard input
	folder   string    // holds the log and the socket
}

// watchdogCommand runs a watchdog in a folder that everybody may enter, and in an environment that is the same on every
// machine. In the server's time zone no local time passes for UTC, as it would on most machines that run tests.
func watchdogCommand(script, program string) (*exec.Cmd, error) {
	account, err := serverAccount()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("sh", "-c", script, "watchdog", program, socketBase(os.Getenv("TMPDIR")))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=Asia/Kathmandu"}
	cmd.Dir = "/"
	cmd.SysProcAttr = account
	return cmd, nil
}

// plainShortPath matches a folder in which a socket can stand: its path has at most 103 bytes on some systems, ours takes
// 28 of them, and unix_socket_directories is a list with commas and quotes of its own.
var plainShortPath = regexp.MustCompile(`^/[\w./-]{1,70}$`)

// socketBase is where the user wants the server's folder made, if it can stand there; else the watchdog finds a place.
func socketBase(temp string) string {
	if plainShortPath.MatchString(temp) {
		return temp
	}
	return ""
}

// runThrowaway starts the watchdog and waits until it says that the server is ready. The watchdog of a cluster bounds the
// server's start; the bound here is for the rest, which has none.
func runThrowaway(cmd *exec.Cmd, bound time.Duration) (*throwaway, error) {
	hold, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	said, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	overdue := time.AfterFunc(bound, func() { _ = cmd.Process.Kill() })
	defer overdue.Stop()
	s := &throwaway{watchdog: cmd, hold: hold}
	if err := s.awaitReady(bufio.NewScanner(said)); err != nil {
		_ = s.stop() // the reason is known already
		return nil, err
	}
	return s, nil
}

// awaitReady reads the watchdog's two lines: its folder, and whether the server runs.
func (s *throwaway) awaitReady(said *bufio.Scanner) error {
	said.Scan()
	s.folder = said.Text()
	said.Scan()
	if said.Text() == "ready" {
		return nil
	}
	log, _ := os.ReadFile(filepath.Join(s.folder, "log")) // without a folder there is no log either
	return fmt.Errorf("start a server in %q: %q\n%s", s.folder, said.Text(), log)
}

// stop lets the watchdog go and waits until it has stopped the server and removed the folder.
func (s *throwaway) stop() error {
	_ = s.hold.Close() // a watchdog that is gone already is reported by Wait
	if err := s.watchdog.Wait(); err != nil {
		return fmt.Errorf("stop the server in %s: %w", s.folder, err)
	}
	return nil
}
