package runs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/statigen/statigen/internal/host"
)

// The README's three lines, in hosts of the kinds that it names, each with what the README puts before it there. The
// package is the same to the byte.
func TestEachWayToRunItMakesTheSamePackage(t *testing.T) {
	proxy := host.ServeRelease(t, released)
	const (
		run   = "go run " + statigen + "/cmd/statigen@" + released
		apart = "go tool -modfile=../tools.mod statigen"                                   // as seen from the line's own folder
		past  = "go run -mod=readonly -modfile=../tools.mod " + statigen + "/cmd/statigen" // go tool knows no -mod
		tool  = "go tool statigen"
	)
	var want string
	for _, c := range []struct {
		name, line string
		set        func(*testing.T, host.Folder, []string) // nil: nothing
		env        []string                                // the caller's
	}{
		{"run", run, nil, nil},
		{"run beside a vendor folder", run, vendored, nil},
		{"run where all is vendored", "env GOFLAGS=-mod=mod " + run, vendored, []string{"GOFLAGS=-mod=vendor"}},
		{"run in a workspace", run, workspace, nil},
		{"run for another system", "env GOOS= GOARCH= " + run, nil, []string{"GOOS=windows", "GOARCH=arm64"}},
		{"tools.mod", apart, toolApart, nil},
		{"tools.mod where all is vendored", past, both(toolApart, vendored), []string{"GOFLAGS=-mod=vendor"}},
		{"tools.mod in a workspace", "env GOWORK=off " + apart, both(toolApart, workspace), nil},
		{"tools.mod for another system", "env GOOS= GOARCH= " + apart, toolApart, []string{"GOOS=windows", "GOARCH=arm64"}},
		{"tool line", tool, toolLine, nil},
		{"tool line in a workspace", tool, both(toolLine, workspace), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := host.Folder{Dir: t.TempDir()}
			m.Write(t, "go.mod", "module example.com/host\n\ngo 1.26.0\n")
			m.Write(t, "statigen.yaml", "{version: 1, stores: {s: {out: store}}}")
			m.Write(t, "app/host.go", "package app\n\n//go:generate "+c.line+"\n")
			env := append([]string{"GOFLAGS=", "GOWORK="}, proxy...)
			if c.set != nil {
				c.set(t, m, env)
			}
			inEnv(t, m, append(env, c.env...), "go", "generate", "./...")
			got := treeSum(t, filepath.Join(m.Dir, "store"))
			if want == "" {
				want = got
			}
			if got != want {
				t.Error("made another package")
			}
		})
	}
}

func both(first, second func(*testing.T, host.Folder, []string)) func(*testing.T, host.Folder, []string) {
	return func(t *testing.T, m host.Folder, env []string) {
		first(t, m, env)
		second(t, m, env)
	}
}

// vendored is a host that imports nothing yet.
func vendored(t *testing.T, m host.Folder, _ []string) { m.Write(t, "vendor/modules.txt", "") }

func workspace(t *testing.T, m host.Folder, _ []string) {
	m.Write(t, "go.work", "go 1.26.0\n\nuse .\n")
}

func toolApart(t *testing.T, m host.Folder, env []string) {
	inEnv(t, m, env, "go", "mod", "init", "-modfile=tools.mod", "tools")
	inEnv(t, m, env, "go", "get", "-modfile=tools.mod", "-tool", statigen+"/cmd/statigen@"+released)
}

func toolLine(t *testing.T, m host.Folder, env []string) {
	inEnv(t, m, env, "go", "get", "-tool", statigen+"/cmd/statigen@"+released)
}

// inEnv runs a command with nothing set but what the test sets.
func inEnv(t *testing.T, m host.Folder, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = m.Dir
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}
