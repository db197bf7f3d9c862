package runs

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/host"
)

// A release is the only thing at hand: what its init prints is run, line for line, and there is a package that builds, and a test of it.
func TestWhatInitPrintsLeadsToAPackageThatBuilds(t *testing.T) {
	proxy := append(host.ServeRelease(t, released), "GOFLAGS=", "GOWORK=")
	for name, c := range map[string]struct {
		flags []string
		set   func(*testing.T, host.Folder, []string)
	}{
		"go run":                   {set: func(*testing.T, host.Folder, []string) {}},
		"tools.mod":                {flags: []string{"--tools-mod"}, set: func(*testing.T, host.Folder, []string) {}},
		"tools.mod in a workspace": {flags: []string{"--tools-mod"}, set: workspace},
		"tools.mod beside vendor":  {flags: []string{"--tools-mod"}, set: vendored},
	} {
		t.Run(name, func(t *testing.T) {
			m := host.Folder{Dir: t.TempDir()}
			m.Write(t, "go.mod", "module example.com/host\n\ngo 1.26.0\n")
			m.Write(t, "app/app.go", "package app\n")
			c.set(t, m, proxy)
			app := host.Folder{Dir: filepath.Join(m.Dir, "app")}
			args := append([]string{"run", statigen + "/cmd/statigen@" + released, "init", "--out", "store"}, c.flags...)
			_, next, _ := strings.Cut(app.Tool(t, proxy, "go", args...), "\nnext:\n")
			next, _, _ = strings.Cut(next, "  DATABASE_URL=") // the last one asks a server: the README's test does that
			inEnv(t, app, proxy, "sh", "-ec", next)
			inEnv(t, app, proxy, "go", "vet", "./...")
		})
	}
}
