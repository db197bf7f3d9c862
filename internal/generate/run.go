package generate

import (
	"context"

	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/output"
)

// Job is a config's stores and where they go.
type Job struct {
	Root   string // the module's root
	Config string // the config's path below it
	Stores []model.Store

	// AcceptLockKey names, each as "store: lock key store string", the changes of a lock that are meant.
	AcceptLockKey []string
	// Adopt takes over folders that hold generated files without a manifest.
	Adopt bool
}

// Write brings every store's folder up to date and returns what it changed. A store that a release of this version
// wrote from the same model, and whose files nobody has touched, is passed over; if all are, sqlc does not run.
func Write(ctx context.Context, job Job) ([]output.Change, error) {
	if err := gate(job.Root, job.Stores, job.AcceptLockKey); err != nil {
		return nil, err
	}
	var err error
	if job.Stores, err = due(job); err != nil || len(job.Stores) == 0 {
		return nil, err
	}
	all, err := render(ctx, job)
	if err != nil {
		return nil, err
	}
	return output.Write(all, job.Adopt)
}

// Check says what Write would find, by store, and writes nothing.
func Check(ctx context.Context, job Job) (map[string][]output.Finding, error) {
	all, err := render(ctx, job)
	if err != nil {
		return nil, err
	}
	findings := map[string][]output.Finding{}
	for i, f := range all {
		if findings[job.Stores[i].Name], err = output.Compare(f); err != nil {
			return nil, err
		}
	}
	return findings, nil
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
