// Package start makes what a host begins with: a config, the line that runs statigen on it, and a test of the store. It asks nothing that the
// folder, its module or the binary can tell, and writes nothing itself.
package start

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/statigen/statigen/internal/config"
)

// Wish is what may be said, and need not be.
type Wish struct {
	Store, Out, Prefix string // as in the config
	ToolsMod           bool   // run statigen from a tools.mod
}

// Start is what a host begins with.
type Start struct {
	Root   string            // the module's root
	Folder string            // where the files go, below it
	Files  map[string][]byte // by name
	Out    string            // the store's folder as the config has it, which must not be there yet
	Next   []string          // the commands that come now
}

// New makes the start of a host in dir. version is that of this statigen; one that is no release cannot be fetched by its
// version.
func New(dir string, w Wish, version string) (Start, error) {
	root, mod, err := config.Module(dir)
	if err != nil {
		return Start{}, fmt.Errorf("%w (go mod init makes one)", err)
	}
	clause, err := packageClause(dir, mod)
	if err != nil {
		return Start{}, err
	}
	way, err := wayToRun(root, w.ToolsMod, version)
	if err != nil {
		return Start{}, err
	}
	w.Store = cmp.Or(w.Store, word(ownName(mod)))
	w.Out = cmp.Or(w.Out, word(w.Store)+"store")
	test, err := storeTest(clause, mod, w.Out)
	if err != nil {
		return Start{}, err
	}
	s := Start{Root: root, Folder: mod.Dir, Out: w.Out, Next: next(root, way)}
	s.Files = map[string][]byte{
		config.FileName:   config.Starter(w.Store, w.Out, w.Prefix),
		config.SchemaName: config.Schema(),
		"generate.go":     way.goFile(clause),
		"store_test.go":   test,
	}
	if w.ToolsMod {
		s.Files[toolsMod] = []byte("module tools\n") // the rest is go get's
	}
	return s, nil
}

// Check says what is wrong with the config, by itself and beside the module's others. It is in no file yet, so its problems
// have no lines.
func (s Start) Check(dir string, others []string) error {
	_, err := config.Read(filepath.Join(dir, config.FileName), s.Files[config.FileName], others...)
	var problems config.Errors
	if !errors.As(err, &problems) {
		return err
	}
	lines := []string{"no config can be written:"}
	for _, p := range problems {
		if p.File == config.FileName {
			lines = append(lines, p.Path+": "+p.Text)
		} else {
			lines = append(lines, p.Error())
		}
	}
	return errors.New(strings.Join(lines, "\n"))
}

// next are the commands that lead from the files to a package that builds.
func next(root string, w way) []string {
	commands := append(w.first, "go generate", "go mod tidy")
	if vendors(root) && !inWorkspace(root) {
		commands = append(commands, "go mod vendor")
	}
	return append(commands, "DATABASE_URL=postgres://… go test .")
}
