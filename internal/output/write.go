// Package output puts packages on disk. It is the only code that writes into a host's tree, and it writes through
// os.Root, so that neither ".." nor a symbolic link leads out of the module.
package output

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// Change is a file that Write wrote or removed.
type Change struct {
	Name    string // below the module's root
	Removed bool
}

// ErrNoManifest says that the folder holds files of statigen's and no manifest, so nobody knows which are current.
var ErrNoManifest = errors.New("generated files and no " + ManifestName + " (statigen --adopt takes the folder over)")

// Write makes every folder hold its files. A file that holds its bytes already is not touched. Every new text is on disk,
// under a temporary name, before the first file changes: what can fail has failed by then, short of a rename. Then come
// the renames, then the removal of our own stale files, and each folder's manifest last (first in a folder that had
// none); so after a kill in between a folder does not agree with its manifest, and the next run mends it.
//
// With adopt, a folder that holds generated files without a manifest is taken over.
func Write(folders []Folder, adopt bool) (changes []Change, err error) {
	staged, err := stageAll(folders, adopt)
	defer func() {
		for _, s := range staged {
			err = errors.Join(err, s.close())
		}
	}()
	if err != nil {
		return nil, err
	}
	for _, step := range steps(staged) {
		if err := step.do(); err != nil {
			return changes, err
		}
		changes = append(changes, step.change())
	}
	for _, s := range staged {
		s.names = nil // all renamed: there is nothing to clear away
	}
	return changes, nil
}

// stageAll returns what it has staged with an error too: that is to be closed. It enters the folders in one order in every
// run, or two runs could wait for each other; the rest is done for some at a time.
func stageAll(folders []Folder, adopt bool) (staged []*staging, err error) {
	folders = slices.SortedFunc(slices.Values(folders), func(a, b Folder) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range folders {
		s, err := enter(f)
		if s != nil {
			staged = append(staged, s)
		}
		if err != nil {
			return staged, fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0)) // more would only get into each other's way where files are made
	for _, s := range staged {
		group.Go(func() error {
			if err := s.stage(adopt); err != nil {
				return fmt.Errorf("%s: %w", s.folder.Path, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return staged, err
	}
	return staged, syncAll(staged)
}

// staging is a folder whose new texts lie beside the old ones. No other run changes it meanwhile.
type staging struct {
	folder  Folder
	dir     *os.Root
	lock    *os.File
	alone   bool     // no other run is in the folder, for certain
	managed bool     // it had a manifest
	names   []string // to be renamed
	stale   []string
}

// stage writes the folder's new texts.
func (s *staging) stage(adopt bool) error {
	findings, present, err := look(s.folder)
	if err != nil {
		return err
	}
	_, s.managed = present[ManifestName]
	if !s.managed && hasOurs(present) && !adopt {
		return ErrNoManifest
	}
	if err := s.sweep(); err != nil {
		return err
	}
	s.plan(findings)
	if err := s.clear(); err != nil {
		return err
	}
	return s.write()
}

// enter opens the folder and waits until it has it alone.
func enter(f Folder) (s *staging, err error) {
	s = &staging{folder: f}
	if s.dir, err = makeFolder(f); err != nil {
		return nil, err
	}
	if s.lock, err = s.dir.Open("."); err != nil {
		return s, fmt.Errorf("open the folder: %w", err)
	}
	if s.alone, err = lockFolder(s.lock); err != nil {
		return s, fmt.Errorf("lock the folder: %w", err)
	}
	return s, nil
}

func (s *staging) plan(findings []Finding) {
	for _, finding := range findings {
		switch finding.State {
		case Missing, Changed, Edited:
			s.names = append(s.names, finding.Name)
		case Stale:
			s.stale = append(s.stale, finding.Name)
		}
	}
}

// clear finds what a rename would stumble over.
func (s *staging) clear() error {
	for _, dir := range s.dirs() {
		if err := realFolder(s.dir, dir); err != nil {
			return err
		}
	}
	for _, name := range s.names {
		if info, err := s.dir.Lstat(name); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a folder (want a file)", name)
		}
	}
	return nil
}

// write puts the new texts beside the old ones.
func (s *staging) write() error {
	for _, dir := range s.dirs() {
		if err := s.dir.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make the folder %s: %w", dir, err)
		}
	}
	for _, name := range s.names {
		if err := writeTemporary(s.dir, name, s.folder.Files[name]); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// dirs are the folders that the new texts are to lie in.
func (s *staging) dirs() []string {
	dirs := make([]string, len(s.names))
	for i, name := range s.names {
		dirs[i] = path.Dir(name)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// syncAll waits until every new text is on disk. It comes when all are written: a file that is made while another is synced
// waits for the file system's journal, and the first of these syncs has most of the work of all.
func syncAll(staged []*staging) error {
	var group errgroup.Group
	group.SetLimit(8) // each waits for the disk, and does not work
	for _, s := range staged {
		for _, name := range s.names {
			group.Go(func() error {
				if err := syncTemporary(s.dir, name); err != nil {
					return fmt.Errorf("%s: sync %s: %w", s.folder.Path, name, err)
				}
				return nil
			})
		}
	}
	return group.Wait()
}

func makeFolder(f Folder) (*os.Root, error) {
	dir, err := openFolder(f.Root, f.Path)
	if !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	module, err := os.OpenRoot(f.Root)
	if err != nil {
		return nil, fmt.Errorf("open the module: %w", err)
	}
	defer module.Close()
	if err := module.MkdirAll(f.Path, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder: %w", err)
	}
	return openFolder(f.Root, f.Path)
}

// temporary is the name that a file has until it is whole; the process is in it, so that two runs at a time do not
// write into one another's. Go's tools pass over names with a leading dot.
func temporary(name string) string {
	return path.Join(path.Dir(name), fmt.Sprintf("%s%d-%s", temporaryPrefix, os.Getpid(), path.Base(name)))
}

const temporaryPrefix = ".statigen-"

func isTemporary(name string) bool { return strings.HasPrefix(path.Base(name), temporaryPrefix) }

// sweep removes temporary files that a killed run left. Where folders are not locked, a young one may be another run's.
func (s *staging) sweep() error {
	return fs.WalkDir(s.dir.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isTemporary(name) {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !s.alone && time.Since(info.ModTime()) < 10*time.Minute {
			return nil
		}
		return errors.Join(err, s.dir.Remove(name))
	})
}

func writeTemporary(dir *os.Root, name string, text []byte) error {
	return dir.WriteFile(temporary(name), text, 0o644)
}

func syncTemporary(dir *os.Root, name string) error {
	f, err := dir.OpenFile(temporary(name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// close removes what was not renamed.
func (s *staging) close() (err error) {
	for _, name := range s.names {
		if removing := s.dir.Remove(temporary(name)); removing != nil && !errors.Is(removing, fs.ErrNotExist) {
			err = errors.Join(err, removing)
		}
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return errors.Join(err, s.dir.Close())
}

// WriteUnmanaged writes files into a folder that other files share: no manifest, nothing removed.
func WriteUnmanaged(f Folder) error {
	dir, err := makeFolder(f)
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, name := range slices.Sorted(maps.Keys(f.Files)) {
		if old, err := dir.ReadFile(name); err == nil && bytes.Equal(old, f.Files[name]) {
			continue
		}
		if err := replace(dir, name, f.Files[name]); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

func replace(dir *os.Root, name string, text []byte) error {
	if err := dir.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	if err := writeTemporary(dir, name, text); err != nil {
		return err
	}
	if err := syncTemporary(dir, name); err != nil {
		return err
	}
	return dir.Rename(temporary(name), name)
}
