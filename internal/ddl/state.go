// Package ddl says what a store's tables are at each version of the reference's migrations, and which statements make one
// state of them into another. Nothing here asks a database or writes a file.
package ddl

import (
	"slices"

	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/model"
)

// State is what a store's tables are.
type State struct {
	Version Version `json:"version"`
	Schema  string  `json:"schema"` // "" leaves it to the search_path
	Tables  []Table `json:"tables"`
}

// Table is one of the tables. Of its indexes those are named that the store is made with, or that took their place.
type Table struct {
	Concept string   `json:"concept"`
	Name    string   `json:"name"`
	Columns []Column `json:"columns"`
	Indexes []Index  `json:"indexes"`
}

// Column is a column of a table. Types, collations and defaults are as SQL writes them, all qualified.
type Column struct {
	Name       string `json:"name"`
	Type       string `json:"type"`
	Collation  string `json:"collation,omitempty"` // "" is the database's
	NotNull    bool   `json:"not_null,omitempty"`
	Default    string `json:"default,omitempty"`
	PrimaryKey bool   `json:"primary_key,omitempty"`
}

// Index is an index of a table.
type Index struct {
	Name      string `json:"name"`
	Unique    bool   `json:"unique,omitempty"`
	Method    string `json:"method"`
	Keys      []Key  `json:"keys"`
	Predicate string `json:"predicate,omitempty"`
	Invalid   bool   `json:"invalid,omitempty"` // what a build that failed left
}

// Key is a column of an index.
type Key struct {
	Column    string `json:"column"`
	Collation string `json:"collation,omitempty"` // "" is the column's
	Class     string `json:"class,omitempty"`     // "" is the type's default operator class
}

// Bigserial is the type of an id that the server counts: an int8, and a sequence of its own.
const Bigserial = "bigserial"

// Types as the catalogs and our SQL know them.
const (
	textType      = "pg_catalog.text"
	byteaType     = "pg_catalog.bytea"
	timestampType = "pg_catalog.timestamp"
)

// Live is the predicate of the index on the executions that pin their chart, as schema.sql has it.
const Live = `"status" OPERATOR(pg_catalog.=) ANY ('{active,needs_migration}'::pg_catalog.text[])`

// At is what the store's tables are at a version, whatever the version at which they were made.
func At(s model.Store, v Version) State {
	state := State{Version: v, Schema: s.Schema, Tables: []Table{}}
	if v >= 1 {
		state.Tables = append(state.Tables, charts(s, v), positions(s, v), executions(s, v))
	}
	if v >= 5 {
		state.Tables = append(state.Tables, inputs(s))
	}
	return state
}

// Table is the table of a concept, and whether it is there.
func (s State) Table(concept string) (Table, bool) {
	i := slices.IndexFunc(s.Tables, func(t Table) bool { return t.Concept == concept })
	if i < 0 {
		return Table{}, false
	}
	return s.Tables[i], true
}

// Column is the column of a name, and whether it is there.
func (t Table) Column(name string) (Column, bool) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return Column{}, false
	}
	return t.Columns[i], true
}

// relation is the table's name as SQL writes it.
func (s State) relation(t Table) string { return keyspec.Relation(s.Schema, t.Name) }
