package config

import (
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/statigen/statigen/internal/model"
)

// Version is the config's own version, the only one there is.
const Version = "1"

func (d *decoder) config(root *yaml.Node, mod model.Module) []model.Store {
	var stores []model.Store
	version := ""
	if !d.mapping(root, "",
		key{"version", d.text(&version)},
		key{"stores", func(n *yaml.Node, path string) { stores = d.stores(n, path, mod) }}) {
		return nil
	}
	switch {
	case d.at["version"] == nil:
		d.report(root, "", "no version (want version: %s)", Version)
	case version != "" && version != Version:
		d.report(d.at["version"], "version", "unknown version %s (want %s)", strconv.Quote(version), Version)
	}
	if d.at["stores"] == nil {
		d.report(root, "", "no stores (want at least one)")
	}
	return stores
}

func (d *decoder) stores(n *yaml.Node, path string, mod model.Module) []model.Store {
	var stores []model.Store
	d.entries(n, path, func(name, value *yaml.Node, at string) {
		unread := len(d.unread)
		store, ok := d.named(name, value, at, mod)
		if problem := model.StoreName(name.Value); problem != "" {
			d.report(name, path, "%s", problem)
			return
		}
		if ok && len(d.unread) == unread { // what is not known cannot be held against another store
			stores = append(stores, store)
		}
	})
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		d.report(n, path, "no stores (want at least one)")
	}
	d.together(stores)
	return stores
}

// named reads one store. It answers whether enough is known of it to hold it against others.
func (d *decoder) named(name, value *yaml.Node, at string, mod model.Module) (model.Store, bool) {
	spec := model.Spec{Name: name.Value, Tables: map[string]string{}, Collations: map[string]string{}}
	if !d.store(value, at, &spec) {
		return model.Store{}, false // New would only miss what could not be read
	}
	store, problems := model.New(mod, spec)
	for _, p := range problems {
		if field := at + "." + p.Field; !d.skipped(field) {
			d.report(d.node(field), field, "%s", p.Text)
		}
	}
	return store, spec.Out != ""
}

func (d *decoder) store(n *yaml.Node, path string, spec *model.Spec) bool {
	return d.mapping(n, path,
		key{"package", d.text(&spec.Package)},
		key{"out", d.text(&spec.Out)},
		key{"prefix", d.text(&spec.Prefix)},
		key{"table_prefix", d.anyText(&spec.TablePrefix)},
		key{"table", func(n *yaml.Node, _ string) {
			d.remember(path+".tables.charts", n)
			d.table(spec, "charts")(n, path+".tables.charts")
		}},
		key{"tables", func(n *yaml.Node, path string) { d.tables(n, path, spec) }},
		key{"id", d.text(&spec.ID)},
		key{"leading_columns", func(n *yaml.Node, path string) { d.leading(n, path, spec) }},
		key{"timestamps_position", d.text(&spec.TimestampsPosition)},
		key{"column_collations", func(n *yaml.Node, path string) { d.collations(n, path, spec) }},
		key{"distinct_search_path", d.boolean(&spec.DistinctSearchPath)},
		key{"lock_key", d.text(&spec.LockKey)})
}

// table reads a table's whole name. "table: X" is short for tables.charts, so both are one too many.
func (d *decoder) table(spec *model.Spec, concept string) func(*yaml.Node, string) {
	return func(n *yaml.Node, path string) {
		name := ""
		d.text(&name)(n, path)
		if _, twice := spec.Tables[concept]; twice {
			d.report(n, path, "the charts table is named twice (table is short for tables.charts)")
		}
		if name != "" {
			spec.Tables[concept] = name
		}
	}
}

func (d *decoder) tables(n *yaml.Node, path string, spec *model.Spec) {
	var keys []key
	for _, concept := range model.Concepts() {
		keys = append(keys, key{concept, d.table(spec, concept)})
	}
	d.mapping(n, path, keys...)
}

func (d *decoder) collations(n *yaml.Node, path string, spec *model.Spec) {
	var keys []key
	for _, column := range model.CollatedColumns() {
		keys = append(keys, key{column, func(n *yaml.Node, path string) {
			name := ""
			d.text(&name)(n, path)
			spec.Collations[column] = name
		}})
	}
	d.mapping(n, path, keys...)
}

func (d *decoder) leading(n *yaml.Node, path string, spec *model.Spec) {
	if !d.kind(n, path, yaml.SequenceNode, "a list of columns") {
		return
	}
	for i, item := range n.Content {
		at := fmt.Sprintf("%s.%d", path, i)
		d.remember(at, item)
		var c model.ColumnSpec
		d.mapping(item, at,
			key{"name", d.text(&c.Name)},
			key{"type", d.text(&c.Type)},
			key{"collation", d.text(&c.Collation)},
			key{"not_null", d.boolean(&c.NotNull)},
			key{"default", d.anyText(&c.Default)})
		spec.Leading = append(spec.Leading, c)
	}
}

// together holds every pair of stores against each other. Of a pair whose first is another config's, this file's is the
// one that is reported: it is the one that can be placed.
func (d *decoder) together(stores []model.Store) {
	for i, second := range stores {
		for _, first := range slices.Concat(d.neighbours, stores[:i]) {
			for _, p := range model.Together(first, second) {
				field := "stores." + second.Name + "." + p.Field
				d.report(d.node(field), field, "%s", p.Text)
			}
		}
	}
}
