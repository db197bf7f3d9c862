package model

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxName is how many bytes of a name Postgres keeps; it cuts a longer one with no more than a notice.
const MaxName = 63

// name checks a name that the database will hold.
func (c *checker) name(field, name string) bool {
	switch {
	case name == "":
		c.report(field, "an empty name")
	case !utf8.ValidString(name):
		c.report(field, "the name %.100q is not UTF-8", name)
	case strings.ContainsFunc(name, Unprintable):
		c.report(field, "the name %.100q holds a control, format or separator character", name)
	case len(name) > MaxName:
		c.report(field, "the name %.100q has %d bytes (want at most %d)", name, len(name), MaxName)
	default:
		return true
	}
	return false
}

// StoreName says what is wrong with the name of a store; "" is nothing. It stands in comments, in messages and in paths of
// keys, and is no name of the database's.
func StoreName(name string) string {
	other := func(r rune) bool { return r != '-' && r != '_' && notInIdentifier(r) && !unicode.IsMark(r) }
	if name == "" || len(name) > MaxName || strings.ContainsFunc(name, other) {
		return fmt.Sprintf("%.100q is no name of a store (want letters, digits, - and _, at most %d bytes)", name, MaxName)
	}
	return ""
}

// prefix refuses the schemas that are the server's own.
func (c *checker) prefix(name string) {
	switch {
	case name == "" || !c.name("prefix", name):
	case strings.HasPrefix(name, "pg_"):
		c.report("prefix", "the schema %q begins with \"pg_\", which Postgres keeps for itself (want another name)", name)
	case name == "information_schema":
		c.report("prefix", "the schema %q is the server's own (want another name)", name)
	}
}

// Unprintable says whether a character shows as nothing, or changes how others show: a control, a bidi override, a line break.
func Unprintable(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Shown is text as a terminal may have it: each character that is unprintable is an escape.
func Shown(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		if Unprintable(r) {
			b.WriteString(strings.Trim(strconv.QuoteToASCII(string(r)), `"`))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isWord(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}

// fieldName makes an exported Go name of a column's: words begin with a capital, "id" is "ID", and
// what no Go name can hold separates words. A name that would not be exported gets Col in front.
func fieldName(column string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(column, notInIdentifier) {
		r, size := utf8.DecodeRuneInString(word)
		if strings.EqualFold(word, "id") {
			b.WriteString("ID")
		} else {
			b.WriteString(string(unicode.ToUpper(r)) + word[size:])
		}
	}
	if r, _ := utf8.DecodeRuneInString(b.String()); !unicode.IsUpper(r) {
		return "Col" + b.String()
	}
	return b.String()
}

func notInIdentifier(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// systemColumns exist on every table, so the server refuses to create another of the name.
func systemColumns() []string {
	return []string{"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"}
}

// recordFields are the other fields of the structs that embed Leading, each with what it is: a leading field of the same
// name would be hidden behind them.
func recordFields() map[string]string {
	fields := map[string]string{"Leading": "a field of the generated records", "RowID": "a field of the generated records"}
	for _, columns := range OwnColumns() {
		for _, column := range columns {
			fields[fieldName(column)] = fmt.Sprintf("the schema's own column %q", column)
		}
	}
	return fields
}

func (c *checker) leading(specs []ColumnSpec) []Column {
	sqlNames, goNames := map[string]string{}, recordFields()
	for _, columns := range OwnColumns() {
		for _, n := range columns {
			sqlNames[n] = "the schema's own column"
		}
	}
	for _, n := range systemColumns() {
		sqlNames[n] = "a system column of Postgres"
	}
	if len(specs) > MaxLeading() {
		c.report("leading_columns", "%d columns (want at most %d: a table of Postgres holds %d, and the store's have up to %d of their own)",
			len(specs), MaxLeading(), maxColumns, maxColumns-MaxLeading())
	}
	var out []Column
	for i, spec := range specs {
		at := fmt.Sprintf("leading_columns.%d", i)
		column := c.column(at, i+1, spec)
		if spec.Name != "" && c.unique(at+".name", "name", column.Name, spec.Name, sqlNames) {
			c.unique(at+".name", "Go field", column.Field, spec.Name, goNames)
		}
		out = append(out, column)
	}
	return out
}

func (c *checker) unique(field, noun, name, column string, taken map[string]string) bool {
	if owner, ok := taken[name]; ok {
		c.report(field, "the %s %q of column %q is also that of %s (want another name)", noun, name, column, owner)
		return false
	}
	taken[name] = fmt.Sprintf("column %q", column)
	return true
}

func (c *checker) column(at string, position int, spec ColumnSpec) Column {
	if spec.Name == "" {
		c.report(at+".name", "no name (want the column's, such as tenant_id)")
	} else {
		c.name(at+".name", spec.Name)
	}
	column := Column{
		Name: spec.Name, Field: fieldName(spec.Name), Position: position,
		NotNull: spec.NotNull, Default: spec.Default,
	}
	if spec.Type == "" {
		c.report(at+".type", "no type (want %s)", WantType())
		return column
	}
	column.Type = c.columnType(at+".type", spec.Type)
	if column.Type == (Type{}) {
		return column
	}
	if spec.Collation != "" && !column.Type.hasCollation() {
		c.report(at+".collation", "a %s column has no collation (leave the key out; text, varchar(n) and arrays of them have one)", column.Type)
		return column
	}
	column.Collation = c.collation(at+".collation", spec.Collation)
	c.checkDefault(at+".default", column.Type, spec.Default)
	return column
}
