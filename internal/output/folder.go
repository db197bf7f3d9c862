package output

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// Folder is a generated package's folder and the files that it is to hold, the manifest among them.
type Folder struct {
	Root  string // the module's root
	Path  string // below it, slash-separated
	Files map[string][]byte
}

// State is what is wrong with a file.
type State string

// The states, worst last.
const (
	Missing State = "missing"        // is to be there and is not
	Changed State = "out of date"    // holds what an older config or statigen gave
	Edited  State = "edited by hand" // holds what neither the manifest nor this run knows
	Stale   State = "stale"          // ours, and no longer to be there
	Foreign State = "foreign"        // nobody's that we know, in the folder of a package that only we write
)

// Finding is a file that is not as it is to be.
type Finding struct {
	Name  string `json:"name"` // below the folder
	State State  `json:"state"`
	Text  []byte `json:"-"` // as it is; nil if there is none, or a link or a device
}

// Compare looks at the folder and writes nothing.
func Compare(f Folder) ([]Finding, error) {
	findings, _, err := look(f)
	return findings, err
}

// look returns what is wrong in the folder, and all that lies there.
func look(f Folder) (findings []Finding, present map[string][]byte, err error) {
	old, err := ReadManifest(f.Root, f.Path)
	if err != nil {
		return nil, nil, err
	}
	if old == nil {
		old = &Manifest{}
	}
	if present, err = list(f); err != nil {
		return nil, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(union(present, f.Files))) {
		if state := stateOf(name, present, f.Files, old.Files); state != "" {
			findings = append(findings, Finding{name, state, present[name]})
		}
	}
	return findings, present, nil
}

func stateOf(name string, present, wanted map[string][]byte, known map[string]string) State {
	got, here := present[name]
	want, due := wanted[name]
	sum, listed := known[name]
	switch {
	case due && !here:
		return Missing
	case due && string(got) == string(want):
		return ""
	case due && name != ManifestName && listed && Sum(got) != sum:
		return Edited
	case due:
		return Changed
	case listed && Sum(got) == sum && isOurs(got):
		return Stale
	}
	return Foreign
}

func union(a, b map[string][]byte) map[string][]byte {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// list reads every file below the folder.
func list(f Folder) (map[string][]byte, error) {
	files := map[string][]byte{}
	dir, err := openFolder(f.Root, f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return files, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	err = fs.WalkDir(dir.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || isTemporary(name) {
			return err
		}
		if !entry.Type().IsRegular() {
			files[name] = nil // a link or a device: never ours, never followed
			return nil
		}
		files[name], err = dir.ReadFile(name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", f.Path, err)
	}
	return files, nil
}

// openFolder opens the folder.
func openFolder(root, folder string) (*os.Root, error) {
	module, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("open the module: %w", err)
	}
	defer module.Close()
	if err := realFolder(module, folder); err != nil {
		return nil, err
	}
	return module.OpenRoot(folder)
}

// realFolder demands that the folder, as far as it is there, is a real one all the way down: through a symbolic link two
// stores could share a folder under two names.
func realFolder(root *os.Root, folder string) error {
	for i, c := range folder + "/" {
		if c != '/' {
			continue
		}
		if err := realStep(root, folder[:i]); err != nil {
			return err
		}
	}
	return nil
}

func realStep(root *os.Root, at string) error {
	info, err := root.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist) || at == ".":
		return nil
	case err != nil:
		return fmt.Errorf("look at %s: %w", at, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link (want a real folder)", at)
	case !info.IsDir():
		return fmt.Errorf("%s is a file (want a folder)", at)
	}
	if _, err := root.Lstat(path.Join(at, "go.mod")); err == nil {
		return fmt.Errorf("%s is a module of its own (want a folder of the config's module)", at)
	}
	return nil
}

// hasOurs says whether a file that statigen wrote lies in the folder.
func hasOurs(files map[string][]byte) bool {
	for name, text := range files {
		if strings.HasSuffix(name, ".go") && isOurs(text) {
			return true
		}
	}
	return false
}
