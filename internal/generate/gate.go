package generate

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/output"
)

// gate stops a run that would change the lock of a committed store, for replicas with the old key and the new one do
// not exclude each other. The job names the changes that are meant, as acceptance words them; one that names no
// change is an error, or a flag left behind in a script would accept the next one unseen.
func gate(job Job) error {
	open := slices.Clone(job.AcceptLockKey)
	var stopped []string
	for _, s := range job.Stores {
		old, err := job.committed(s)
		if err != nil {
			return err
		}
		if old == "" {
			continue
		}
		if i := slices.Index(open, acceptance(s)); i >= 0 {
			open = slices.Delete(open, i, i+1)
			continue
		}
		stopped = append(stopped, warning(s, old))
	}
	if len(open) > 0 {
		stopped = append(stopped, fmt.Sprintf("--accept-lock-key=%q accepts nothing: it is no change that this run would make (remove the flag)", open[0]))
	}
	if len(stopped) > 0 {
		return errors.New(strings.Join(stopped, "\n"))
	}
	return nil
}

func newState(s model.Store) lockState { return lockState{string(s.LockKey), s.StoreString()} }

// acceptance is what --accept-lock-key must say for the store's new state.
func acceptance(s model.Store) string { return s.Name + ": " + newState(s).String() }

// committed says what the store's committed package holds for the lock's state, where that is not the new one.
func (j Job) committed(s model.Store) (string, error) {
	for _, folder := range j.committedFolders(s) {
		if old, err := committedIn(j.Root, folder, s); old != "" || err != nil {
			return old, err
		}
	}
	return "", nil
}

// committedFolders are where the store's package may be: in its folder and, if none is there yet, in those that it was in
// before its out changed. Replicas do not care in which folder their key was compiled.
func (j Job) committedFolders(s model.Store) []string {
	folders := []string{s.Out}
	if _, here := j.Module.Packages[s.Out]; here {
		return folders
	}
	for _, folder := range j.orphans() {
		if j.Module.Packages[folder].Store == s.Name {
			folders = append(folders, folder)
		}
	}
	return folders
}

// committedIn asks both the manifest and the literal in the SQL: the one may have been edited, the other is what runs.
func committedIn(root, folder string, s model.Store) (string, error) {
	m, err := output.ReadManifest(root, folder)
	if err != nil {
		return "", err
	}
	if m != nil {
		if err := notNewer(folder, *m); err != nil {
			return "", err
		}
		if state := (lockState{m.LockKey, m.StoreString}); state != newState(s) {
			return fmt.Sprintf("%s (%s)", state, path.Join(folder, output.ManifestName)), nil
		}
	}
	const locksGo = "internal/db/locks.sql.go"
	locks, err := output.ReadFile(root, folder, locksGo)
	if err != nil || locks == nil {
		return "", err
	}
	state, err := lockOf(locks)
	if err != nil {
		return "", err
	}
	if state.key != string(s.LockKey) || state.storeString != "" && state.storeString != s.StoreString() {
		return fmt.Sprintf("%s (%s)", state, path.Join(folder, locksGo)), nil
	}
	return "", nil
}

func warning(s model.Store, old string) string {
	return fmt.Sprintf(`store %s: the chart lock's key would change
  committed: %s
  config:    %s
While replicas with the old key and the new one run together, they do not exclude each other: a retirement can strand
an execution. Safe are, for another lock_key, the steps content_hash, both, store, each deployed everywhere before the
next; for another store string, a stop of every replica.
Go on with --accept-lock-key='%s'`, s.Name, old, newState(s), strings.ReplaceAll(acceptance(s), "'", `'\''`))
}
