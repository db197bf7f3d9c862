package generate_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/generate"
	"github.com/statigen/statigen/internal/model"
)

func TestMain(m *testing.M) {
	generate.Child()
	os.Exit(m.Run())
}

// The example is the golden: what is committed is what its config gives, file for file.
func TestTheCommittedExampleIsCurrent(t *testing.T) {
	cfg, err := config.Load("../../gen/example/statigen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files := packageOf(t, cfg.Stores[0])
	folder := filepath.Join(cfg.Root, cfg.Stores[0].Out)
	compare(t, folder, files)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(files)), filesBelow(t, folder)); diff != "" {
		t.Errorf("files in %s (-generated +committed); run make generate:\n%s", folder, diff)
	}
}

func TestTheCommittedTemplatesAreCurrent(t *testing.T) {
	store, problems := model.New(model.Module{Path: "github.com/statigen/statigen", Dir: "."}, model.Spec{Name: "default", Package: "store", Out: "templates"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	packages, err := generate.Shaped(t.Context(), []model.Store{store})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "../../templates", packages[0])
}

func packageOf(t *testing.T, s model.Store) map[string][]byte {
	t.Helper()
	packages, err := generate.Packages(t.Context(), []model.Store{s})
	if err != nil {
		t.Fatal(err)
	}
	return packages[0]
}

func compare(t *testing.T, folder string, files map[string][]byte) {
	t.Helper()
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Errorf("%v; run make generate", err)
			continue
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s/%s is not current (-generated +committed); run make generate:\n%s", folder, name, diff)
		}
	}
}

func filesBelow(t *testing.T, folder string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		below, err := filepath.Rel(folder, path)
		names = append(names, filepath.ToSlash(below))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func TestEveryGoFileBeginsWithAHeaderThatToolsKnow(t *testing.T) {
	header := regexp.MustCompile(`^// Code generated .* DO NOT EDIT\.\n`)
	for name, text := range packageOf(t, defaultStore(t)) {
		if filepath.Ext(name) == ".go" && !header.Match(text) {
			t.Errorf("%s begins with %.60q", name, text)
		}
	}
}

func TestManyStoresAreTheirOwnPackages(t *testing.T) {
	one, two := defaultStore(t), defaultStore(t)
	two.Name, two.Package, two.Import, two.Schema = "two", "second", "example.com/host/second", "other"
	together, err := generate.Packages(t.Context(), []model.Store{one, two})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range []model.Store{one, two} {
		if diff := cmp.Diff(packageOf(t, s), together[i]); diff != "" {
			t.Errorf("store %s alone and with another (-alone +together):\n%s", s.Name, diff)
		}
	}
}

func defaultStore(t *testing.T) model.Store {
	t.Helper()
	s, problems := model.New(model.Module{Path: "example.com/host", Dir: "."}, model.Spec{Name: "s", Out: "store"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return s
}
