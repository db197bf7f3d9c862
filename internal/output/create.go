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

// Create writes files that are not there, all of them or none. What is there already, a file of the folder's or one of the
// names in absent, is named in one error, and stays. Files and absent are named below the folder.
func Create(f Folder, absent ...string) (err error) {
	dir, err := openFolder(f.Root, f.Path)
	if err != nil {
		return err
	}
	defer dir.Close()
	names := slices.Sorted(maps.Keys(f.Files))
	if err := vacant(f, append(names, absent...)); err != nil {
		return err
	}
	for i, name := range names {
		if err := createFile(dir, name, f.Files[name]); err != nil {
			return errors.Join(fmt.Errorf("write %s: %w", name, err), removeAll(dir, names[:i]))
		}
	}
	return nil
}

// vacant looks from the module's root: what is to be absent may lie beside the folder.
func vacant(f Folder, names []string) error {
	module, err := os.OpenRoot(f.Root)
	if err != nil {
		return fmt.Errorf("open the module: %w", err)
	}
	defer module.Close()
	var taken []string
	for _, name := range names {
		_, err := module.Lstat(path.Join(f.Path, name))
		switch {
		case err == nil:
			taken = append(taken, name)
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("look at %s: %w", name, err)
		}
	}
	if len(taken) > 0 {
		return fmt.Errorf("%s: there already, and nothing is overwritten", strings.Join(taken, ", "))
	}
	return nil
}

// createFile leaves nothing behind if it fails. A file that somebody else made meanwhile is theirs.
func createFile(dir *os.Root, name string, text []byte) error {
	file, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, dir.Remove(name))
	}
	return nil
}

func removeAll(dir *os.Root, names []string) (err error) {
	for _, name := range names {
		err = errors.Join(err, dir.Remove(name))
	}
	return err
}
