package pgtest

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// watchdog runs the cluster. It is a process of its own because nothing inside a test binary survives a SIGKILL, a panic or
// an os.Exit; what it waits for is the end of its standard input, which the kernel brings about in every one of them.
//
//go:embed watchdog.sh
var watchdog string

// cluster is a throwaway Postgres cluster under its watchdog.
type cluster struct {
	watchdog *exec.Cmd
	hold     io.Closer // the watchdog's standard input
	folder   string    // holds the data, the log and the socket
}

// startCluster starts a cluster from the newest Postgres on this machine.
func startCluster() (*cluster, error) {
	bin, err := newestBin(binDirs(debianBins))
	if err != nil {
		return nil, err
	}
	cmd, err := watchdogCommand(bin)
	if err != nil {
		return nil, err
	}
	return runCluster(cmd, 12*patience)
}

// watchdogCommand runs the watchdog in a folder that everybody may enter, and in an environment that is the same on every
// machine. In the server's time zone no local time passes for UTC, as it would on most machines that run tests.
func watchdogCommand(bin string) (*exec.Cmd, error) {
	account, err := serverAccount()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("sh", "-c", watchdog, "watchdog", bin, socketBase(os.Getenv("TMPDIR")))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=Asia/Kathmandu"}
	cmd.Dir = "/"
	cmd.SysProcAttr = account
	return cmd, nil
}

// plainShortPath matches a folder in which a socket can stand: its path has at most 103 bytes on some systems, ours takes
// 28 of them, and unix_socket_directories is a list with commas and quotes of its own.
var plainShortPath = regexp.MustCompile(`^/[\w./-]{1,70}$`)

// socketBase is where the user wants the cluster's folder made, if it can stand there; else the watchdog finds a place.
func socketBase(temp string) string {
	if plainShortPath.MatchString(temp) {
		return temp
	}
	return ""
}

// runCluster starts the watchdog and waits until it says that the server is ready. The watchdog bounds the server's start;
// the bound here is for the rest, which has none.
func runCluster(cmd *exec.Cmd, bound time.Duration) (*cluster, error) {
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
	c := &cluster{watchdog: cmd, hold: hold}
	if err := c.awaitReady(bufio.NewScanner(said)); err != nil {
		_ = c.stop() // the reason is known already
		return nil, err
	}
	return c, nil
}

// awaitReady reads the watchdog's two lines: its folder, and whether the server runs.
func (c *cluster) awaitReady(said *bufio.Scanner) error {
	said.Scan()
	c.folder = said.Text()
	said.Scan()
	if said.Text() == "ready" {
		return nil
	}
	log, _ := os.ReadFile(filepath.Join(c.folder, "log")) // without a folder there is no log either
	return fmt.Errorf("start Postgres in %q: %q\n%s", c.folder, said.Text(), log)
}

func (c *cluster) url() *url.URL {
	place := url.Values{"host": {c.folder}, "port": {"5432"}, "sslmode": {"disable"}}
	return &url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/postgres", RawQuery: place.Encode()}
}

// stop lets the watchdog go and waits until it has stopped the server and removed the folder.
func (c *cluster) stop() error {
	_ = c.hold.Close() // a watchdog that is gone already is reported by Wait
	if err := c.watchdog.Wait(); err != nil {
		return fmt.Errorf("stop Postgres in %s: %w", c.folder, err)
	}
	return nil
}
