package generate

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/statigen/statigen"
	"github.com/statigen/statigen/internal/emit"
	"github.com/statigen/statigen/internal/model"
)

// templates is the import path of the package that the templates are where they stand.
const templates = "github.com/statigen/statigen/templates"

// gitattributes keeps line endings as they are, so that files stay equal on every machine.
const gitattributes = "* -text linguist-generated=true\n"

// copied returns the files that are the same in every package but for the package clause and the import path.
func copied(s model.Store) (map[string][]byte, error) {
	all, err := parsedTemplates()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{".gitattributes": []byte(gitattributes)}
	for name, t := range all {
		files[name] = t.give(map[string]string{"store": s.Package}, s.Import)
	}
	return files, nil
}

// parsedTemplates are the hand-written files of templates/, by name. They are parsed once for all stores.
var parsedTemplates = sync.OnceValues(func() (map[string]template, error) {
	all := map[string]template{}
	err := fs.WalkDir(statigen.Texts, "templates", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		src, err := fs.ReadFile(statigen.Texts, name)
		if err != nil || strings.HasSuffix(name, "_test.go") || isGenerated(src) {
			return err
		}
		all[strings.TrimPrefix(name, "templates/")], err = parse(name, src)
		return err
	})
	return all, err
})

// isGenerated knows the files in templates/ that stand there for the default config.
func isGenerated(src []byte) bool {
	return regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`).Match(src)
}

// template is a Go file that other packages are given. Only its package clause and its imports below templates/ change,
// and they stand in import groups of their own, so that the text stays formatted and what was tested is what is copied.
type template struct {
	src   []byte
	holes []hole // in their order
}

// hole is a part of a template that changes.
type hole struct {
	from, to int
	text     string // a package's name, or an import path below templates/
	imports  bool
}

// Rewrite gives a template's Go to another package: the package clause if it is a key of packages, and the imports
// below templates/.
func Rewrite(name string, src []byte, packages map[string]string, to string) ([]byte, error) {
	t, err := parse(name, src)
	if err != nil {
		return nil, err
	}
	return t.give(packages, to), nil
}

func parse(name string, src []byte) (template, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.ImportsOnly)
	if err != nil {
		return template{}, fmt.Errorf("parse %s: %w", name, err)
	}
	at := func(n ast.Node) (from, to int) { return fset.Position(n.Pos()).Offset, fset.Position(n.End()).Offset }
	t := template{src: src}
	from, to := at(file.Name)
	t.holes = append(t.holes, hole{from, to, file.Name.Name, false})
	for _, spec := range file.Imports {
		if below, ok := belowTemplates(spec); ok {
			from, to := at(spec.Path)
			t.holes = append(t.holes, hole{from, to, below, true})
		}
	}
	return t, nil
}

func (t template) give(packages map[string]string, to string) []byte {
	out := []byte("// " + emit.Header + "\n\n")
	done := 0
	for _, h := range t.holes {
		text := cmp.Or(packages[h.text], h.text)
		if h.imports {
			text = strconv.Quote(path.Join(to, h.text))
		}
		out = append(append(out, t.src[done:h.from]...), text...)
		done = h.to
	}
	return append(out, t.src[done:]...)
}

func belowTemplates(spec *ast.ImportSpec) (string, bool) {
	imported, err := strconv.Unquote(spec.Path.Value)
	if err != nil || imported != templates && !strings.HasPrefix(imported, templates+"/") {
		return "", false
	}
	return strings.TrimPrefix(imported, templates), true
}
