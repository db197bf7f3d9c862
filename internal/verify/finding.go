package verify

import (
	"github.com/statigen/statigen/internal/ddl"
)

// Kind says what a finding is about.
type Kind string

// The kinds.
const (
	AdvisoryLocks Kind = "advisory_locks" // they do nothing
	ReadOnly      Kind = "read_only"      // nothing can be written
	SearchPath    Kind = "search_path"    // another table is found, or may be
	SharedKey     Kind = "shared_key"     // another store takes the same key
	TwoKeys       Kind = "two_keys"       // two stores take different keys for the same tables
	Version       Kind = "version"        // all is as it was at an older version
	Table         Kind = "table"
	Column        Kind = "column"
	PrimaryKey    Kind = "primary_key"
	Index         Kind = "index"
	Privilege     Kind = "privilege"
	RowSecurity   Kind = "row_security"
	Statement     Kind = "statement" // the server does not prepare it
)

// Finding is one thing that is not as the config has it.
type Finding struct {
	Kind   Kind
	Store  string // "" for what all stores have in common
	Object string // as SQL writes it: a table, a sequence or a schema, or a statement's name; "" for the server
	Text   string // what is the matter, and what is wanted
	Note   bool   // worth to know, and no difference
	Risk   string // why the SQL is not to be run unread; "" is no risk
	SQL    []ddl.Statement
}
