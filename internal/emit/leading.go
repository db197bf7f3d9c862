package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/statigen/statigen/internal/model"
)

// leading emits the Leading struct, its check, and the columns as Verify wants them.
func leading(f *jen.File, s model.Store) {
	leadingStruct(f, s.Leading)
	leadingCheck(f, s.Leading)
	leadingColumns(f, s.Leading)
}

// leadingStruct emits the columns as fields.
//
//	type Leading struct {
//		TenantID pgtype.UUID // "tenant_id" uuid
//		Region   *string     // "region" text: nil takes the default "eu"
//	}
func leadingStruct(f *jen.File, columns []model.Column) {
	comment(f, "Leading holds the host's own columns, which stand first in every table. They are no part of the lock's key\n"+
		"nor of any unique index, and nothing that is read is filtered by them.")
	f.Type().Id("Leading").StructFunc(func(g *jen.Group) {
		for _, c := range columns {
			g.Id(c.Field).Add(fieldType(c)).Comment(columnComment(c))
		}
	})
}

func columnComment(c model.Column) string {
	text := jen.Lit(c.Name).GoString() + " " + c.Type.String()
	switch {
	case c.Default != nil:
		return text + ": " + c.Absent() + " takes the default " + jen.Lit(*c.Default).GoString()
	case c.Optional():
		return text + ": " + c.Absent() + " is NULL"
	}
	return text
}

func fieldType(c model.Column) *jen.Statement {
	t := goType(c.Type.Element())
	switch {
	case c.Type.Array:
		return jen.Qual(pgtype, "Array").Types(t)
	case c.Pointer():
		return jen.Op("*").Add(t)
	}
	return t
}

func goType(t model.GoType) *jen.Statement {
	if t.Import == "" {
		return jen.Id(t.Name)
	}
	return jen.Qual(t.Import, t.Name)
}

// leadingCheck emits the refusal of what the database would refuse.
//
//	func (l Leading) check() error {
//		return checkColumns(
//			column{field: "TenantID", value: l.TenantID, required: true},
//			column{field: "Region", value: l.Region, length: 10},
//		)
//	}
func leadingCheck(f *jen.File, columns []model.Column) {
	receiver := jen.Id("l").Id("Leading")
	if len(columns) == 0 {
		receiver = jen.Id("Leading")
	}
	f.Func().Params(receiver).Id("check").Params().Error().Block(jen.Return(
		jen.Id("checkColumns").CustomFunc(jen.Options{Open: "(", Close: ")", Separator: ",", Multi: len(columns) > 0}, func(g *jen.Group) {
			for _, c := range columns {
				g.Id("column").Values(columnFields(c)...)
			}
		})))
}

func columnFields(c model.Column) []jen.Code {
	var v literal
	v.set("field", jen.Lit(c.Field))
	v.set("value", jen.Id("l").Dot(c.Field))
	if !c.Optional() {
		v.set("required", jen.True())
	}
	if c.Type.Length > 0 {
		v.set("length", jen.Lit(c.Type.Length))
	}
	return v.fields
}

// leadingColumns emits what the tables must have.
//
//	func leadingColumns() []wantedColumn {
//		return []wantedColumn{
//			{name: "tenant_id", typ: "pg_catalog.uuid"},
//			{name: "region", typ: "pg_catalog.text", nullable: true},
//		}
//	}
func leadingColumns(f *jen.File, columns []model.Column) {
	var body []jen.Code
	for _, c := range columns {
		body = append(body, jen.Values(wantedFields(c)...))
	}
	value := jen.Nil()
	if len(body) > 0 {
		value = jen.Index().Id("wantedColumn").Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, body...)
	}
	f.Comment("leadingColumns are the columns as Verify wants them in each table.")
	f.Func().Id("leadingColumns").Params().Index().Id("wantedColumn").Block(jen.Return(value))
}

func wantedFields(c model.Column) []jen.Code {
	var v literal
	v.set("name", jen.Lit(c.Name))
	v.set("typ", jen.Lit(c.Type.ValueSQL()))
	if !c.NotNull && c.Default == nil {
		v.set("nullable", jen.True())
	}
	return v.fields
}
