package model

import (
	"regexp"
	"strconv"
	"strings"
)

// Type is the type of a leading column.
type Type struct {
	Base   Base
	Length int  // of varchar(n)
	Array  bool // of one dimension
}

// Base is a column type without length and brackets, named as in the config.
type Base string

// The column types.
const (
	TextType        Base = "text"
	VarcharType     Base = "varchar"
	UUIDType        Base = "uuid"
	SmallintType    Base = "smallint"
	IntegerType     Base = "integer"
	BigintType      Base = "bigint"
	BooleanType     Base = "boolean"
	NumericType     Base = "numeric"
	DateType        Base = "date"
	TimestampType   Base = "timestamp"
	TimestamptzType Base = "timestamptz"
	JSONBType       Base = "jsonb"
	ByteaType       Base = "bytea"
)

// GoType is a type of Go: its package's import path, "" for Go's own, and its name there.
type GoType struct{ Import, Name string }

// base is what statigen knows of a Base.
type base struct {
	server string // its name in pg_catalog
	goType GoType
	absent string // how a value looks that is none; "" where every value is one
}

const pgtype = "github.com/jackc/pgx/v5/pgtype"

func bases() map[Base]base {
	return map[Base]base{
		TextType:        {"text", GoType{"", "string"}, ""},
		VarcharType:     {"varchar", GoType{"", "string"}, ""},
		UUIDType:        {"uuid", GoType{pgtype, "UUID"}, "not Valid"},
		SmallintType:    {"int2", GoType{"", "int16"}, ""},
		IntegerType:     {"int4", GoType{"", "int32"}, ""},
		BigintType:      {"int8", GoType{"", "int64"}, ""},
		BooleanType:     {"bool", GoType{"", "bool"}, ""},
		NumericType:     {"numeric", GoType{pgtype, "Numeric"}, "not Valid"},
		DateType:        {"date", GoType{pgtype, "Date"}, "not Valid"},
		TimestampType:   {"timestamp", GoType{"time", "Time"}, ""},
		TimestamptzType: {"timestamptz", GoType{"time", "Time"}, ""},
		JSONBType:       {"jsonb", GoType{"encoding/json", "RawMessage"}, "nil"},
		ByteaType:       {"bytea", GoType{"", "[]byte"}, "nil"},
	}
}

// TypeWords are the types as a config writes them, without brackets.
func TypeWords() []string {
	return []string{
		"text", "varchar(n)", "uuid", "smallint", "integer", "bigint", "boolean", "numeric", "date", "timestamp", "timestamptz", "jsonb", "bytea",
	}
}

// WantType says what the type of a column may be.
func WantType() string { return list(TypeWords()) + ", and [] behind it for an array" }

func unknownType(text string) string {
	words := TypeWords()
	for _, w := range TypeWords() {
		words = append(words, w+"[]")
	}
	return Unknown("column type", text, WantType(), words...)
}

// maxLength is the greatest n of varchar(n).
const maxLength = 10485760

// columnType parses a type as the config writes it. Nothing of the text itself gets into SQL.
func (c *checker) columnType(field, text string) Type {
	parts := regexp.MustCompile(`^([a-z]+)(\(([0-9]+)\))?(\[\])?$`).FindStringSubmatch(text)
	if parts == nil {
		parts = make([]string, 5)
	}
	t := Type{Base: Base(parts[1]), Array: parts[4] != ""}
	if _, known := bases()[t.Base]; !known || (t.Base == VarcharType) != (parts[2] != "") {
		c.report(field, "%s", unknownType(text))
		return Type{}
	}
	if t.Base == VarcharType {
		n, err := strconv.Atoi(parts[3])
		if err != nil || n < 1 || n > maxLength || parts[3][0] == '0' {
			c.report(field, "unknown length in %s (want a number from 1 to %d)", strconv.Quote(text), maxLength)
		}
		t.Length = n
	}
	return t
}

// String is the type as the config writes it.
func (t Type) String() string {
	text := string(t.Base)
	if t.Length > 0 {
		text += "(" + strconv.Itoa(t.Length) + ")"
	}
	if t.Array {
		text += "[]"
	}
	return text
}

// ValueSQL is the type of values, the server's own whatever the search_path. An array goes by the name of its type and not
// by brackets, for sqlc's Go of text[] is a slice, which knows neither dimensions nor NULL. A varchar has no length here:
// a cast to varchar(n) cuts what is longer without a word, and storing it does not.
func (t Type) ValueSQL() string {
	name := bases()[t.Base].server
	if t.Array {
		name = "_" + name
	}
	return "pg_catalog." + name
}

// ColumnSQL is the type as the column's definition writes it.
func (t Type) ColumnSQL() string {
	if t.Length == 0 {
		return t.ValueSQL()
	}
	return t.ValueSQL() + "(" + strconv.Itoa(t.Length) + ")"
}

// Element is the Go type of a value or, in an array, of its elements.
func (t Type) Element() GoType { return bases()[t.Base].goType }

// Absent says how a Go value looks that is none; "" where every value is one.
func (t Type) Absent() string {
	if t.Array {
		return "not Valid"
	}
	return bases()[t.Base].absent
}

func (t Type) hasCollation() bool { return t.Base == TextType || t.Base == VarcharType }

func (t Type) isTime() bool { return strings.HasPrefix(string(t.Base), "timestamp") }
