package config

import (
	"fmt"

	"github.com/statigen/statigen/internal/model"
)

// Version is the config's own version, the only one there is.
const Version = "1"

// key is one key of a mapping, and all that is said of it anywhere: what reads its value, what an editor may know of that
// value, and what the reference and a new host's config say. Each of these is made from this file's lists.
type key struct {
	name    string
	about   string // sentences
	absent  string // what holds where the key is not written; "" if it has to be
	example string // a value, as a config writes it; "" if it is a mapping's that has no short form
	value   value
}

func (d *decoder) configKeys(version *string, stores *[]model.Store, mod model.Module) []key {
	return []key{
		{"version", "The version of the config's own format.", "", Version, d.version(version)},
		{
			"stores", "The stores by their names, which stand in comments, messages and manifests, and in no database.", "", "",
			d.stores(stores, mod),
		},
	}
}

func (d *decoder) storeKeys(spec *model.Spec) []key {
	return []key{
		{
			"package", "The Go package's name.", "the last element of `out`", "loanstore",
			d.text(&spec.Package, "a Go identifier, but `_`, `main` and what ends in `_test`", identifier()),
		},
		{
			"out", "The package's folder, relative to the config. It is statigen's alone.", "", "loanstore",
			d.text(&spec.Out, wantOut, relativePath()),
		},
		{
			"prefix", "The Postgres schema, exactly as the Elixir host has it, for the lock's key is made from it.",
			"none, and `search_path` decides", "loans",
			d.text(&spec.Prefix, "a name, but `information_schema` and what begins with `pg_`", name("^(pg_|information_schema$)")),
		},
		{
			"table_prefix", "What the names of those tables begin with that `tables` does not name.",
			"`" + model.DefaultTablePrefix + "`", model.DefaultTablePrefix,
			// No rule: where all four tables have names of their own it is not used, and may be anything.
			d.anyText(&spec.TablePrefix, fmt.Sprintf("any string, if each table's and index's name has at most %d bytes", model.MaxName), nil),
		},
		{
			"table", "Short for `charts` in `tables`, and not beside it.", "as `tables` says", "loan_charts",
			d.chartsTable(spec),
		},
		{
			"tables", "Whole names of tables, to which `table_prefix` is not applied.", "all by `table_prefix`", "{charts: loan_charts}",
			d.mappingOf(d.tableKeys(spec)),
		},
		{
			"id", "The id column of all four tables: text or a uuid (version 7), which the store makes, or the database's bigserial.",
			"`uxid`", "uxid",
			d.oneOf(&spec.ID, words(model.IDs())),
		},
		{
			"leading_columns", "Columns of the host's own: after the id, in this order, on all four tables.",
			"none", "[{name: tenant_id, type: uuid}]",
			d.columns(&spec.Leading),
		},
		{
			"timestamps_position", "Where the tables have `inserted_at` and `updated_at`: `leading` is right after the leading columns.",
			"`trailing`", "trailing",
			d.oneOf(&spec.TimestampsPosition, model.TimestampsPositions()),
		},
		{
			"column_collations", "Collations of the tables' own columns. They must be deterministic.", "the database's", "{execution_id: C}",
			d.mappingOf(d.collationKeys(spec)),
		},
		{
			"distinct_search_path", "The host's word that this store, which has no prefix, lies in another schema than those that have one.",
			"`false`", "true",
			d.boolean(&spec.DistinctSearchPath),
		},
		{
			"lock_key", "What the chart lock's key is made from: store string and content hash, the hash alone, as 0.23 of the Elixir " +
				"library has it, or both keys, for a rolling upgrade.",
			"`store`", "store",
			d.oneOf(&spec.LockKey, words(model.LockKeys())),
		},
	}
}

const wantOut = "a path with forward slashes to a folder below the module's root, through no symbolic link, no other module and no folder " +
	"named `vendor`, `testdata`, `.…` or `_…`; no store's folder lies in another's"

func (d *decoder) tableKeys(spec *model.Spec) []key {
	var keys []key
	for _, concept := range model.Concepts() {
		keys = append(keys, key{
			concept, "The whole name of the " + concept + " table.", "`table_prefix` and `" + concept + "`", "loan_" + concept,
			d.table(spec, concept),
		})
	}
	return keys
}

func (d *decoder) collationKeys(spec *model.Spec) []key {
	var keys []key
	for _, column := range model.CollatedColumns() {
		keys = append(keys, key{
			column, "The collation of `" + column + "`, in each table that has it.", "the database's", "C",
			d.collation(spec, column),
		})
	}
	return keys
}

const wantCollation = "a name, which is one of `pg_catalog`'s, or schema.name"

func (d *decoder) columnKeys(c *model.ColumnSpec) []key {
	return []key{
		{
			"name", "The column's name.", "", "tenant_id",
			d.text(&c.Name, "a name that is no other column's, nor becomes another column's Go field", name("")),
		},
		{
			"type", "The column's type. Infinity in a timestamp, and NULL in an array whose elements have none in Go, are errors when read.",
			"", "uuid",
			d.text(&c.Type, model.WantType()+" of one dimension", columnType()),
		},
		{
			"collation", "The collation of a `text` or `varchar(n)`, or of an array of these.", "the database's", "C",
			d.text(&c.Collation, wantCollation, collationName()),
		},
		{
			"not_null", "Whether the column refuses NULL. Without a default it then keeps the Elixir library from writing.",
			"`false`", "true",
			d.boolean(&c.NotNull),
		},
		{
			"default", "The column's default.", "none", "eu",
			d.anyText(&c.Default, wantDefault(), schema{"maxLength": model.MaxDefault}),
		},
	}
}

func wantDefault() string {
	return fmt.Sprintf("a literal of the type, at most %d bytes: for timestamp YYYY-MM-DD HH:MM:SS in UTC, for timestamptz the same "+
		"and a Z, for bytea `\\x` and hexadecimal digits, for an array `{}`", model.MaxDefault)
}
