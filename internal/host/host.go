// Package host is for tests: a host's folder, with what its engineers would do in it.
package host

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/generate"
	"github.com/statigen/statigen/internal/model"
)

const (
	// OldestPGX is the oldest pgx that generated code builds with. The README names it.
	OldestPGX = "v5.12.0"
	// Staticcheck is the release that `make lint` runs.
	Staticcheck = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"
)

// Folder is a host's temporary folder, in most cases with a Go module in it.
type Folder struct{ Dir string }

// NewModule is a folder with a go.mod, and all the sums that statigen itself has.
func NewModule(t *testing.T, path, require string) Folder {
	t.Helper()
	m := Folder{t.TempDir()}
	m.Write(t, "go.mod", "module "+path+"\n\ngo 1.26.0\n\n"+require)
	sums, err := os.ReadFile(filepath.Join(Root(t), "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	m.Write(t, "go.sum", string(sums))
	return m
}

// Root is the checkout of statigen.
func Root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Write puts a file into the folder.
func (m Folder) Write(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(m.Dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Generate writes the config's stores into the module.
func (m Folder) Generate(t *testing.T, name, text string) []model.Store {
	t.Helper()
	m.Write(t, name, text)
	cfg, err := config.Load(filepath.Join(m.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := generate.Write(t.Context(), generate.Job{Root: cfg.Root, Config: cfg.Path, Stores: cfg.Stores}); err != nil {
		t.Fatal(err)
	}
	return cfg.Stores
}

// Run runs a command in the module and fails the test with all that it printed.
func (m Folder) Run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	return m.Tool(t, append(env, "GOFLAGS=-mod=mod"), name, args...)
}

// Tool is Run without a -mod flag.
func (m Folder) Tool(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = m.Dir
	cmd.Env = append(os.Environ(), append(env, "GOWORK=off")...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out.Bytes())
	}
	return out.String()
}

// Silent runs a check that prints what it finds.
func (m Folder) Silent(t *testing.T, name string, args ...string) {
	t.Helper()
	if out := m.Run(t, nil, name, args...); out != "" {
		t.Errorf("%s %s says:\n%s", name, strings.Join(args, " "), out)
	}
}
