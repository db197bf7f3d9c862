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
	hold     io.WriteCloser // the watchdog's standard input
	said     *bufio.Scanner // its standard output
	folder   string         // holds the log and the socket
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
	s := &throwaway{watchdog: cmd, hold: hold, said: bufio.NewScanner(said)}
	overdue := s.giveUpAfter(bound)
	defer overdue.Stop()
	s.said.Scan()
	s.folder = s.said.Text()
	if err := s.awaitReady(); err != nil {
		_ = s.stop() // the reason is known already
		return nil, err
	}
	return s, nil
}

func (s *throwaway) giveUpAfter(bound time.Duration) *time.Timer {
	return time.AfterFunc(bound, func() { _ = s.watchdog.Process.Kill() })
}

// awaitReady reads from the watchdog whether the server runs.
func (s *throwaway) awaitReady() error {
	s.said.Scan()
	if s.said.Text() == "ready" {
		return nil
	}
	log, _ := os.ReadFile(filepath.Join(s.folder, "log")) // without a folder there is no log either
	return fmt.Errorf("start a server in %q: %q\n%s", s.folder, s.said.Text(), log)
}

// restart has the watchdog start the server again, which is dead. Only that of a cluster knows how.
func (s *throwaway) restart(bound time.Duration) error {
	overdue := s.giveUpAfter(bound)
	defer overdue.Stop()
	if _, err := io.WriteString(s.hold, "start\n"); err != nil {
		return fmt.Errorf("start the server in %s again: %w", s.folder, err)
	}
	return s.awaitReady()
}

// stop lets the watchdog go and waits until it has stopped the server and removed the folder.
func (s *throwaway) stop() error {
	_ = s.hold.Close() // a watchdog that is gone already is reported by Wait
	if err := s.watchdog.Wait(); err != nil {
		return fmt.Errorf("stop the server in %s: %w", s.folder, err)
	}
	return nil
}
