package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that is to be, by its name in the folder.
type File struct {
	Name string
	Text []byte
}

// Addition is what a folder of the host's is to hold besides what it holds.
type Addition struct {
	Files []File // none of them may be there
	Last  *File  // replaces what has the name, once all the others are there; nil replaces nothing
}

func (a Addition) empty() bool { return len(a.Files) == 0 && a.Last == nil }

// Append adds files to a folder, which is made if it is not there and something is to be added. Plan says what: it gets
// all files that lie in the folder, none below it, and of what is no file, a link say, the name alone. No other run of
// Append is in the folder meanwhile.
//
// Every text is on disk, under a temporary name, before the first has its own. A file gets its name by a link, which fails
// if the name is taken: nothing that is there is ever replaced, but by the last file. A kill leaves the first of the files,
// each of them whole.
func Append(folder string, plan func(present map[string][]byte) (Addition, error)) (changes []Change, err error) {
	s, steps, err := stageAddition(folder, plan)
	if s != nil {
		defer func() { err = errors.Join(err, s.close()) }()
	}
	if err != nil {
		return nil, err
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			return changes, err
		}
		changes = append(changes, Change{Name: step.Name})
	}
	return changes, nil
}

// stageAddition returns what it has staged with an error too: that is to be closed. It is nil if the folder stays away.
func stageAddition(folder string, plan func(map[string][]byte) (Addition, error)) (*staging, []addition, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, nil, fmt.Errorf("find the folder: %w", err)
	}
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		if a, err := plan(nil); err != nil || a.empty() {
			return nil, nil, err
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, nil, fmt.Errorf("make the folder: %w", err)
		}
	}
	s, err := enter(Folder{Root: folder, Path: "."})
	if err != nil {
		return s, nil, err
	}
	steps, err := s.add(plan)
	return s, steps, err
}

// add writes the texts under their temporary names.
func (s *staging) add(plan func(map[string][]byte) (Addition, error)) ([]addition, error) {
	present, err := s.present()
	if err != nil {
		return nil, err
	}
	a, err := plan(present)
	if err != nil || a.empty() {
		return nil, err
	}
	steps := s.expect(a)
	for _, do := range []func() error{s.sweep, s.clear, s.write} {
		if err := do(); err != nil {
			return nil, err
		}
	}
	return steps, syncAll([]*staging{s})
}

// expect takes the addition's files for those of the folder.
func (s *staging) expect(a Addition) (steps []addition) {
	for _, f := range a.Files {
		steps = append(steps, addition{s, f, false})
	}
	if a.Last != nil {
		steps = append(steps, addition{s, *a.Last, true})
	}
	s.folder.Files = map[string][]byte{}
	for _, step := range steps {
		s.names = append(s.names, step.Name)
		s.folder.Files[step.Name] = step.Text
	}
	return steps
}

// present are the files that lie in the folder itself.
func (s *staging) present() (map[string][]byte, error) {
	files := map[string][]byte{}
	entries, err := fs.ReadDir(s.dir.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("look at the folder: %w", err)
	}
	for _, entry := range entries {
		switch {
		case entry.IsDir() || isTemporary(entry.Name()):
		case !entry.Type().IsRegular():
			files[entry.Name()] = nil
		default:
			if files[entry.Name()], err = s.dir.ReadFile(entry.Name()); err != nil {
				return nil, fmt.Errorf("read %s: %w", entry.Name(), err)
			}
		}
	}
	return files, nil
}

// addition is one change of the folder: a staged text gets its name.
type addition struct {
	in *staging
	File
	last bool
}

func (a addition) do() error {
	if a.last {
		return a.replace()
	}
	if err := a.in.dir.Link(temporary(a.Name), a.Name); err != nil {
		return fmt.Errorf("add %s: %w", a.Name, err)
	}
	return nil
}

// replace comes when what it speaks of is on disk.
func (a addition) replace() error {
	if err := syncFolder(a.in.lock); err != nil {
		return fmt.Errorf("sync the folder: %w", err)
	}
	if err := a.in.dir.Rename(temporary(a.Name), a.Name); err != nil {
		return fmt.Errorf("replace %s: %w", a.Name, err)
	}
	return nil
}
