package generate

import (
	"context"
	"path"

	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/output"
)

// Job is a config's stores and where they go.
type Job struct {
	Root   string // the module's root
	Config string // the config's path below it
	Stores []model.Store
	Module output.Module // as the run finds it

	// AcceptLockKey names, each as "store: lock key store string", the changes of a lock that are meant.
	AcceptLockKey []string
	// Adopt takes over folders that hold generated files without a manifest.
	Adopt bool
	// Prune removes the packages of stores that the config no longer has.
	Prune bool
}

// orphans are the folders of stores that the config no longer has, or has elsewhere.
func (j Job) orphans() []string {
	folders := make([]string, len(j.Stores))
	for i, s := range j.Stores {
		folders[i] = s.Out
	}
	return j.Module.Orphans(j.Config, folders)
}

// Write brings every store's folder up to date and returns what it changed. A store that a release of this version
// wrote from the same model, and whose files nobody has touched, is passed over; if all are, sqlc does not run. Orphans go
// last: a run that fails removes none, and a store that has moved is in its new folder by then.
func Write(ctx context.Context, job Job) ([]output.Change, error) {
	if err := gate(job); err != nil {
		return nil, err
	}
	if err := prunable(job); err != nil {
		return nil, err
	}
	changes, err := writeDue(ctx, job)
	if err != nil {
		return changes, err
	}
	removed, err := prune(job)
	return append(changes, removed...), err
}

// prunable finds before anything changes what the removal of an orphan would stumble over.
func prunable(job Job) error {
	if !job.Prune {
		return nil
	}
	for _, folder := range job.orphans() {
		if _, err := output.ReadManifest(job.Root, folder); err != nil {
			return err
		}
	}
	return nil
}

func writeDue(ctx context.Context, job Job) (changes []output.Change, err error) {
	if job.Stores, err = due(job); err != nil || len(job.Stores) == 0 {
		return nil, err
	}
	all, err := render(ctx, job)
	if err != nil {
		return nil, err
	}
	return output.Write(all, job.Adopt)
}

func prune(job Job) (changes []output.Change, err error) {
	if !job.Prune {
		return nil, nil
	}
	for _, folder := range job.orphans() {
		removed, err := output.Prune(job.Root, folder)
		changes = append(changes, removed...)
		if err != nil {
			return changes, err
		}
	}
	return changes, nil
}

// Orphan is the state of a package whose store the config no longer has.
const Orphan output.State = "orphaned (its store is gone from the config; generate --prune removes it)"

// Check says what is not as Write would leave it, by names below the module's root, and writes nothing.
func Check(ctx context.Context, job Job) ([]output.Finding, error) {
	all, err := render(ctx, job)
	if err != nil {
		return nil, err
	}
	var findings []output.Finding
	for _, f := range all {
		found, err := output.Compare(f)
		if err != nil {
			return nil, err
		}
		for _, finding := range found {
			findings = append(findings, output.Finding{Name: path.Join(f.Path, finding.Name), State: finding.State})
		}
	}
	for _, folder := range job.orphans() {
		findings = append(findings, output.Finding{Name: folder, State: Orphan})
	}
	return findings, nil
}

// Change is a file as it is and as Write would make it; nil is no file.
type Change struct {
	Name     string // below the module's root
	Old, New []byte
}

// Diff says what Write would change, and writes nothing.
func Diff(ctx context.Context, job Job) ([]Change, error) {
	all, err := render(ctx, job)
	if err != nil {
		return nil, err
	}
	var changes []Change
	for _, f := range all {
		findings, err := output.Compare(f)
		if err != nil {
			return nil, err
		}
		for _, finding := range findings {
			if finding.State == output.Foreign {
				continue
			}
			changes = append(changes, Change{path.Join(f.Path, finding.Name), finding.Text, f.Files[finding.Name]})
		}
	}
	return changes, nil
}

func render(ctx context.Context, job Job) ([]output.Folder, error) {
	packages, err := Packages(ctx, job.Stores)
	if err != nil {
		return nil, err
	}
	return folders(job.Root, job.Config, job.Stores, packages), nil
}

// due leaves out the stores that are current.
func due(job Job) ([]model.Store, error) {
	var stores []model.Store
	for _, s := range job.Stores {
		is, err := current(job, s)
		if err != nil {
			return nil, err
		}
		if !is {
			stores = append(stores, s)
		}
	}
	return stores, nil
}

// current is never true for a build that is not a release: its templates may be anything.
func current(job Job, s model.Store) (bool, error) {
	m, err := output.ReadManifest(job.Root, s.Out)
	if err != nil || m == nil || Version() == devel {
		return false, err
	}
	now := manifest(job.Config, s, nil)
	now.Files = m.Files
	if string(now.Text()) != string(m.Text()) {
		return false, nil
	}
	return output.Agrees(job.Root, s.Out, *m)
}
