package store

import "fmt"

// What Verify finds, beside *RowSecurityError.

// AdvisoryLockError says that the server answers to an advisory lock and takes none, as CockroachDB does: a
// retirement would exclude nothing.
type AdvisoryLockError struct {
	Shared, Exclusive bool // which kind of lock was not taken
}

func (e *AdvisoryLockError) Error() string {
	switch {
	case !e.Exclusive:
		return "the server takes no shared advisory lock"
	case !e.Shared:
		return "the server takes no exclusive advisory lock"
	}
	return "the server takes no advisory locks"
}

// ReadOnlyError says that transactions write nothing: the server is a hot standby, or the server, the database, the
// role or the host's transaction says so.
type ReadOnlyError struct {
	Standby bool
}

func (e *ReadOnlyError) Error() string {
	if e.Standby {
		return "the server is a hot standby"
	}
	return "transactions are read-only (transaction_read_only is on)"
}

// SearchPathError says that the search_path, which a store without a schema leaves its tables to, finds another
// table or none.
type SearchPathError struct {
	Table      string // as in SQL
	SearchPath string // as the session has it
	Reason     string
}

func (e *SearchPathError) Error() string {
	return fmt.Sprintf("table %s %s (search_path: %s)", e.Table, e.Reason, e.SearchPath)
}

// SchemaError says that a table, a column or a unique index is not as schema.sql makes it.
type SchemaError struct {
	Table  string // as in SQL
	Column string // of an index all columns, separated by commas; empty for the table itself
	Reason string // what it lacks; "is missing" if it is not there
}

func (e *SchemaError) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("table %s %s", e.Table, e.Reason)
	}
	return fmt.Sprintf("column %s of table %s %s", e.Column, e.Table, e.Reason)
}

// PrivilegeError says that the role lacks a privilege that some verb needs. Whoever gave a role less on purpose may
// pass it over: the other verbs work.
type PrivilegeError struct {
	Object    string // as in GRANT: a table, SCHEMA … or SEQUENCE …
	Privilege string // SELECT, INSERT, UPDATE, DELETE or USAGE
}

func (e *PrivilegeError) Error() string {
	return fmt.Sprintf("the role has no %s on %s", e.Privilege, e.Object)
}

// StatementError says that the server refuses one of the store's statements for another reason than what the other
// problems name.
type StatementError struct {
	Name string // as it stands in internal/db
	Err  error  // the server's
}

func (e *StatementError) Error() string {
	return fmt.Sprintf("statement %s: %v", e.Name, e.Err)
}

func (e *StatementError) Unwrap() error { return e.Err }
