package model

import (
	"errors"
	"fmt"
	"go/token"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/statigen/statigen/internal/keyspec"
)

// DefaultTablePrefix is what a table's name begins with unless a spec says otherwise.
const DefaultTablePrefix = "statifier_"

// CTEPrefix begins the names of all CTEs in the queries. A CTE hides a table of its name where no schema
// is written, so no table's name may begin like one.
const CTEPrefix = "sg_"

// Concepts lists the four tables by their keys in a spec.
func Concepts() []string { return []string{"charts", "positions", "executions", "inputs"} }

// New decides a store's names. It reports every problem of the spec; with one, the Store is of no use.
func New(mod Module, spec Spec) (Store, []Problem) {
	c := &checker{}
	s := Store{
		Name: spec.Name, Schema: spec.Prefix,
		ID:      oneOf(c, "id", "id scheme", spec.ID, IDs()),
		LockKey: oneOf(c, "lock_key", "lock key", spec.LockKey, keyspec.LockKeys()),
	}
	c.prefix(spec.Prefix)
	before := len(c.problems)
	s.Out = c.out(mod, spec.Out)
	s.Import = path.Join(mod.Path, s.Out)
	if spec.Package != "" || len(c.problems) == before { // a folder that is refused names no package
		s.Package = c.packageName(spec)
	}
	c.tables(&s, spec)
	s.Leading = c.leading(spec.Leading)
	s.Collations = c.collations(spec.Collations)
	s.TimestampsFirst = oneOf(c, "timestamps_position", "position", spec.TimestampsPosition, TimestampsPositions()) == "leading"
	s.DistinctSearchPath = spec.DistinctSearchPath
	return s, c.problems
}

type checker struct{ problems []Problem }

func (c *checker) report(field, format string, args ...any) {
	c.problems = append(c.problems, Problem{field, fmt.Sprintf(format, args...)})
}

// oneOf returns the value that text names; the first one is the default.
func oneOf[T ~string](c *checker, field, noun, text string, values []T) T {
	if text == "" {
		return values[0]
	}
	if !slices.Contains(values, T(text)) {
		words := make([]string, len(values))
		for i, v := range values {
			words[i] = string(v)
		}
		c.report(field, "%s", Unknown(noun, text, list(words), words...))
	}
	return T(text)
}

func list(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// out checks the folder and returns it relative to the module's root.
func (c *checker) out(mod Module, out string) string {
	clean := path.Join(mod.Dir, out)
	switch {
	case out == "":
		c.report("out", "no folder (want one below the module's root, such as loanstore)")
	case path.IsAbs(out) || strings.ContainsAny(out, "\\:"):
		c.report("out", "%q is not a relative path with forward slashes", out)
	case clean == "." || clean == ".." || strings.HasPrefix(clean, "../"):
		c.report("out", "%q is not a folder below the module's root", out)
	default:
		c.outElements(out, clean)
	}
	return clean
}

func (c *checker) outElements(out, clean string) {
	for e := range strings.SplitSeq(clean, "/") {
		if len(e) > 255 {
			c.report("out", "the folder name %.100q has %d bytes (want at most 255)", e, len(e))
		}
		// On a file system that folds case, Vendor is vendor.
		if strings.EqualFold(e, "vendor") || strings.EqualFold(e, "testdata") || strings.HasPrefix(e, ".") || strings.HasPrefix(e, "_") {
			c.report("out", "%q: the go command passes over a folder named %q", out, e)
		}
	}
	// The module's own path is not ours to judge, so only what out adds to it is looked at.
	if err := module.CheckImportPath("example.com/" + clean); err != nil {
		c.report("out", "%q cannot be part of an import path: %v", out, errors.Unwrap(err))
	}
}

func (c *checker) packageName(spec Spec) string {
	name, field, remedy := spec.Package, "package", ""
	if name == "" {
		name, field, remedy = path.Base(spec.Out), "out", "; set package"
	}
	if !token.IsIdentifier(name) || name == "_" || name == "main" || strings.HasSuffix(name, "_test") {
		c.report(field, "%q cannot be the name of a Go package that others import%s", name, remedy)
	}
	return name
}

func (c *checker) tables(s *Store, spec Spec) {
	prefix := DefaultTablePrefix
	if spec.TablePrefix != nil {
		prefix = *spec.TablePrefix
	}
	for i, t := range []*Table{&s.Charts, &s.Positions, &s.Executions, &s.Inputs} {
		*t = Table{Concept: Concepts()[i], Name: prefix + Concepts()[i]}
		field := "table_prefix"
		if name, ok := spec.Tables[t.Concept]; ok {
			t.Name, field = name, "tables."+t.Concept
		}
		c.table(field, t.Name, s.Schema)
		for _, index := range s.Indexes()[t.Concept] {
			if len(index) > MaxName {
				c.report(field, "the index name %q has %d bytes (want at most %d)", index, len(index), MaxName)
			}
		}
	}
	if _, named := spec.Tables[s.Executions.Concept]; !named {
		s.FormerRuns = prefix + "runs"
	}
	c.distinctRelations(s, spec)
}

// table refuses what a name without a schema would not lead to: a CTE hides it, and so does a table of the server's.
func (c *checker) table(field, name, schema string) {
	switch {
	case !c.name(field, name):
	case strings.HasPrefix(name, CTEPrefix):
		c.report(field, "the table name %q begins with %q, which the queries keep for themselves", name, CTEPrefix)
	case strings.HasPrefix(name, "pg_") && schema == "":
		c.report(field, "the table name %q begins with \"pg_\", and the server's own tables come first in every search_path (want another name, or a prefix)", name)
	}
}

// distinctRelations finds two tables or indexes of one name: they share the schema's one namespace.
func (c *checker) distinctRelations(s *Store, spec Spec) {
	owner := map[string]string{}
	for _, t := range s.Tables() {
		field := "table_prefix"
		if _, ok := spec.Tables[t.Concept]; ok {
			field = "tables." + t.Concept
		}
		for _, name := range append([]string{t.Name}, s.Indexes()[t.Concept]...) {
			if first, taken := owner[name]; taken {
				c.report(field, "the name %q of %s is taken by %s", name, t.Concept, first)
			}
			owner[name] = t.Concept
		}
	}
}
