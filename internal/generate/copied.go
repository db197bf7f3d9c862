package generate

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

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
	files := map[string][]byte{".gitattributes": []byte(gitattributes)}
	err := fs.WalkDir(statigen.Texts, "templates", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		src, err := fs.ReadFile(statigen.Texts, name)
		if err != nil || strings.HasSuffix(name, "_test.go") || isGenerated(src) {
			return err
		}
		below := strings.TrimPrefix(name, "templates/")
		files[below], err = Rewrite(name, src, map[string]string{"store": s.Package}, s.Import)
		return err
	})
	return files, err
}

// isGenerated knows the files in templates/ that stand there for the default config.
func isGenerated(src []byte) bool {
	return regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`).Match(src)
}

// Rewrite gives a template's Go to another package: the package clause if it is a key of packages, and the
// imports below templates/. Only those bytes change, so that what was tested is what is copied.
func Rewrite(name string, src []byte, packages map[string]string, to string) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", name, err)
	}
	var out bytes.Buffer
	out.WriteString("// " + emit.Header + "\n\n")
	done := 0
	replace := func(n ast.Node, text string) {
		out.Write(src[done:fset.Position(n.Pos()).Offset])
		out.WriteString(text)
		done = fset.Position(n.End()).Offset
	}
	if pkg, ok := packages[file.Name.Name]; ok {
		replace(file.Name, pkg)
	}
	for _, spec := range file.Imports {
		if below, ok := belowTemplates(spec); ok {
			replace(spec.Path, strconv.Quote(path.Join(to, below)))
		}
	}
	out.Write(src[done:])
	return emit.Format(out.Bytes())
}

func belowTemplates(spec *ast.ImportSpec) (string, bool) {
	imported, err := strconv.Unquote(spec.Path.Value)
	if err != nil || imported != templates && !strings.HasPrefix(imported, templates+"/") {
		return "", false
	}
	return strings.TrimPrefix(imported, templates), true
}
