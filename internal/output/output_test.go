package output_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/statigen/statigen/internal/output"
)

func write(t *testing.T, root string, files map[string][]byte) []string {
	t.Helper()
	changed, err := output.Write(root, "gen/store", files)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func TestOnlyWhatDiffersIsTouched(t *testing.T) {
	root := t.TempDir()
	files := map[string][]byte{"a.go": []byte("a"), "internal/db/b.go": []byte("b")}
	if got := write(t, root, files); !slices.Equal(got, []string{"a.go", "internal/db/b.go"}) {
		t.Errorf("first run changed %v", got)
	}
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	same := filepath.Join(root, "gen/store/a.go")
	if err := os.Chtimes(same, old, old); err != nil {
		t.Fatal(err)
	}
	files["internal/db/b.go"] = []byte("c")
	if got := write(t, root, files); !slices.Equal(got, []string{"internal/db/b.go"}) {
		t.Errorf("second run changed %v", got)
	}
	info, err := os.Stat(same)
	if err != nil {
		t.Fatal(err)
	}
	if !info.ModTime().Equal(old) {
		t.Errorf("the unchanged file was touched: modified %s, want %s", info.ModTime(), old)
	}
}

func TestNothingIsLeftOrReplacedWhenAFileCannotBeWritten(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string][]byte{"a.go": []byte("old")})
	// A folder stands where the second file's temporary name would be.
	blocked := filepath.Join(root, "gen/store/.statigen-b.go.tmp/full")
	if err := os.MkdirAll(blocked, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := output.Write(root, "gen/store", map[string][]byte{"a.go": []byte("new"), "b.go": []byte("new")})
	if err == nil {
		t.Fatal("the run claims to have written b.go")
	}
	if text, err := os.ReadFile(filepath.Join(root, "gen/store/a.go")); err != nil || string(text) != "old" {
		t.Errorf("a.go holds %q (%v), want its old text", text, err)
	}
	if _, err := os.Stat(filepath.Join(root, "gen/store/.statigen-a.go.tmp")); !os.IsNotExist(err) {
		t.Errorf("the temporary file is left: %v", err)
	}
}

func TestNothingIsWrittenThroughASymbolicLink(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(root, "gen")); err != nil {
		t.Fatal(err)
	}
	if _, err := output.Write(root, "gen/store", map[string][]byte{"a.go": nil}); err == nil {
		t.Error("the run claims to have written through the link")
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 0 {
		t.Errorf("outside now holds %v (%v)", entries, err)
	}
}
