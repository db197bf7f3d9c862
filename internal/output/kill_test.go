//go:build unix

package output_test

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statigen/statigen/internal/output"
)

// texts are the files of each store's folder.
type texts map[string]map[string]string

func (all texts) folders(root string) []output.Folder {
	var folders []output.Folder
	for _, at := range slices.Sorted(maps.Keys(all)) {
		f := folder(root, all[at])
		f.Path = at
		folders = append(folders, f)
	}
	return folders
}

func (all texts) write(t *testing.T, root string) []string {
	t.Helper()
	changes, err := output.Write(all.folders(root), false)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = c.Name
	}
	return names
}

// wrong are the files that are not as they are to be.
func (all texts) wrong(t *testing.T, root string) []string {
	t.Helper()
	names := []string{}
	for _, f := range all.folders(root) {
		found, err := output.Compare(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, finding := range found {
			names = append(names, path.Join(f.Path, finding.Name))
		}
	}
	slices.Sort(names)
	return names
}

// A run is killed before its first change, before its second, and so on to the last: what it has not done yet is what
// check then names, the next run does it, and nothing of the killed one is left.
func TestAKillAtAnyChangeIsSeenAndMended(t *testing.T) {
	one := map[string]string{"a.go": "1", "old.go": "o", "internal/db/b.go": "1", "internal/db/old.go": "o", "same.go": "s"}
	two := map[string]string{"a.go": "2", "new.go": "n", "internal/db/b.go": "2", "same.go": "s"}
	for name, c := range map[string]struct{ before, after texts }{
		"the first run":  {nil, texts{"store": one}},
		"another config": {texts{"store": one}, texts{"store": two}},
		"two stores":     {texts{"a": one, "b": one}, texts{"a": two, "b": two}},
		"a second store": {texts{"a": one}, texts{"a": two, "b": two}},
	} {
		t.Run(name, func(t *testing.T) { killEverywhere(t, c.before, c.after) })
	}
}

func killEverywhere(t *testing.T, before, after texts) {
	root := t.TempDir()
	before.write(t, root)
	changes := after.write(t, root)
	for n := range len(changes) {
		root := t.TempDir()
		before.write(t, root)
		if !(errand{Folders: after.folders(root), Steps: n}).killed(t) {
			t.Fatalf("the run of %d changes was over before its kill at %d", len(changes), n)
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(changes[n:])), after.wrong(t, root)); diff != "" {
			t.Errorf("after a kill at %d, what is wrong (-left to do +found):\n%s", n, diff)
		}
		after.write(t, root)
		if wrong := after.wrong(t, root); len(wrong) > 0 {
			t.Errorf("after a kill at %d, the next run leaves %v", n, wrong)
		}
		for file := range tree(t, root) {
			if strings.Contains(file, ".statigen-") {
				t.Errorf("after a kill at %d, the next run leaves %s", n, file)
			}
		}
	}
}
