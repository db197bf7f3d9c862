package runs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/host"
)

const (
	statigen = host.Statigen
	released = "v0.0.1"
)

// This very tree, released as v0.0.1 and served by a module proxy, runs in a host that knows nothing of it: no replace
// line, and every embedded text in place. A release passes over what it wrote itself, without starting sqlc.
func TestAReleaseRunsInAnEmptyHost(t *testing.T) {
	proxy := host.ServeRelease(t, released)
	m := host.NewModule(t, "example.com/host", "require github.com/jackc/pgx/v5 "+host.OldestPGX+"\n")
	m.Write(t, "statigen.yaml", "{version: 1, stores: {s: {out: store}}}")
	bin := t.TempDir()
	env := append(proxy, "GOBIN="+bin)
	if out := m.Run(t, env, "go", "run", statigen+"/cmd/statigen@"+released); !strings.Contains(out, "store/store.go\n") {
		t.Errorf("go run printed\n%s", out)
	}
	sum, err := os.ReadFile(filepath.Join(m.Dir, "store/statigen.sum"))
	if err != nil || !bytes.Contains(sum, []byte(`"statigen": "`+released+`"`)) {
		t.Errorf("the manifest does not name %s (%v):\n%s", released, err, sum)
	}
	m.Run(t, nil, "go", "build", "./...")

	// As a tool in a file of its own: no -mod flag, which go tool does not take.
	env = append(env, "GOFLAGS=")
	m.Tool(t, env, "go", "mod", "init", "-modfile=tools.mod", "example.com/tools")
	m.Tool(t, env, "go", "get", "-modfile=tools.mod", "-tool", statigen+"/cmd/statigen@"+released)
	if out := m.Tool(t, env, "go", "tool", "-modfile=tools.mod", "statigen", "check"); out != "" {
		t.Errorf("go tool statigen check printed\n%s", out)
	}

	m.Run(t, env, "go", "install", statigen+"/cmd/statigen@"+released)
	binary := filepath.Join(bin, "statigen")
	noRoomForSQLC := []string{"TMPDIR=/nonexistent"}
	if out := m.Run(t, noRoomForSQLC, binary); out != "" {
		t.Errorf("an unchanged run printed\n%s", out)
	}
	if err := os.Remove(filepath.Join(m.Dir, "store/doc.go")); err != nil {
		t.Fatal(err)
	}
	if out := m.Run(t, nil, binary); out != "store/doc.go\n" {
		t.Errorf("after a file was lost, printed\n%s", out)
	}
}
