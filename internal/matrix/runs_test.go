package matrix

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// build makes the command, as a host would have it.
func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "statigen")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./cmd/statigen")
	cmd.Dir = root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// treeSum is one hash over every file below a folder, names included.
func treeSum(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		below, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%s %x\n", below, sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// The same config, its keys in any order, run from anywhere, with any count of processors, is the same tree.
func TestFiftyRunsGiveOneTree(t *testing.T) {
	binary := build(t)
	keys := []string{
		"prefix: loans", "id: uuid", "lock_key: both", "package: loanstore", "tables: {inputs: log, charts: drawings}",
		"leading_columns: [{name: tenant_id, type: uuid}, {name: region, type: text, default: eu}]",
	}
	var want string
	for i := range 50 {
		m := folder{filepath.Join(t.TempDir(), "some host")}
		m.write(t, "go.mod", "module example.com/host\n")
		shuffled := append([]string{}, keys...)
		rand.Shuffle(len(shuffled), func(a, b int) { shuffled[a], shuffled[b] = shuffled[b], shuffled[a] })
		m.write(t, "app/statigen.yaml", "stores:\n  loans:\n    out: store\n    "+strings.Join(shuffled, "\n    ")+"\nversion: 1\n")
		cmd := exec.CommandContext(t.Context(), binary)
		cmd.Dir = filepath.Join(m.dir, "app")
		switch i % 3 {
		case 1:
			m.write(t, "app/below/keep", "")
			cmd.Dir = filepath.Join(m.dir, "app/below")
		case 2:
			cmd.Dir = m.dir
			cmd.Args = append(cmd.Args, "--config", "app/statigen.yaml")
		}
		cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", 1+i%2), "TZ=Asia/Kathmandu", "GOOS=windows")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("run %d: %v\n%s", i, err, out)
		}
		got := treeSum(t, filepath.Join(m.dir, "app/store"))
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("run %d gave another tree", i)
		}
	}
}

// Runs at the same time, of one store and of several configs in one module, end with whole packages and nothing else.
func TestParallelRunsEndWhole(t *testing.T) {
	binary := build(t)
	m := folder{t.TempDir()}
	m.write(t, "go.mod", "module example.com/host\n")
	for i := range 4 {
		m.write(t, fmt.Sprintf("app%d/statigen.yaml", i), fmt.Sprintf("{version: 1, stores: {s: {out: store, prefix: p%d}}}", i))
	}
	for range 4 {
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				cmd := exec.CommandContext(t.Context(), binary)
				cmd.Dir = filepath.Join(m.dir, fmt.Sprintf("app%d", i%4))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("run %d: %v\n%s", i, err, out)
				}
			})
		}
		group.Wait()
		for i := range 4 {
			app := filepath.Join(m.dir, fmt.Sprintf("app%d", i))
			cmd := exec.CommandContext(t.Context(), binary, "check")
			cmd.Dir = app
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", app, err, out)
			}
			leftovers, err := filepath.Glob(filepath.Join(app, "store", ".statigen-*"))
			if err != nil || len(leftovers) > 0 {
				t.Errorf("left behind: %v (%v)", leftovers, err)
			}
			if err := os.RemoveAll(filepath.Join(app, "store")); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A run that is killed anywhere leaves what the next run makes whole.
func TestAKilledRunIsMendedByTheNext(t *testing.T) {
	binary := build(t)
	m := folder{t.TempDir()}
	m.write(t, "go.mod", "module example.com/host\n")
	killed := 0
	for i := range 30 {
		if i%3 == 0 {
			if err := os.RemoveAll(filepath.Join(m.dir, "store")); err != nil {
				t.Fatal(err)
			}
		}
		m.write(t, "statigen.yaml", fmt.Sprintf("{version: 1, stores: {s: {out: store, leading_columns: [{name: c%d, type: text}]}}}", i%2))
		cmd := exec.CommandContext(t.Context(), binary)
		cmd.Dir = m.dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(rand.IntN(120))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil {
			killed++
		}
		timer.Stop()
		for _, command := range []string{"generate", "check"} {
			next := exec.CommandContext(t.Context(), binary, command)
			next.Dir = m.dir
			if out, err := next.CombinedOutput(); err != nil {
				t.Fatalf("after a kill, %s: %v\n%s", command, err, out)
			}
		}
	}
	if killed == 0 {
		t.Error("no run was killed in time; the test shows nothing")
	}
}
