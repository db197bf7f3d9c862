package runs

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/statigen/statigen/internal/host"
)

// build makes the command, as a host would have it.
func build(t *testing.T, flags ...string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "statigen")
	args := append([]string{"build", "-o", binary}, flags...)
	cmd := exec.CommandContext(t.Context(), "go", append(args, "./cmd/statigen")...)
	cmd.Dir = host.Root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// treeSum is one hash over every file below a host.Folder, names included.
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

func TestB18OutputDiffersFromRunToRun(t *testing.T) {
	binary := build(t)
	t.Run("fifty runs", func(t *testing.T) { fiftyRunsGiveOneTree(t, binary) })
	t.Run("eight stores of one module at once", func(t *testing.T) {
		runsAtOnceEndWhole(t, binary, []int{0, 1, 2, 3, 4, 5, 6, 7})
	})
	t.Run("one store four times at once", func(t *testing.T) { runsAtOnceEndWhole(t, binary, []int{0, 0, 0, 0}) })
	t.Run("with and without a stamp of the checkout", stampsChangeNothing)
}

// The same config, its keys in any order, run from anywhere, with any count of processors, is the same tree.
func fiftyRunsGiveOneTree(t *testing.T, binary string) {
	keys := []string{
		"prefix: loans", "id: uuid", "lock_key: both", "package: loanstore", "tables: {inputs: log, charts: drawings}",
		"leading_columns: [{name: tenant_id, type: uuid}, {name: region, type: text, default: eu}]",
	}
	var want string
	for i := range 50 {
		m := host.Folder{Dir: filepath.Join(t.TempDir(), "some host")}
		m.Write(t, "go.mod", "module example.com/host\n")
		shuffled := append([]string{}, keys...)
		rand.Shuffle(len(shuffled), func(a, b int) { shuffled[a], shuffled[b] = shuffled[b], shuffled[a] })
		m.Write(t, "app/statigen.yaml", "stores:\n  loans:\n    out: store\n    "+strings.Join(shuffled, "\n    ")+"\nversion: 1\n")
		cmd := exec.CommandContext(t.Context(), binary)
		cmd.Dir = filepath.Join(m.Dir, "app")
		switch i % 3 {
		case 1:
			m.Write(t, "app/below/keep", "")
			cmd.Dir = filepath.Join(m.Dir, "app/below")
		case 2:
			cmd.Dir = m.Dir
			cmd.Args = append(cmd.Args, "--config", "app/statigen.yaml")
		}
		cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", 1+i%2), "TZ=Asia/Kathmandu", "GOOS=windows")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("run %d: %v\n%s", i, err, out)
		}
		got := treeSum(t, filepath.Join(m.Dir, "app/store"))
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("run %d gave another tree", i)
		}
	}
}

// Runs at the same time, each of the config with its number, end with whole packages and nothing else.
func runsAtOnceEndWhole(t *testing.T, binary string, configs []int) {
	m := host.Folder{Dir: t.TempDir()}
	m.Write(t, "go.mod", "module example.com/host\n")
	for _, i := range configs {
		m.Write(t, fmt.Sprintf("app%d/statigen.yaml", i), fmt.Sprintf("{version: 1, stores: {s: {out: store, prefix: p%d}}}", i))
	}
	for range 4 {
		var group sync.WaitGroup
		for _, i := range configs {
			group.Go(func() { runStatigen(t, m, binary, i) })
		}
		group.Wait()
		for _, i := range slices.Compact(slices.Clone(configs)) {
			runStatigen(t, m, binary, i, "check")
			store := filepath.Join(m.Dir, fmt.Sprintf("app%d/store", i))
			leftovers, err := filepath.Glob(filepath.Join(store, ".statigen-*"))
			if err != nil || len(leftovers) > 0 {
				t.Errorf("left behind: %v (%v)", leftovers, err)
			}
			if err := os.RemoveAll(store); err != nil {
				t.Error(err)
			}
		}
	}
}

// runStatigen runs the command on the config with a number.
func runStatigen(t *testing.T, m host.Folder, binary string, config int, args ...string) {
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir = filepath.Join(m.Dir, fmt.Sprintf("app%d", config))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("statigen %v in app%d: %v\n%s", args, config, err, out)
	}
}

// The go command writes the checkout's revision into a binary, or does not. Either makes the committed example, but one
// whose revision is a released tag says so in the manifest.
func stampsChangeNothing(t *testing.T) {
	tags := host.Folder{Dir: host.Root(t)}.Tool(t, nil, "git", "tag", "--points-at", "HEAD")
	for _, flag := range []string{"-buildvcs=true", "-buildvcs=false"} {
		binary := build(t, flag)
		example := host.Folder{Dir: filepath.Join(host.Root(t), "gen/example")}
		want := ""
		version := strings.Fields(example.Tool(t, nil, binary, "version"))[1]
		if slices.Contains(strings.Fields(tags), version) {
			want = "gen/example/loanstore/statigen.sum: out of date\n"
		} else if version != "devel" {
			t.Errorf("built with %s, the version is %s, want devel or one of %q", flag, version, tags)
		}
		cmd := exec.CommandContext(t.Context(), binary, "check")
		cmd.Dir = example.Dir
		out, err := cmd.CombinedOutput()
		if string(out) != want || (err == nil) != (want == "") {
			t.Errorf("built with %s, check says %q (%v), want %q", flag, out, err, want)
		}
	}
}

// A run that is killed anywhere leaves what the next run makes whole.
func TestAKilledRunIsMendedByTheNext(t *testing.T) {
	binary := build(t)
	m := host.Folder{Dir: t.TempDir()}
	m.Write(t, "go.mod", "module example.com/host\n")
	killed := 0
	for i := range 30 {
		if i%3 == 0 {
			if err := os.RemoveAll(filepath.Join(m.Dir, "store")); err != nil {
				t.Fatal(err)
			}
		}
		m.Write(t, "statigen.yaml", fmt.Sprintf("{version: 1, stores: {s: {out: store, leading_columns: [{name: c%d, type: text}]}}}", i%2))
		cmd := exec.CommandContext(t.Context(), binary)
		cmd.Dir = m.Dir
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
			next.Dir = m.Dir
			if out, err := next.CombinedOutput(); err != nil {
				t.Fatalf("after a kill, %s: %v\n%s", command, err, out)
			}
		}
	}
	if killed == 0 {
		t.Error("no run was killed in time; the test shows nothing")
	}
}
