package matrix

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/host"
	"github.com/statigen/statigen/internal/pgtest"
)

// The README's first commands, word for word but for the database's URL, in an empty module: they end with a test that
// passes, and leave nothing in the database.
func TestTheREADMELeadsToAPassingTestInFourCommands(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(host.Root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile(`(?m)^    go run .* init .*\n(?:    .*\n)+`).FindString(string(readme))
	commands := strings.Split(strings.TrimSpace(block), "\n")
	if len(commands) != 4 {
		t.Fatalf("the README has %d commands:\n%s", len(commands), block)
	}
	db := pgtest.New(t, "")
	m := host.Folder{Dir: t.TempDir()}
	m.Write(t, "go.mod", "module example.com/loans\n\ngo 1.26.0\n")
	env := append(host.ServeRelease(t, "v0.1.0"), "GOFLAGS=")
	for _, command := range commands {
		command = strings.ReplaceAll(command, "postgres://localhost/postgres", "'"+db.URL()+"'")
		t.Log(m.Tool(t, env, "sh", "-c", strings.TrimSpace(command)))
	}
	m.Tool(t, env, "go", "vet", "./...")
	var left bool
	if err := db.Conn(t).QueryRow(t.Context(), "SELECT to_regnamespace('loans') IS NOT NULL").Scan(&left); err != nil || left {
		t.Errorf("something is left: %t, %v", left, err)
	}
}
