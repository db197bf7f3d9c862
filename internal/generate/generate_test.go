package generate_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/emit"
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
	findings, err := generate.Check(t.Context(), generate.Job{Root: cfg.Root, Config: cfg.Path, Stores: cfg.Stores})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Errorf("%s is %s; run make generate", f.Name, f.State)
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

// What is copied is not formatted again; it must need none, whatever the host's paths are.
func TestWhatIsCopiedStaysFormatted(t *testing.T) {
	for _, path := range []string{"a/b", "example.com/host", "zz.example.com/z/host"} {
		s, problems := model.New(model.Module{Path: path, Dir: "."}, model.Spec{Name: "s", Out: "some/folder", Package: "p"})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		for name, text := range packageOf(t, s) {
			if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".sql.go") {
				continue
			}
			formatted, err := emit.Format(text, s.Import)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if diff := cmp.Diff(string(formatted), string(text)); diff != "" {
				t.Errorf("%s in %s (-formatted +copied):\n%s", name, path, diff)
			}
		}
	}
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

// A name that the config refuses, put into a model: what sqlc makes of it is another name, and the run stops.
func TestANameThatSQLCWouldChangeStopsTheRun(t *testing.T) {
	s := defaultStore(t)
	s.Charts.Name = "charts\n-- of ours\n"
	_, err := generate.Packages(t.Context(), []model.Store{s})
	var bug *generate.Bug
	if !errors.As(err, &bug) || !strings.Contains(err.Error(), "came back changed") {
		t.Errorf("got error %v, want a query that came back changed", err)
	}
}
