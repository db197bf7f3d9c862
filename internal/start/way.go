package start

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/semver"
)

const (
	command  = "github.com/statigen/statigen/cmd/statigen"
	toolsMod = "tools.mod"
)

// way is how a host runs statigen: the README has the table of all.
type way struct {
	line  string   // behind go:generate
	note  string   // on the line, if it needs one
	first []string // commands that come before it can run
}

// wayToRun puts the version into the line, for two versions may write two texts. A build that is no release has none to
// put there; to name the newest release would be to run another statigen than the one that wrote the config.
func wayToRun(root string, fromToolsMod bool, version string) (way, error) {
	switch released := semver.IsValid(version); {
	case fromToolsMod && !released:
		return way{}, errors.New("this build of statigen is no release, so tools.mod cannot require it (leave --tools-mod out)")
	case fromToolsMod:
		return tool(root, version), nil
	case released:
		return way{line: "go run " + command + "@" + version}, nil
	}
	return way{line: "statigen", note: "// The statigen on PATH: the one that wrote this is no release, which would be go run " + command + "@vX.Y.Z\n//\n"}, nil
}

// tool runs what tools.mod requires. The go command holds a vendor folder against it unless it is told not to look, and
// takes no -modfile in a workspace.
func tool(root, version string) way {
	get := "go get -modfile=" + toolsMod + " -tool " + command + "@" + version
	line := "go tool -modfile=" + toolsMod + " statigen"
	if vendors(root) {
		line = "go run -mod=readonly -modfile=" + toolsMod + " " + command
	}
	if inWorkspace(root) {
		return way{line: "env GOWORK=off " + line, first: []string{"GOWORK=off " + get}}
	}
	return way{line: line, first: []string{get}}
}

func vendors(root string) bool { return exists(filepath.Join(root, "vendor", "modules.txt")) }

func inWorkspace(root string) bool {
	for dir := root; ; dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, "go.work")) {
			return true
		}
		if filepath.Dir(dir) == dir {
			return false
		}
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// goFile is the file that has the line.
func (w way) goFile(clause string) []byte {
	return fmt.Appendf(nil, "package %s\n\n%s//go:generate %s\n", clause, w.note, w.line)
}
