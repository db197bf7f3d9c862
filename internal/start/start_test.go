package start_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/statigen/statigen/internal/start"
)

// test is the last command, whatever comes before.
const test = "DATABASE_URL=postgres://… go test ."

const get = "go get -modfile=tools.mod -tool github.com/statigen/statigen/cmd/statigen@v1.2.3"

// The README's tables of lines, as far as the module tells which one it is.
func TestTheLineIsTheOneThatRunsInTheModule(t *testing.T) {
	for name, c := range map[string]struct {
		files    []string
		toolsMod bool
		line     string
		next     []string
	}{
		"go run": {
			line: "go run github.com/statigen/statigen/cmd/statigen@v1.2.3", next: []string{"go generate", "go mod tidy", test},
		},
		"go run past vendor and go.work": {
			files: []string{"vendor/modules.txt", "go.work"},
			line:  "go run github.com/statigen/statigen/cmd/statigen@v1.2.3", next: []string{"go generate", "go mod tidy", test},
		},
		"tools.mod": {toolsMod: true, line: "go tool -modfile=tools.mod statigen", next: []string{get, "go generate", "go mod tidy", test}},
		"tools.mod beside vendor": {
			toolsMod: true, files: []string{"vendor/modules.txt"},
			line: "go run -mod=readonly -modfile=tools.mod github.com/statigen/statigen/cmd/statigen", next: []string{get, "go generate", "go mod tidy", "go mod vendor", test},
		},
		"tools.mod in a workspace": {
			toolsMod: true, files: []string{"go.work"},
			line: "env GOWORK=off go tool -modfile=tools.mod statigen", next: []string{"GOWORK=off " + get, "go generate", "go mod tidy", test},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := start.New(module(t, c.files...), start.Wish{ToolsMod: c.toolsMod}, "v1.2.3")
			if err != nil {
				t.Fatal(err)
			}
			if got, want := string(s.Files["generate.go"]), "package loans\n\n//go:generate "+c.line+"\n"; got != want {
				t.Errorf("generate.go holds\n%s\nwant\n%s", got, want)
			}
			if _, there := s.Files["tools.mod"]; there != c.toolsMod {
				t.Errorf("tools.mod is there: %t", there)
			}
			if !slices.Equal(s.Next, c.next) {
				t.Errorf("next come %q, want %q", s.Next, c.next)
			}
		})
	}
}

// module is the folder of a module that holds files besides.
func module(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range append(files, "go.mod") {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("module example.com/loans\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
