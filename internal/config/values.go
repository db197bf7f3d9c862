package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/statigen/statigen/internal/model"
)

// value is what may stand behind a key: the decoder's side of it, and the side of those who only look.
type value struct {
	read    func(n *yaml.Node, path string)
	kind    string // string, boolean, mapping or list
	accepts string // in words
	schema  schema // what JSON Schema can say of it; it takes all that read takes
	below   string // what comes between this key's path and those of keys
	keys    []key  // of the mapping that it is, or of each that it holds
}

// text is a string. Nothing that may be absent may be empty: an empty value is somebody's mistake, and taking it for the
// default would choose other tables.
func (d *decoder) text(into *string, accepts string, rules schema) value {
	read := func(n *yaml.Node, path string) {
		text, ok := d.scalar(n, path)
		if ok && text == "" {
			d.report(n, path, "an empty string (leave the key out for the default)")
		}
		if text == "" {
			d.skip(path)
		}
		*into = text
	}
	return value{read: read, kind: "string", accepts: accepts, schema: nonEmpty(rules)}
}

// anyText is text where the empty string is a value too.
func (d *decoder) anyText(into **string, accepts string, rules schema) value {
	read := func(n *yaml.Node, path string) {
		text, ok := d.scalar(n, path)
		if !ok {
			d.skip(path)
			return
		}
		*into = &text
	}
	return value{read: read, kind: "string", accepts: accepts, schema: letters(rules)}
}

// oneOf is text that is one of a few words. The model says which is none of them.
func (d *decoder) oneOf(into *string, all []string) value {
	v := d.text(into, "`"+strings.Join(all, "`, `")+"`", nil)
	v.schema = schema{"enum": all}
	return v
}

func words[T ~string](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}

func (d *decoder) version(into *string) value {
	v := d.text(into, "`"+Version+"`", nil)
	v.schema = schema{"enum": []any{1, Version}}
	return v
}

func (d *decoder) boolean(into *bool) value {
	read := func(n *yaml.Node, path string) {
		text, ok := d.scalar(n, path)
		switch {
		case !ok:
		case text == "true" || text == "false":
			*into = text == "true"
		default:
			d.report(n, path, "%s", model.Unknown("value", text, "true or false", "true", "false"))
		}
	}
	return value{read: read, kind: "boolean", accepts: "`true`, `false`", schema: schema{"enum": []any{true, false, "true", "false"}}}
}

func (d *decoder) mappingOf(keys []key) value {
	read := func(n *yaml.Node, path string) { d.mapping(n, path, keys) }
	return value{read: read, kind: "mapping", accepts: "the keys below", schema: object(keys), keys: keys}
}

// table is a table's whole name.
func (d *decoder) table(spec *model.Spec, concept string) value {
	var text string
	v := d.text(&text, fmt.Sprintf("a name that does not begin with `%s` or, in a store without a prefix, with `pg_`", model.CTEPrefix), name("^"+model.CTEPrefix))
	read := v.read
	v.read = func(n *yaml.Node, path string) {
		read(n, path)
		if _, twice := spec.Tables[concept]; twice {
			d.report(n, path, "the charts table is named twice (table is short for tables.charts)")
		}
		if text != "" {
			spec.Tables[concept] = text
		}
	}
	return v
}

// chartsTable is short for tables.charts, so both are one too many.
func (d *decoder) chartsTable(spec *model.Spec) value {
	v := d.table(spec, "charts")
	read := v.read
	v.read = func(n *yaml.Node, path string) {
		path = strings.TrimSuffix(path, "table") + "tables.charts"
		d.remember(path, n)
		read(n, path)
	}
	return v
}

func (d *decoder) collation(spec *model.Spec, column string) value {
	var text string
	v := d.text(&text, wantCollation, collationName())
	read := v.read
	v.read = func(n *yaml.Node, path string) {
		read(n, path)
		spec.Collations[column] = text
	}
	return v
}

func (d *decoder) columns(into *[]model.ColumnSpec) value {
	keys := d.columnKeys(&model.ColumnSpec{})
	return value{
		read: func(n *yaml.Node, path string) { *into = d.readColumns(n, path) },
		kind: "list", accepts: fmt.Sprintf("at most %d columns, each a mapping of the keys below", model.MaxLeading()),
		schema: schema{"type": "array", "maxItems": model.MaxLeading(), "items": object(keys)}, below: "[]", keys: keys,
	}
}

func (d *decoder) stores(into *[]model.Store, mod model.Module) value {
	keys := d.storeKeys(&model.Spec{})
	return value{
		read: func(n *yaml.Node, path string) { *into = d.readStores(n, path, mod) },
		kind: "mapping", accepts: fmt.Sprintf("at least one; a name holds letters, digits, - and _, at most %d bytes", model.MaxName),
		schema: schema{"type": "object", "minProperties": 1, "propertyNames": storeName(), "additionalProperties": object(keys)},
		below:  ".<store>", keys: keys,
	}
}
