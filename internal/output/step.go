package output

import (
	"fmt"
	"path"
)

// step is one change of the tree: a file replaced by its staged text, or removed. A run may be killed before any of them.
type step struct {
	in     *staging
	name   string
	remove bool
}

func steps(staged []*staging) []step {
	var all []step
	for _, s := range staged {
		all = append(all, s.steps()...)
	}
	return all
}

// steps orders the changes: the renames, then the removals, and the manifest last, but in a folder that had none it is
// first: after a kill in between, the next run would else take its own files for somebody's.
func (s *staging) steps() []step {
	var manifest, files []step
	for _, name := range s.names {
		if name == ManifestName {
			manifest = []step{{in: s, name: name}}
			continue
		}
		files = append(files, step{in: s, name: name})
	}
	for _, name := range s.stale {
		files = append(files, step{in: s, name: name, remove: true})
	}
	if s.managed {
		return append(files, manifest...)
	}
	return append(manifest, files...)
}

func (s step) do() error {
	if s.remove {
		if err := s.in.dir.Remove(s.name); err != nil {
			return fmt.Errorf("remove %s: %w", s.change().Name, err)
		}
		return nil
	}
	if err := s.in.dir.Rename(temporary(s.name), s.name); err != nil {
		return fmt.Errorf("replace %s: %w", s.change().Name, err)
	}
	return nil
}

func (s step) change() Change {
	return Change{Name: path.Join(s.in.folder.Path, s.name), Removed: s.remove}
}
