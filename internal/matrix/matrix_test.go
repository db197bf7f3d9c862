// Package matrix generates a store for each of many hosts, in a module of their own, and runs there what a host's
// engineers would: the compiler, vet, staticcheck, and every test of the templates.
package matrix

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/generate"
	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/pgtest"
)

const (
	// modulePath lies below statigen's own, so that tests copied there may import its internal packages.
	modulePath = "github.com/statigen/statigen/matrix"
	// oldestPGX is the oldest pgx that generated code builds with. The README names it.
	oldestPGX   = "v5.12.0"
	staticcheck = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"
)

func TestMain(m *testing.M) {
	generate.Child()
	os.Exit(pgtest.Main(m))
}

// folder is a temporary folder, a Go module's in most cases.
type folder struct{ dir string }

func newModule(t *testing.T, path, require string) folder {
	t.Helper()
	m := folder{t.TempDir()}
	m.write(t, "go.mod", "module "+path+"\n\ngo 1.26.0\n\n"+require)
	sums, err := os.ReadFile(filepath.Join(root(t), "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	m.write(t, "go.sum", string(sums))
	return m
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func (m folder) write(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// generate writes the config's stores into the module.
func (m folder) generate(t *testing.T, name, text string) []model.Store {
	t.Helper()
	m.write(t, name, text)
	cfg, err := config.Load(filepath.Join(m.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := generate.Write(t.Context(), generate.Job{Root: cfg.Root, Config: cfg.Path, Stores: cfg.Stores}); err != nil {
		t.Fatal(err)
	}
	return cfg.Stores
}

// run runs a command in the module and fails the test with all that it printed.
func (m folder) run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	return m.tool(t, append(env, "GOFLAGS=-mod=mod"), name, args...)
}

// tool is run without a -mod flag.
func (m folder) tool(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), append(env, "GOWORK=off")...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out.Bytes())
	}
	return out.String()
}

// silent runs a check that prints what it finds.
func (m folder) silent(t *testing.T, name string, args ...string) {
	t.Helper()
	if out := m.run(t, nil, name, args...); out != "" {
		t.Errorf("%s %s says:\n%s", name, strings.Join(args, " "), out)
	}
}

func TestAnEmptyModuleNeedsNothingButPGX(t *testing.T) {
	m := newModule(t, "example.com/empty", "require github.com/jackc/pgx/v5 "+oldestPGX+"\n")
	m.generate(t, config.FileName, "{version: 1, stores: {s: {out: store}}}")
	m.run(t, nil, "go", "build", "./...")
	m.silent(t, "go", "vet", "./...")
	m.silent(t, "go", "run", staticcheck, "-checks", "all,-ST1000", "./...")
	direct := m.run(t, nil, "go", "list", "-m", "-f", "{{if not (or .Main .Indirect)}}{{.Path}} {{.Version}}{{end}}", "all")
	if want := "github.com/jackc/pgx/v5 " + oldestPGX; strings.TrimSpace(direct) != want {
		t.Errorf("the module requires\n%s\nwant %s", direct, want)
	}
	for dep := range strings.FieldsSeq(m.run(t, nil, "go", "list", "-deps", "./...")) {
		if strings.Contains(dep, "statigen") || strings.Contains(dep, "sqlc") {
			t.Errorf("the package depends on %s", dep)
		}
	}
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
	m := newModule(t, modulePath, "require (\n\tgithub.com/jackc/pgx/v5 "+oldestPGX+"\n\tgithub.com/statigen/statigen v0.0.0\n)\n\n"+
		"replace github.com/statigen/statigen => "+root(t)+"\n")
	locks, columns := m.hosts(t, "hosts.yaml"), m.hosts(t, "columns.yaml")
	m.write(t, "stores_test.go", storesTest(append(locks, columns...)))
	m.silent(t, "go", "vet", "./...")
	m.silent(t, "go", "run", staticcheck, "./...")
	env := []string{"STATIGEN_TEST_DATABASE_URL=" + pgtest.New(t, "").URL()}
	t.Log(m.run(t, env, "go", append([]string{"test", "-skip", seeNoHost, "."}, packages(locks)...)...))
	t.Log(m.run(t, env, "go", append([]string{"test", "-skip", seeNoColumn + "|" + seeNoHost}, packages(columns)...)...))
}

// hosts generates a config's stores, with the tests beside each.
func (m folder) hosts(t *testing.T, name string) []model.Store {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	stores := m.generate(t, name, string(text))
	for _, s := range stores {
		m.copyTests(t, s)
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
func (m folder) copyTests(t *testing.T, s model.Store) {
	t.Helper()
	for _, pattern := range []string{"*_test.go", "internal/db/*_test.go"} {
		files, err := filepath.Glob(filepath.Join(root(t), "templates", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no tests match %s: %v", pattern, err)
		}
		for _, file := range files {
			below, err := filepath.Rel(filepath.Join(root(t), "templates"), file)
			if err != nil {
				t.Fatal(err)
			}
			m.copyGo(t, file, filepath.Join(s.Out, below), s)
		}
	}
	m.copyGo(t, "adapter/adapter.go", filepath.Join(s.Out, "adapter", "adapter.go"), s)
}

func (m folder) copyGo(t *testing.T, from, to string, s model.Store) {
	t.Helper()
	src, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	text, err := generate.Rewrite(from, src, map[string]string{"store_test": s.Package + "_test"}, s.Import)
	if err != nil {
		t.Fatal(err)
	}
	m.write(t, to, string(text))
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
