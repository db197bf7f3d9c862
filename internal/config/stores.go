package config

import (
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/statigen/statigen/internal/model"
)

func (d *decoder) config(root *yaml.Node, mod model.Module) []model.Store {
	var stores []model.Store
	version := ""
	if !d.mapping(root, "", d.configKeys(&version, &stores, mod)) {
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

func (d *decoder) readStores(n *yaml.Node, path string, mod model.Module) []model.Store {
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
	if !d.mapping(value, at, d.storeKeys(&spec)) {
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

func (d *decoder) readColumns(n *yaml.Node, path string) []model.ColumnSpec {
	if !d.kind(n, path, yaml.SequenceNode, "a list of columns") {
		return nil
	}
	columns := make([]model.ColumnSpec, len(n.Content))
	for i, item := range n.Content {
		at := fmt.Sprintf("%s.%d", path, i)
		d.remember(at, item)
		d.mapping(item, at, d.columnKeys(&columns[i]))
	}
	return columns
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
