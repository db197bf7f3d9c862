package generate

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/model"
)

func store(t *testing.T, spec model.Spec) model.Store {
	t.Helper()
	spec.Name, spec.Out = "s", "store"
	s, problems := model.New(model.Module{Path: "example.com/host", Dir: "."}, spec)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return s
}

func TestTheLockIsReadBackFromTheCommittedSQL(t *testing.T) {
	for _, spec := range []model.Spec{
		{}, {Prefix: `o'\"`}, {Prefix: "loans", LockKey: "both"}, {LockKey: "content_hash"}, {Tables: map[string]string{"charts": "a`b"}},
	} {
		s := store(t, spec)
		packages, err := Packages(t.Context(), []model.Store{s})
		if err != nil {
			t.Fatal(err)
		}
		got, err := lockOf(packages[0]["internal/db/locks.sql.go"])
		if err != nil {
			t.Fatal(err)
		}
		want := newState(s)
		if want.key == "content_hash" {
			want.storeString = "" // the key is without
		}
		if got != want {
			t.Errorf("read %q, want %q", got, want)
		}
	}
}

// A key that changes under running replicas excludes nobody: https://github.com/Gitlawb/node/issues/210. A host changes its
// config; the run stops unless the very change is named, and the flag fails once it is made.
func TestA03AChangedLockStopsTheRunUntilItIsAccepted(t *testing.T) {
	root := t.TempDir()
	write := func(s model.Store, accept ...string) error {
		_, err := Write(t.Context(), Job{Root: root, Config: "statigen.yaml", Stores: []model.Store{s}, AcceptLockKey: accept})
		return err
	}
	wantError := func(err error, says string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got error %v, want one that says %q", err, says)
		}
	}
	plain, prefixed, both := store(t, model.Spec{}), store(t, model.Spec{Prefix: "loans"}), store(t, model.Spec{Prefix: "loans", LockKey: "both"})
	if err := write(plain); err != nil {
		t.Fatal(err)
	}
	const accept = `s: store "loans"."statifier_charts"`
	err := write(prefixed)
	wantError(err, `committed: store "statifier_charts" (store/statigen.sum)`)
	wantError(err, "--accept-lock-key='"+accept+"'")
	wantError(write(prefixed, `s: both "loans"."statifier_charts"`), "would change")
	wantError(write(plain, accept), "accepts nothing")
	if err := write(prefixed, accept); err != nil {
		t.Fatal(err)
	}
	wantError(write(prefixed, accept), "accepts nothing")
	if err := write(prefixed); err != nil {
		t.Error(err)
	}
	wantError(write(both), `committed: store "loans"."statifier_charts"`)

	// The manifest edited, the SQL tells; the SQL edited, the manifest does.
	sum := filepath.Join(root, "store/statigen.sum")
	edit(t, sum, `"store_string": ".*"`, `"store_string": "\"loans\".\"other\""`)
	wantError(write(prefixed), `committed: store "loans"."other" (store/statigen.sum)`)
	edit(t, sum, `"store_string": ".*"`, `"store_string": "\"loans\".\"statifier_charts\""`)
	edit(t, filepath.Join(root, "store/internal/db/locks.sql.go"), `"loans"`, `"other"`)
	wantError(write(prefixed), `committed: store "other"."statifier_charts" (store/internal/db/locks.sql.go)`)
}

func edit(t *testing.T, file, find, replace string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	edited := regexp.MustCompile(find).ReplaceAllLiteralString(string(text), replace)
	if edited == string(text) {
		t.Fatalf("%s has no %s", file, find)
	}
	if err := os.WriteFile(file, []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestANewerManifestStopsTheRun(t *testing.T) {
	root := t.TempDir()
	s := store(t, model.Spec{})
	job := Job{Root: root, Config: "statigen.yaml", Stores: []model.Store{s}}
	if _, err := Write(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	edit(t, filepath.Join(root, "store/statigen.sum"), `"schema": 8`, `"schema": 9`)
	if _, err := Write(t.Context(), job); err == nil || !strings.Contains(err.Error(), "schema version 9, and this statigen knows 8") {
		t.Errorf("got error %v", err)
	}
}

func TestOnlyAReleasedTagIsARelease(t *testing.T) {
	for version, want := range map[string]string{
		"v0.1.0": "v0.1.0", "v1.2.3-rc.1": "v1.2.3-rc.1", "(devel)": devel, "": devel, "v0.1.0+dirty": devel,
		"v0.0.0-20261130151352-790495b00000": devel, "v1.2.4-0.20261130151352-790495b00000": devel,
	} {
		if got := release(version); got != want {
			t.Errorf("release(%q) = %s, want %s", version, got, want)
		}
	}
}
