package runs

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/statigen/statigen/internal/host"
)

const (
	statigen = "github.com/statigen/statigen"
	released = "v0.0.1"
)

// This very tree, released as v0.0.1 and served by a module proxy, runs in a host that knows nothing of it: no replace
// line, and every embedded text in place. A release passes over what it wrote itself, without starting sqlc.
func TestAReleaseRunsInAnEmptyHost(t *testing.T) {
	proxy := serveRelease(t)
	m := host.NewModule(t, "example.com/host", "require github.com/jackc/pgx/v5 "+host.OldestPGX+"\n")
	m.Write(t, "statigen.yaml", "{version: 1, stores: {s: {out: store}}}")
	bin := t.TempDir()
	env := append(fromProxy(t, proxy), "GOBIN="+bin)
	if out := m.Run(t, env, "go", "run", statigen+"/cmd/statigen@"+released); !strings.Contains(out, "store/store.go\n") {
		t.Errorf("go run printed\n%s", out)
	}
	sum, err := os.ReadFile(filepath.Join(m.Dir, "store/statigen.sum"))
	if err != nil || !bytes.Contains(sum, []byte(`"statigen": "`+released+`"`)) {
		t.Errorf("the manifest does not name %s (%v):\n%s", released, err, sum)
	}
	m.Run(t, nil, "go", "build", "./...")

	// As a tool in a file of its own: no -mod flag, which go tool does not take.
	env = append(env, "GOFLAGS=")
	m.Tool(t, env, "go", "mod", "init", "-modfile=tools.mod", "example.com/tools")
	m.Tool(t, env, "go", "get", "-modfile=tools.mod", "-tool", statigen+"/cmd/statigen@"+released)
	if out := m.Tool(t, env, "go", "tool", "-modfile=tools.mod", "statigen", "check"); out != "" {
		t.Errorf("go tool statigen check printed\n%s", out)
	}

	m.Run(t, env, "go", "install", statigen+"/cmd/statigen@"+released)
	binary := filepath.Join(bin, "statigen")
	noRoomForSQLC := []string{"TMPDIR=/nonexistent"}
	if out := m.Run(t, noRoomForSQLC, binary); out != "" {
		t.Errorf("an unchanged run printed\n%s", out)
	}
	if err := os.Remove(filepath.Join(m.Dir, "store/doc.go")); err != nil {
		t.Fatal(err)
	}
	if out := m.Run(t, nil, binary); out != "store/doc.go\n" {
		t.Errorf("after a file was lost, printed\n%s", out)
	}
}

// fromProxy is the environment in which the go command finds the release.
func fromProxy(t *testing.T, proxy string) []string {
	t.Helper()
	return []string{
		"GOPROXY=file://" + proxy + "," + goEnv(t, "GOPROXY"), "GONOSUMDB=" + statigen,
		// The go command keeps an index of each released module, for a release never changes. This one does.
		"GODEBUG=goindex=0",
	}
}

// serveRelease writes a folder that the go command takes for a module proxy, and sees to it that the release leaves no
// trace in the module cache.
func serveRelease(t *testing.T) string {
	t.Helper()
	forget := func() {
		cache := goEnv(t, "GOMODCACHE")
		for _, dir := range []string{filepath.Join(cache, statigen+"@"+released), filepath.Join(cache, "cache/download", statigen)} {
			makeWritable(t, dir)
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
		}
	}
	forget()
	t.Cleanup(forget)
	proxy := host.Folder{Dir: t.TempDir()}
	at := statigen + "/@v/" + released
	gomod, err := os.ReadFile(filepath.Join(host.Root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	proxy.Write(t, statigen+"/@v/list", released+"\n")
	proxy.Write(t, at+".mod", string(gomod))
	proxy.Write(t, at+".info", `{"Version": "`+released+`", "Time": "2026-01-01T00:00:00Z"}`)
	archive, err := os.Create(filepath.Join(proxy.Dir, at+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	err = zip.Create(archive, module.Version{Path: statigen, Version: released}, tracked(t))
	if err := errors.Join(err, archive.Close()); err != nil {
		t.Fatal(err)
	}
	return proxy.Dir
}

// makeWritable undoes the module cache's protection.
func makeWritable(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			err = os.Chmod(path, 0o755)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// tracked are the files that a release holds: those of the checkout that git knows or does not ignore.
func tracked(t *testing.T) []zip.File {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = host.Root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var files []zip.File
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		file := treeFile{name, filepath.Join(host.Root(t), name)}
		if _, err := file.Lstat(); err == nil {
			files = append(files, file)
		}
	}
	return files
}

type treeFile struct{ name, path string }

func (f treeFile) Path() string                 { return f.name }
func (f treeFile) Lstat() (os.FileInfo, error)  { return os.Lstat(f.path) }
func (f treeFile) Open() (io.ReadCloser, error) { return os.Open(f.path) }
