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

// Type is a column type that statigen knows.
type Type string

// The column types, named as in the config.
const (
	TextType   Type = "text"
	UUIDType   Type = "uuid"
	BigintType Type = "bigint"
)

// Types lists every column type.
func Types() []Type { return []Type{TextType, UUIDType, BigintType} }

// SQL is the type as emitted SQL writes it: the server's own, whatever the search_path.
func (t Type) SQL() string {
	if t == BigintType {
		return "pg_catalog.int8"
	}
	return "pg_catalog." + string(t)
}
