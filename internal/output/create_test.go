package output_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/output"
)

// What fails at its second file takes the first one back.
func TestCreateWritesAllOrNothing(t *testing.T) {
	root := t.TempDir()
	f := output.Folder{Root: root, Path: ".", Files: map[string][]byte{"a": []byte("a"), "nowhere/b": nil}}
	if err := output.Create(f); err == nil || !strings.Contains(err.Error(), "write nowhere/b: ") {
		t.Errorf("says %v", err)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) > 0 {
		t.Errorf("left %v (%v)", entries, err)
	}
}

func TestCreateNamesAllThatIsThereAndWritesNothing(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"b", "store"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("theirs"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := output.Folder{Root: root, Path: ".", Files: map[string][]byte{"a": nil, "b": nil}}
	err := output.Create(f, "store", "other")
	if want := "b, store: there already, and nothing is overwritten"; err == nil || err.Error() != want {
		t.Errorf("says %v, want %s", err, want)
	}
	if _, err := os.Lstat(filepath.Join(root, "a")); err == nil {
		t.Error("a is written")
	}
	if text, err := os.ReadFile(filepath.Join(root, "b")); err != nil || string(text) != "theirs" {
		t.Errorf("b holds %q (%v)", text, err)
	}
}

// A file that is made between the look and the writing is somebody's: here it is the same one by another name.
func TestCreateOverwritesNothingThatCameMeanwhile(t *testing.T) {
	f := output.Folder{Root: t.TempDir(), Path: ".", Files: map[string][]byte{"./a": []byte("first"), "a": []byte("second")}}
	if err := output.Create(f); !errors.Is(err, fs.ErrExist) {
		t.Errorf("says %v, want that a exists", err)
	}
}
