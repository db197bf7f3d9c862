package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Prune removes an orphan's files: those that its manifest lists and nobody has touched. What else lies in the folder
// stays, and so does the folder then.
func Prune(root, folder string) (changes []Change, err error) {
	m, err := ReadManifest(root, folder)
	if err != nil || m == nil {
		return nil, err
	}
	present, err := list(Folder{Root: root, Path: folder})
	if err != nil {
		return nil, err
	}
	dir, err := openFolder(root, folder)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	for name, sum := range m.Files {
		if text := present[name]; text == nil || Sum(text) != sum || strings.HasSuffix(name, ".go") && !isOurs(text) {
			continue // gone, or somebody's by now, whatever the manifest was edited to say
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
