// Package matrix generates a store for each of many hosts, in a module of their own, and runs there what a host's
// engineers would: the compiler, vet, staticcheck, and every test of the templates.
package matrix

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/generate"
	"github.com/statigen/statigen/internal/host"
	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/pgtest"
)

// modulePath lies below statigen's own, so that tests copied there may import its internal packages.
const modulePath = "github.com/statigen/statigen/matrix"

func TestMain(m *testing.M) {
	generate.Child()
	os.Exit(pgtest.Main(m))
}

const (
	// seeNoHost are the tests of the pooler between a store and its server, which no host changes.
	seeNoHost = "Pooling|^TestNoRaceStrandsAnExecution$/pooling"
	// seeNoColumn are the long tests whose outcome no column can change.
	seeNoColumn = "^(TestWhatWaitsOnWhat|TestNoRaceStrandsAnExecution|TestARetirementScansNoTable|" +
		"TestTheMetadataCheckAgreesWithTheServer|TestCancelledWhileWaitingIsAnUnknownOutcomeUnlessItAnswered|" +
		"TestADeadlockOfHostTransactionsIsRetryable|TestA14ACancelledCallLeavesNoLockInThePool|" +
		"TestAStandbyIsFound|TestAMissingUniqueIndexIsFound|TestEveryMissingPrivilegeIsFound)$"
)

func TestEveryHostPassesEveryTest(t *testing.T) {
	m := host.NewModule(t, modulePath, "require (\n\tgithub.com/jackc/pgx/v5 "+host.OldestPGX+"\n\tgithub.com/statigen/statigen v0.0.0\n)\n\n"+
		"replace github.com/statigen/statigen => "+host.Root(t)+"\n")
	locks, columns := hosts(t, m, "hosts.yaml"), hosts(t, m, "columns.yaml")
	m.Write(t, "stores_test.go", storesTest(append(locks, columns...)))
	m.Silent(t, "go", "vet", "./...")
	m.Silent(t, "go", "run", host.Staticcheck, "./...")
	env := []string{"STATIGEN_TEST_DATABASE_URL=" + pgtest.New(t, "").URL()}
	t.Log(m.Run(t, env, "go", append([]string{"test", "-skip", seeNoHost, "."}, packages(locks)...)...))
	t.Log(m.Run(t, env, "go", append([]string{"test", "-skip", seeNoColumn + "|" + seeNoHost}, packages(columns)...)...))
}

// hosts generates a config's stores, with the tests beside each.
func hosts(t *testing.T, m host.Folder, name string) []model.Store {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	stores := m.Generate(t, name, string(text))
	for _, s := range stores {
		copyTests(t, m, s)
	}
	return stores
}

func packages(stores []model.Store) []string {
	patterns := make([]string, len(stores))
	for i, s := range stores {
		patterns[i] = "./" + s.Out + "/..."
	}
	return patterns
}

// copyTests puts the templates' tests, and the adapter, beside a store.
func copyTests(t *testing.T, m host.Folder, s model.Store) {
	t.Helper()
	for _, pattern := range []string{"*_test.go", "internal/db/*_test.go"} {
		files, err := filepath.Glob(filepath.Join(host.Root(t), "templates", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no tests match %s: %v", pattern, err)
		}
		for _, file := range files {
			below, err := filepath.Rel(filepath.Join(host.Root(t), "templates"), file)
			if err != nil {
				t.Fatal(err)
			}
			copyGo(t, m, file, filepath.Join(s.Out, below), s)
		}
	}
	copyGo(t, m, "adapter/adapter.go", filepath.Join(s.Out, "adapter", "adapter.go"), s)
}

func copyGo(t *testing.T, m host.Folder, from, to string, s model.Store) {
	t.Helper()
	src, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	text, err := generate.Rewrite(from, src, map[string]string{"store_test": s.Package + "_test"}, s.Import)
	if err != nil {
		t.Fatal(err)
	}
	m.Write(t, to, string(text))
}

// storesTest is the test that runs the suite on all stores of the module.
func storesTest(stores []model.Store) string {
	var imports, entries strings.Builder
	for _, s := range stores {
		fmt.Fprintf(&imports, "\t%s %q\n", s.Name, s.Import+"/adapter")
		fmt.Fprintf(&entries, "\t\t%q: %s.Package(),\n", s.Name, s.Name)
	}
	return "package matrix_test\n\nimport (\n\t\"os\"\n\t\"testing\"\n\n" +
		"\t\"github.com/statigen/statigen/internal/matrix/suite\"\n\t\"github.com/statigen/statigen/internal/pgtest\"\n" +
		imports.String() + ")\n\nfunc TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }\n\n" +
		"func TestStores(t *testing.T) {\n\tsuite.Run(t, map[string]suite.Package{\n" + entries.String() + "\t})\n}\n"
}
