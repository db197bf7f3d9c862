// Package model turns a host's spec into finished names and values. Names are decided here, once, and
// so are collisions between them; what renders SQL or emits Go reads a Store and decides nothing.
package model

import (
	"path"
	"strings"

	"github.com/statigen/statigen/internal/keyspec"
)

// Store is one set of tables and the Go package generated for it.
type Store struct {
	Name    string // its key in the config
	Package string // Go package name
	Out     string // the package's folder below the module's root, slash-separated
	Import  string // the package's import path

	Schema     string // Postgres schema; "" leaves it to the search_path
	Charts     Table
	Positions  Table
	Executions Table
	Inputs     Table
	FormerRuns string // the executions table before version 0.12 of the reference; "" if the host named the table itself

	ID      ID
	Leading []Column
	LockKey keyspec.LockKey

	TimestampsFirst bool              // inserted_at and updated_at stand right after the leading columns
	Collations      map[string]string // of the schema's own columns, as SQL writes them
	// DistinctSearchPath is the host's word that this store, which has no schema, lies in another one than any store that
	// has the same table names and a schema.
	DistinctSearchPath bool
}

// TimestampsPositions lists where inserted_at and updated_at may stand, the default first.
func TimestampsPositions() []string { return []string{"trailing", "leading"} }

// LockKeys lists what a lock key may be made from, the default first.
func LockKeys() []keyspec.LockKey { return keyspec.LockKeys() }

// StoreString is the text that the chart lock's key is made from.
func (s Store) StoreString() string { return keyspec.StoreString(s.Schema, s.Charts.Name) }

// DBImport is the import path of sqlc's package, out of a host's reach under the store's internal/.
func (s Store) DBImport() string { return path.Join(s.Import, "internal/db") }

// Relation is a table's name as emitted SQL writes it.
func (s Store) Relation(t Table) string { return keyspec.Relation(s.Schema, t.Name) }

// Tables lists the store's tables in the order in which the schema creates them.
func (s Store) Tables() []Table {
	return []Table{s.Charts, s.Positions, s.Executions, s.Inputs}
}

// Table is one of a store's four tables.
type Table struct {
	Concept string // charts, positions, executions or inputs: its key in the config
	Name    string // in the database
}

// PrimaryKey is the name that the server gives the primary key's constraint and index.
func (t Table) PrimaryKey() string { return t.Name + "_pkey" }

// Index is the name of an index that the reference spells from the raw table name.
func (t Table) Index(suffix string) string { return t.Name + "_" + suffix + "_index" }

// DerivedIndex is the name of an index that the reference leaves to Ecto, which writes an underscore for every
// character of the table's name that is no ASCII letter, digit or underscore, and then drops those at the end.
func (t Table) DerivedIndex(suffix string) string {
	word := func(r rune) rune {
		if isWord(r) {
			return r
		}
		return '_'
	}
	return strings.TrimRight(strings.Map(word, t.Name), "_") + "_" + suffix + "_index"
}

// Indexes lists the names of the store's indexes, table by table.
func (s Store) Indexes() map[string][]string {
	return map[string][]string{
		"charts":    {s.Charts.PrimaryKey(), s.Charts.DerivedIndex("content_hash")},
		"positions": {s.Positions.PrimaryKey(), s.Positions.DerivedIndex("session_id"), s.Positions.Index("content_hash")},
		"executions": {
			s.Executions.PrimaryKey(), s.Executions.DerivedIndex("execution_id"), s.Executions.Index("metadata_gin"),
			s.Executions.Index("content_hash"), s.Executions.Index("ended_at"), s.Executions.Index("live_content_hash"),
		},
		"inputs": {s.Inputs.PrimaryKey(), s.Inputs.DerivedIndex("execution_id_seq")},
	}
}
