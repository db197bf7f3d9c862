package model

import "strconv"

// Column is a leading column: the host's own, right after id on all four tables.
type Column struct {
	Name      string
	Field     string // its field in the generated Leading struct
	Type      Type
	Collation string // as SQL writes it; "" is the database's
	NotNull   bool
	Default   *string // the literal's text, not quoted
	Position  int     // from 1
}

// Alias is the column's name in results and parameters, whatever characters the real one holds.
func (c Column) Alias() string { return "lead_" + strconv.Itoa(c.Position) }

// GoAlias is Alias as sqlc writes it in Go.
func (c Column) GoAlias() string { return "Lead" + strconv.Itoa(c.Position) }

// Optional says whether a host may leave the column out: it is nullable, or has a default.
func (c Column) Optional() bool { return !c.NotNull || c.Default != nil }

// Pointer says whether the field is a pointer, nil where the column is left out. Some Go types need none.
func (c Column) Pointer() bool { return c.Optional() && c.Type.Absent() == "" }

// Absent says how the field looks where the column is left out.
func (c Column) Absent() string {
	if c.Pointer() {
		return "nil"
	}
	return c.Type.Absent()
}

// RowPointer says whether a row read has the field's value where the field has a pointer to it: a column with a default
// that is never NULL.
func (c Column) RowPointer() bool { return c.Pointer() && c.NotNull }

// ToDB names the function of package db that makes a statement's parameter of the field's value; "" is none.
func (c Column) ToDB() string {
	if c.Type.Array && !c.Type.isTime() {
		return "ToArray"
	}
	return c.FromDB()
}

// FromDB names the function of package db that makes the field's value of what a row has; "" is none.
func (c Column) FromDB() string {
	switch {
	case !c.Type.isTime():
		return ""
	case c.Type.Array:
		return "UTCArray"
	case c.Pointer():
		return "UTCPointer"
	}
	return "UTC"
}
