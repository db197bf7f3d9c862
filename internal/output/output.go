// Package output puts a package's files on disk. It is the only code that writes into a host's tree, and it
// writes through os.Root, so that neither ".." nor a symbolic link leads out of the module.
package output

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
)

// Write makes the folder below the module's root hold the files, by slash-separated names, and returns the
// names of those that it changed. A file that holds its bytes already is not touched.
//
// Every new text is on disk, under a temporary name, before the first file changes: what can fail has failed
// by then, short of a rename.
func Write(root, folder string, files map[string][]byte) (changed []string, err error) {
	module, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("open the module: %w", err)
	}
	defer module.Close()
	if err := module.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder: %w", err)
	}
	dir, err := module.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	defer dir.Close()
	changed, err = differing(dir, files)
	if err != nil {
		return nil, err
	}
	return changed, replace(dir, changed, files)
}

func differing(dir *os.Root, files map[string][]byte) ([]string, error) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		old, err := dir.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("compare %s: %w", name, err)
		}
		if err != nil || !bytes.Equal(old, files[name]) {
			names = append(names, name)
		}
	}
	return names, nil
}

// temporary is the name that a file has until it is whole. Go's tools pass over names with a leading dot.
func temporary(name string) string {
	return path.Join(path.Dir(name), ".statigen-"+path.Base(name)+".tmp")
}

func replace(dir *os.Root, names []string, files map[string][]byte) (err error) {
	defer func() {
		for _, name := range names {
			if removing := dir.Remove(temporary(name)); removing != nil && !errors.Is(removing, fs.ErrNotExist) {
				err = errors.Join(err, removing)
			}
		}
	}()
	for _, name := range names {
		if err := writeSynced(dir, temporary(name), files[name]); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	for _, name := range names {
		if err := dir.Rename(temporary(name), name); err != nil {
			return fmt.Errorf("replace %s: %w", name, err)
		}
	}
	return nil
}

func writeSynced(dir *os.Root, name string, text []byte) error {
	if err := dir.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}
