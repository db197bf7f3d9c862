// Package runs is for tests: the command in hosts' modules, as it is released, run, killed and run again. It asks no
// database.
package runs

import (
	"os"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/generate"
	"github.com/statigen/statigen/internal/host"
)

func TestMain(m *testing.M) {
	generate.Child()
	os.Exit(m.Run())
}

func TestAnEmptyModuleNeedsNothingButPGX(t *testing.T) {
	m := host.NewModule(t, "example.com/empty", "require github.com/jackc/pgx/v5 "+host.OldestPGX+"\n")
	m.Generate(t, config.FileName, "{version: 1, stores: {s: {out: store}}}")
	m.Run(t, nil, "go", "build", "./...")
	m.Silent(t, "go", "vet", "./...")
	m.Silent(t, "go", "run", host.Staticcheck, "-checks", "all,-ST1000", "./...")
	direct := m.Run(t, nil, "go", "list", "-m", "-f", "{{if not (or .Main .Indirect)}}{{.Path}} {{.Version}}{{end}}", "all")
	if want := "github.com/jackc/pgx/v5 " + host.OldestPGX; strings.TrimSpace(direct) != want {
		t.Errorf("the module requires\n%s\nwant %s", direct, want)
	}
	for dep := range strings.FieldsSeq(m.Run(t, nil, "go", "list", "-deps", "./...")) {
		if strings.Contains(dep, "statigen") || strings.Contains(dep, "sqlc") {
			t.Errorf("the package depends on %s", dep)
		}
	}
}
