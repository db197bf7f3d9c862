package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Orphans returns the folders of the module that hold a package of this config's which the config no longer has. A
// folder with a go.mod of its own is another module, and is not looked into; nor is what the go command passes over.
func Orphans(root, config string, folders []string) ([]string, error) {
	module, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("open the module: %w", err)
	}
	defer module.Close()
	var orphans []string
	err = fs.WalkDir(module.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && passedOver(module, name):
			return fs.SkipDir
		case entry.Name() != ManifestName || slices.Contains(folders, path.Dir(name)):
			return nil
		}
		text, err := module.ReadFile(name)
		var m Manifest
		if err == nil && json.Unmarshal(text, &m) == nil && m.Config == config {
			orphans = append(orphans, path.Dir(name))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for orphaned packages: %w", err)
	}
	return orphans, nil
}

func passedOver(module *os.Root, name string) bool {
	base := path.Base(name)
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "vendor" || base == "node_modules" {
		return true
	}
	_, err := module.Lstat(path.Join(name, "go.mod"))
	return err == nil
}

// Prune removes an orphan's files: those that its manifest lists and nobody has touched. What else lies in the folder
// stays, and so does the folder then.
func Prune(root, folder string) (changes []Change, err error) {
	m, err := ReadManifest(root, folder)
	if err != nil || m == nil {
		return nil, err
	}
	dir, err := openFolder(root, folder)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	for name, sum := range m.Files {
		text, err := dir.ReadFile(name)
		if err != nil || Sum(text) != sum {
			continue // gone, or somebody's by now
		}
		if err := dir.Remove(name); err != nil {
			return changes, fmt.Errorf("remove %s: %w", name, err)
		}
		changes = append(changes, Change{Name: path.Join(folder, name), Removed: true})
	}
	if err := dir.Remove(ManifestName); err != nil {
		return changes, fmt.Errorf("remove %s: %w", ManifestName, err)
	}
	changes = append(changes, Change{Name: path.Join(folder, ManifestName), Removed: true})
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Name, b.Name) })
	return changes, removeEmpty(root, folder)
}

// removeEmpty removes the folder and those that statigen made below it, where nothing is left in them.
func removeEmpty(root, folder string) error {
	module, err := os.OpenRoot(root)
	if err != nil {
		return fmt.Errorf("open the module: %w", err)
	}
	defer module.Close()
	for _, name := range []string{path.Join(folder, "internal/db"), path.Join(folder, "internal"), folder} {
		entries, err := fs.ReadDir(module.FS(), name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) > 0 {
			continue
		}
		if err := errors.Join(err, module.Remove(name)); err != nil {
			return fmt.Errorf("remove %s: %w", name, err)
		}
	}
	return nil
}
