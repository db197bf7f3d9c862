package model

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/statigen/statigen/internal/keyspec"
)

// Together finds what two stores of one module cannot both have. Problems are the second one's; Field is relative to it.
func Together(first, second Store) []Problem {
	c := &checker{}
	c.folders(first, second)
	c.sharedTables(first, second)
	c.sharedBySearchPath(first, second)
	return c.problems
}

// folders must not be one another, nor inside one another, not even where the file system folds case.
func (c *checker) folders(first, second Store) {
	a, b := strings.ToLower(path.Clean(first.Out))+"/", strings.ToLower(path.Clean(second.Out))+"/"
	if strings.HasPrefix(a, b) || strings.HasPrefix(b, a) {
		c.report("out", "the folder %q is, or overlaps, the folder %q of store %s", second.Out, first.Out, first.Name)
	}
}

// sharedTables: two stores on one set of tables are one store, and must be alike in all that the rows and the lock are
// made of. On some tables in common, or on one index name, neither would be whole.
func (c *checker) sharedTables(first, second Store) {
	if first.Schema != second.Schema {
		return
	}
	shared := 0
	for i, t := range second.Tables() {
		if t.Name == first.Tables()[i].Name {
			shared++
		}
	}
	switch common := commonRelations(first, second); {
	case shared == len(Concepts()):
		c.alike(first, second)
	case len(common) > 0:
		c.report("tables", "shares %s with store %s (want all four tables shared, or none)", strings.Join(common, ", "), first.Name)
	}
}

// commonRelations are the names that both stores have in one schema, tables and indexes alike.
func commonRelations(first, second Store) []string {
	names := first.relations()
	var common []string
	for name := range second.relations() {
		if names[name] {
			common = append(common, keyspec.QuoteIdent(name))
		}
	}
	slices.Sort(common)
	return common
}

func (s Store) relations() map[string]bool {
	names := map[string]bool{}
	for _, t := range s.Tables() {
		names[t.Name] = true
		for _, index := range s.Indexes()[t.Concept] {
			names[index] = true
		}
	}
	return names
}

func (c *checker) alike(first, second Store) {
	differ := func(field, noun string, same bool) {
		if !same {
			c.report(field, "differs from the %s of store %s, which is on the same tables", noun, first.Name)
		}
	}
	differ("id", "id scheme", first.ID == second.ID)
	differ("lock_key", "lock key", first.LockKey == second.LockKey)
	differ("leading_columns", "leading columns", slices.EqualFunc(first.Leading, second.Leading, sameColumn))
	differ("timestamps_position", "timestamps position", first.TimestampsFirst == second.TimestampsFirst)
	differ("column_collations", "column collations", maps.Equal(first.Collations, second.Collations))
}

func sameColumn(a, b Column) bool {
	sameDefault := (a.Default == nil) == (b.Default == nil) && (a.Default == nil || *a.Default == *b.Default)
	return sameDefault && a.Name == b.Name && a.Type == b.Type && a.Collation == b.Collation && a.NotNull == b.NotNull
}

// sharedBySearchPath: an unprefixed store may lie in the very schema that a prefixed one names. They would be the same
// tables under two store strings, with two locks that exclude nothing.
func (c *checker) sharedBySearchPath(first, second Store) {
	bare, named := first, second
	if named.Schema == "" {
		bare, named = second, first
	}
	if bare.Schema != "" || named.Schema == "" || bare.DistinctSearchPath {
		return
	}
	for _, t := range bare.Tables() {
		for _, other := range named.Tables() {
			if t.Name == other.Name {
				c.report("prefix", "%s", bareAndNamed(bare, named, t))
				return
			}
		}
	}
}

func bareAndNamed(bare, named Store, t Table) string {
	return fmt.Sprintf("store %s without a prefix and store %s with prefix %q both have a table %q, which are one if the "+
		"search_path of the first leads there (want other names, one prefix, or distinct_search_path: true in store %s)",
		bare.Name, named.Name, named.Schema, t.Name, bare.Name)
}
