//go:build unix

package output_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree is every file below a folder, and where every link leads.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			files[name], err = os.Readlink(name)
			return err
		}
		text, err := os.ReadFile(name)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// sound fails unless what the errand was refused says why, and the tree is the old one to the byte.
func sound(t *testing.T, root string, e errand, says string) {
	t.Helper()
	before := tree(t, root)
	if said := e.refused(t); !strings.Contains(said, says) {
		t.Errorf("said %q, want %q", said, says)
	}
	if diff := cmp.Diff(before, tree(t, root)); diff != "" {
		t.Errorf("the tree changed (-before +after):\n%s", diff)
	}
}

// No disk is at hand that is full; a limit on a file's size stops the same write.
func TestADiskThatFillsUpLeavesTheOldTree(t *testing.T) {
	for _, big := range []string{"a.go", "b.go", "internal/db/c.go"} {
		t.Run(big, func(t *testing.T) {
			root := t.TempDir()
			texts{"store": {"a.go": "1", "b.go": "1", "internal/db/c.go": "1", "old.go": "o"}}.write(t, root)
			now := map[string]string{"a.go": "2", "b.go": "2", "internal/db/c.go": "2"}
			now[big] = strings.Repeat("x", 1<<16)
			sound(t, root, errand{Folders: texts{"store": now}.folders(root), FileSize: 1 << 15}, "store: write "+big)
		})
	}
}

func TestAFolderThatIsReadOnlyLeavesTheOldTree(t *testing.T) {
	for _, at := range []string{"store", "store/internal/db", "."} {
		t.Run(at, func(t *testing.T) {
			root := open(t)
			texts{"store": {"a.go": "1", "internal/db/c.go": "1"}}.write(t, root)
			for _, dir := range []string{"store", "store/internal", "store/internal/db"} {
				chmod(t, filepath.Join(root, dir), 0o777)
			}
			chmod(t, filepath.Join(root, at), 0o555)
			t.Cleanup(func() { chmod(t, filepath.Join(root, at), 0o755) })
			all := texts{"store": {"a.go": "2", "internal/db/c.go": "2"}, "store2": {"a.go": "1"}}
			sound(t, root, errand{Folders: all.folders(root), Unprivileged: true}, "permission denied")
		})
	}
}

// open is a temporary folder that every account can reach.
func open(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	chmod(t, filepath.Dir(root), 0o755)
	chmod(t, root, 0o777)
	return root
}

func chmod(t *testing.T, name string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

// What a rename would stumble over is found before the first one.
func TestWhatIsInTheWayIsFoundBeforeTheFirstChange(t *testing.T) {
	old := map[string]string{"a.go": "1", "b.go": "1"}
	now := texts{"store": {"a.go": "2", "z.go": "2", "internal/db/c.go": "2"}}
	for name, c := range map[string]struct {
		put  func(dir string) error
		says string
	}{
		"a folder where a file is to be": {
			func(dir string) error { return os.Mkdir(filepath.Join(dir, "z.go"), 0o755) }, "z.go is a folder (want a file)",
		},
		"a file where a folder is to be": {
			func(dir string) error { return os.WriteFile(filepath.Join(dir, "internal"), nil, 0o644) }, "internal is a file (want a folder)",
		},
		"a link to a folder beside it": {
			func(dir string) error { return os.Symlink("other", filepath.Join(dir, "internal")) }, "internal is a symbolic link (want a real folder)",
		},
		"a link out of the module": {
			func(dir string) error { return os.Symlink(os.TempDir(), filepath.Join(dir, "internal")) }, "internal is a symbolic link (want a real folder)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			texts{"store": old}.write(t, root)
			if err := c.put(filepath.Join(root, "store")); err != nil {
				t.Fatal(err)
			}
			sound(t, root, errand{Folders: now.folders(root)}, c.says)
		})
	}
}

// A database's data folder in a module is closed to who develops there, and no package of theirs.
func TestAFolderThatCannotBeReadIsPassedOver(t *testing.T) {
	root := open(t)
	if err := os.Mkdir(filepath.Join(root, "data"), 0); err != nil {
		t.Fatal(err)
	}
	if state, said := (errand{Unprivileged: true, Survey: root}).start(t); !state.Success() {
		t.Error(said)
	}
}
