//go:build unix

package output_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statigen/statigen/internal/output"
)

func always(a output.Addition) func(map[string][]byte) (output.Addition, error) {
	return func(map[string][]byte) (output.Addition, error) { return a, nil }
}

func add(t *testing.T, folder string, a output.Addition) {
	t.Helper()
	if _, err := output.Append(folder, always(a)); err != nil {
		t.Fatal(err)
	}
}

func one(name, text string) output.File { return output.File{Name: name, Text: []byte(text)} }

func TestAppendMakesTheFolderAndAddsToIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db", "migrations")
	last := one("state", "1")
	changes, err := output.Append(dir, always(output.Addition{Files: []output.File{one("b.sql", "b"), one("a.sql", "a")}, Last: &last}))
	if diff := cmp.Diff([]output.Change{{Name: "b.sql"}, {Name: "a.sql"}, {Name: "state"}}, changes); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	last = one("state", "2")
	add(t, dir, output.Addition{Files: []output.File{one("c.sql", "c")}, Last: &last})
	want := map[string]string{"a.sql": "a", "b.sql": "b", "c.sql": "c", "state": "2"}
	if diff := cmp.Diff(want, names(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// names is the tree with names below the folder.
func names(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for name, text := range tree(t, dir) {
		below, err := filepath.Rel(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		files[below] = text
	}
	return files
}

func TestAppendReplacesNothing(t *testing.T) {
	for what, put := range map[string]func(name string) error{
		"a file":                    func(name string) error { return os.WriteFile(name, []byte("theirs"), 0o644) },
		"a link that leads nowhere": func(name string) error { return os.Symlink("nowhere", name) },
	} {
		t.Run(what, func(t *testing.T) {
			dir, last := t.TempDir(), one("state", "1")
			if err := put(filepath.Join(dir, "b.sql")); err != nil {
				t.Fatal(err)
			}
			before := names(t, dir)
			changes, err := output.Append(dir, always(output.Addition{Files: []output.File{one("b.sql", "ours")}, Last: &last}))
			if !errors.Is(err, fs.ErrExist) || len(changes) > 0 {
				t.Errorf("changed %v: %v", changes, err)
			}
			if diff := cmp.Diff(before, names(t, dir)); diff != "" {
				t.Errorf("the folder changed:\n%s", diff)
			}
		})
	}
}

// What plan refuses, or has nothing for, makes no folder either.
func TestAppendLeavesNoFolderBehindARefusal(t *testing.T) {
	refused := errors.New("refused")
	for _, want := range []error{refused, nil} {
		dir := filepath.Join(t.TempDir(), "db")
		_, err := output.Append(dir, func(map[string][]byte) (output.Addition, error) { return output.Addition{}, want })
		if !errors.Is(err, want) {
			t.Errorf("said %v, want %v", err, want)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the folder: %v", err)
		}
	}
}

func TestPlanSeesTheFolderAlone(t *testing.T) {
	dir := t.TempDir()
	texts{"below": {"x.sql": "x"}}.write(t, dir)
	add(t, dir, output.Addition{Files: []output.File{one("a.sql", "a"), one(".statigen-1-b.sql", "half")}})
	if err := os.Symlink("a.sql", filepath.Join(dir, "link.sql")); err != nil {
		t.Fatal(err)
	}
	_, err := output.Append(dir, func(present map[string][]byte) (output.Addition, error) {
		if diff := cmp.Diff(map[string][]byte{"a.sql": []byte("a"), "link.sql": nil}, present); diff != "" {
			t.Error(diff)
		}
		return output.Addition{}, nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A kill before any step leaves the files that have been added, whole, and the old last file; the next run sweeps the rest.
func TestAKillLeavesTheFirstOfTheFiles(t *testing.T) {
	old, last := one("state", "old"), one("state", "new")
	all := output.Addition{Files: []output.File{one("1.sql", "1"), one("2.sql", "2"), one("3.sql", "3")}, Last: &last}
	for n := range 4 {
		dir := t.TempDir()
		add(t, dir, output.Addition{Last: &old})
		if !(errand{Append: dir, Addition: all, Steps: n}).killed(t) {
			t.Fatalf("the run was over before its kill at %d", n)
		}
		end := one("end", "end")
		add(t, dir, output.Addition{Last: &end})
		want := map[string]string{"state": "old", "end": "end"}
		for _, f := range all.Files[:n] {
			want[f.Name] = string(f.Text)
		}
		if diff := cmp.Diff(want, names(t, dir)); diff != "" {
			t.Errorf("after a kill at %d:\n%s", n, diff)
		}
	}
}

func TestAppendOnAFullDiskAddsNothing(t *testing.T) {
	dir := t.TempDir()
	big := output.Addition{Files: []output.File{one("1.sql", "1"), one("2.sql", string(make([]byte, 1<<16)))}}
	sound(t, dir, errand{Append: dir, Addition: big, FileSize: 1 << 15}, "write 2.sql")
}
