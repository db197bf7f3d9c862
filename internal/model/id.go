package model

// ID is a scheme for the id column of all four tables.
type ID string

// The id schemes, named as in the config.
const (
	UXID      ID = "uxid"      // text, made by the store: a prefix and 26 characters in ULID's layout
	UUID      ID = "uuid"      // uuid, made by the store: version 7
	Bigserial ID = "bigserial" // bigserial, made by the database
)

// IDs lists every scheme, the default first.
func IDs() []ID { return []ID{UXID, UUID, Bigserial} }

// FromClient says whether the store makes the id, so that an INSERT names the column.
func (i ID) FromClient() bool { return i != Bigserial }

// ColumnType is the type that the schema gives the id column. bigserial is a word of the parser's, not a type, and
// cannot be qualified; nothing in a search_path changes what it means.
func (i ID) ColumnType() string {
	if i == Bigserial {
		return "bigserial"
	}
	return i.ValueType()
}

// ValueType is the type of the column's values, as a cast writes it.
func (i ID) ValueType() string {
	switch i {
	case UUID:
		return "pg_catalog.uuid"
	case Bigserial:
		return "pg_catalog.int8"
	}
	return "pg_catalog.text"
}

// Zero is a literal that no row has for an id: what a query answers where there is no row.
func (i ID) Zero() string {
	switch i {
	case UUID:
		return "'00000000-0000-0000-0000-000000000000'"
	case Bigserial:
		return "0"
	}
	return "''"
}
