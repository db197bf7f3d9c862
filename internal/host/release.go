package host

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// Statigen is the module's path.
const Statigen = "github.com/statigen/statigen"

// ServeRelease makes a release of this very tree, in a folder that the go command takes for a module proxy, and returns the
// environment in which it is found. The release leaves no trace in the module cache. Two tests that run at a time serve two
// versions.
func ServeRelease(t *testing.T, version string) []string {
	t.Helper()
	forget(t, version)
	t.Cleanup(func() { forget(t, version) })
	proxy := Folder{Dir: t.TempDir()}
	at := Statigen + "/@v/" + version
	gomod, err := os.ReadFile(filepath.Join(Root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	proxy.Write(t, Statigen+"/@v/list", version+"\n")
	proxy.Write(t, at+".mod", string(gomod))
	proxy.Write(t, at+".info", `{"Version": "`+version+`", "Time": "2026-01-01T00:00:00Z"}`)
	proxy.zip(t, at+".zip", version)
	return []string{
		"GOPROXY=file://" + proxy.Dir + "," + goEnv(t, "GOPROXY"), "GONOSUMDB=" + Statigen,
		// The go command keeps an index of each released module, for a release never changes. This one does.
		"GODEBUG=goindex=0",
	}
}

func (m Folder) zip(t *testing.T, name, version string) {
	t.Helper()
	archive, err := os.Create(filepath.Join(m.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	err = zip.Create(archive, module.Version{Path: Statigen, Version: version}, tracked(t))
	if err := errors.Join(err, archive.Close()); err != nil {
		t.Fatal(err)
	}
}

// forget removes a release from the module cache.
func forget(t *testing.T, version string) {
	t.Helper()
	cache := goEnv(t, "GOMODCACHE")
	unpacked := filepath.Join(cache, Statigen+"@"+version)
	makeWritable(t, unpacked)
	files, err := filepath.Glob(filepath.Join(cache, "cache/download", Statigen, "@v", version+".*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(files, unpacked) {
		if err := os.RemoveAll(path); err != nil {
			t.Error(err)
		}
	}
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
	cmd.Dir = Root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var files []zip.File
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		file := treeFile{name, filepath.Join(Root(t), name)}
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
