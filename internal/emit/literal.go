package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/statigen/statigen/internal/model"
)

// literal gathers the fields of a struct literal in the order in which they are set. jen.Dict would sort them
// by name, and nobody writes them so.
type literal struct{ fields []jen.Code }

func (l *literal) set(field string, value jen.Code) {
	l.fields = append(l.fields, jen.Id(field).Op(":").Add(value))
}

// copy sets fields that have the same name on both sides.
func (l *literal) copy(from string, fields ...string) {
	for _, field := range fields {
		l.set(field, jen.Id(from).Dot(field))
	}
}

func (l *literal) leadingParams(s model.Store, from string) {
	for _, c := range s.Leading {
		l.set(c.GoAlias(), converted(s, c.ToDB(), jen.Id(from).Dot(c.Field)))
	}
}

// converted is the value, or what a function of package db makes of it.
func converted(s model.Store, function string, value *jen.Statement) *jen.Statement {
	if function == "" {
		return value
	}
	return jen.Qual(s.DBImport(), function).Call(value)
}

// leadingRow sets the leading columns and the id.
func (l *literal) leadingRow(s model.Store) {
	var columns literal
	for _, c := range s.Leading {
		value := jen.Id("row").Dot(c.GoAlias())
		if c.RowPointer() {
			value = jen.Op("&").Add(value)
		}
		columns.set(c.Field, converted(s, c.FromDB(), value))
	}
	if len(columns.fields) > 0 {
		l.set("Leading", jen.Id("Leading").Values(columns.fields...))
	}
	l.set("RowID", jen.Id("row").Dot("ID"))
}

func (l *literal) of(t *jen.Statement) *jen.Statement {
	return t.Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, l.fields...)
}

// comment emits a comment of several lines, one slash pair each: jennifer would make a block of it.
func comment(f *jen.File, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		f.Comment(line)
	}
}
