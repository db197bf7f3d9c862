package runs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/host"
)

// onPath is the environment in which a go:generate line finds the command.
func onPath(t *testing.T) string {
	return "PATH=" + filepath.Dir(build(t)) + string(os.PathListSeparator) + os.Getenv("PATH")
}

// goGenerate returns what the command said, and whether it was content. The caller's GOOS is no concern of the generator's.
func goGenerate(t *testing.T, m host.Folder, below string, env ...string) (string, bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "generate", "./...")
	cmd.Dir = filepath.Join(m.Dir, below)
	cmd.Env = append(os.Environ(), append([]string{"GOOS=windows", "GOWORK=off", "GOFLAGS="}, env...)...)
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

const directive = "//go:generate statigen\n"

func TestB19PackageAndModuleDetection(t *testing.T) {
	path := onPath(t)
	t.Run("the name of the package", func(t *testing.T) { folderNamesThePackage(t, path) })
	t.Run("any subfolder", func(t *testing.T) { runsInAnySubfolder(t, path) })
	t.Run("a workspace of two modules", func(t *testing.T) { worksInAWorkspace(t, path) })
	t.Run("a host that vendors", func(t *testing.T) { worksWhereVendored(t, path) })
}

// Nothing is guessed from what lies in the folder: the package is named by the config, or by the folder.
func folderNamesThePackage(t *testing.T, path string) {
	for name, c := range map[string]struct {
		store  string // of the config
		files  map[string]string
		clause string // of the package made
		says   string // or why there is none
	}{
		"an empty folder whose name is no package's": {
			store: "out: my-store", says: `statigen.yaml:4:10: stores.s.out: "my-store" cannot be the name of a Go package that others import; set package`,
		},
		"such a host.Folder, and package set": {store: "out: my-store\n    package: mystore", clause: "mystore"},
		"a folder called type": {
			store: "out: type", says: `statigen.yaml:4:10: stores.s.out: "type" cannot be the name of a Go package that others import; set package`,
		},
		"a folder called type, and package set": {store: "out: type\n    package: types", clause: "types"},
		"nothing there but an external test": {
			store: "out: store", clause: "store", files: map[string]string{"store/x_test.go": "package store_test\n" + directive},
		},
		"nothing there but an ignored main": {
			store: "out: store", clause: "store", files: map[string]string{"store/x.go": "//go:build ignore\n\npackage main\n"},
		},
		"a tree that does not compile without the store": {
			store: "out: store", clause: "store",
			files: map[string]string{"app/app.go": "package app\n" + directive + "import _ \"example.com/host/store\"\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := host.NewModule(t, "example.com/host", "require github.com/jackc/pgx/v5 "+host.OldestPGX+"\n")
			m.Write(t, "host.go", "package host\n"+directive)
			m.Write(t, "statigen.yaml", "version: 1\nstores:\n  s:\n    "+c.store+"\n")
			for name, text := range c.files {
				m.Write(t, name, text)
			}
			said, content := goGenerate(t, m, ".", path)
			if content != (c.says == "") || !strings.Contains(said, c.says) {
				t.Fatalf("content is %t, and said %q, want %q", content, said, c.says)
			}
			if content {
				holds(t, m, c.clause)
			}
		})
	}
}

// holds demands that the package of a name is in the module, and that all of it compiles.
func holds(t *testing.T, m host.Folder, clause string) {
	t.Helper()
	m.Run(t, nil, "go", "vet", "./...")
	if names := strings.Fields(m.Run(t, nil, "go", "list", "-f", "{{.Name}}", "./...")); !strings.Contains(" "+strings.Join(names, " ")+" ", " "+clause+" ") {
		t.Errorf("the module's packages are %q, want %s among them", names, clause)
	}
}

// From whichever folder of the module go generate runs, the config above is the one.
func runsInAnySubfolder(t *testing.T, path string) {
	m := host.Folder{Dir: t.TempDir()}
	m.Write(t, "go.mod", "module example.com/host\n\ngo 1.26.0\n")
	m.Write(t, "statigen.yaml", "{version: 1, stores: {s: {out: store}}}")
	m.Write(t, "app/below/deep.go", "package below\n"+directive)
	for i, below := range []string{"app/below", "app", "."} {
		said, content := goGenerate(t, m, below, path)
		if first := strings.Contains(said, "store/lock.go\n"); !content || first != (i == 0) {
			t.Errorf("from %s: content is %t, and said %q", below, content, said)
		}
	}
}

// In a workspace a store's import path is that of the module around its own config, and one module may use another's.
func worksInAWorkspace(t *testing.T, path string) {
	work := host.Folder{Dir: t.TempDir()}
	work.Write(t, "go.work", "go 1.26.0\n\nuse (\n\t./a\n\t./b\n)\n")
	for _, name := range []string{"a", "b"} {
		m := host.NewModule(t, "example.com/"+name, "require github.com/jackc/pgx/v5 "+host.OldestPGX+"\n")
		for _, file := range []string{"go.mod", "go.sum"} {
			work.Write(t, name+"/"+file, read(t, m, file))
		}
		work.Write(t, name+"/statigen.yaml", "{version: 1, stores: {s: {out: store}}}")
		work.Write(t, name+"/host.go", "package host\n"+directive+"import (\n_ \"example.com/a/store\"\n_ \"example.com/"+name+"/store\"\n)\n")
	}
	inWork := "GOWORK=" + filepath.Join(work.Dir, "go.work")
	for _, name := range []string{"a", "b"} {
		if said, content := goGenerate(t, work, name, path, inWork); !content {
			t.Fatalf("go generate in %s says\n%s", name, said)
		}
		if text := read(t, work, name+"/store/store.go"); !strings.Contains(text, `"example.com/`+name+`/store/internal/db"`) {
			t.Errorf("the store of %s imports another's SQL", name)
		}
	}
	inEnv(t, work, []string{"GOFLAGS=", inWork}, "go", "vet", "./a/...", "./b/...")
}

func read(t *testing.T, m host.Folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(m.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A host that vendors what it imports vendors pgx and nothing of statigen.
func worksWhereVendored(t *testing.T, path string) {
	m := host.NewModule(t, "example.com/host", "require github.com/jackc/pgx/v5 "+host.OldestPGX+"\n")
	m.Write(t, "statigen.yaml", "{version: 1, stores: {s: {out: store}}}")
	m.Write(t, "host.go", "package host\n"+directive+"import _ \"example.com/host/store\"\n")
	if said, content := goGenerate(t, m, ".", path); !content {
		t.Fatal(said)
	}
	m.Run(t, nil, "go", "mod", "tidy")
	m.Tool(t, []string{"GOFLAGS="}, "go", "mod", "vendor")
	if err := os.RemoveAll(filepath.Join(m.Dir, "store")); err != nil {
		t.Fatal(err)
	}
	if said, content := goGenerate(t, m, ".", path, "GOFLAGS=-mod=vendor"); !content || !strings.Contains(said, "store/store.go\n") {
		t.Errorf("go generate in a vendored host says\n%s", said)
	}
	m.Tool(t, []string{"GOFLAGS=-mod=vendor"}, "go", "build", "-trimpath", "./...")
	if modules := read(t, m, "vendor/modules.txt"); strings.Contains(modules, "statigen") {
		t.Errorf("vendored:\n%s", modules)
	}
}
