package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/statigen/statigen/internal/model"
)

// leading emits the Leading struct and its check.
func leading(f *jen.File, s model.Store) {
	leadingStruct(f, s.Leading)
	if len(s.Leading) == 0 {
		// func (Leading) check() error { return nil }
		f.Func().Params(jen.Id("Leading")).Id("check").Params().Error().Block(jen.Return(jen.Nil()))
		return
	}
	leadingCheck(f, s.Leading)
}

// leadingStruct emits the columns as fields.
//
//	type Leading struct {
//		TenantID pgtype.UUID // "tenant_id"
//		Region   *string     // "region": nil takes the default "eu"
//	}
func leadingStruct(f *jen.File, columns []model.Column) {
	comment(f, "Leading holds the host's own columns, which stand first in every table. They are no part of the lock's key\n"+
		"nor of any unique index, and nothing that is read is filtered by them.")
	f.Type().Id("Leading").StructFunc(func(g *jen.Group) {
		for _, c := range columns {
			g.Id(c.Field).Add(goType(c)).Comment(columnComment(c))
		}
	})
}

func columnComment(c model.Column) string {
	text := jen.Lit(c.Name).GoString()
	switch {
	case c.Default != nil && c.Type == model.UUIDType:
		return text + ": not Valid takes the default " + jen.Lit(*c.Default).GoString()
	case c.Default != nil:
		return text + ": nil takes the default " + jen.Lit(*c.Default).GoString()
	}
	return text
}

// goType is a pointer, or a type with Valid, where the column may be left out.
func goType(c model.Column) *jen.Statement {
	t := jen.String()
	switch c.Type {
	case model.UUIDType:
		return jen.Qual(pgtype, "UUID")
	case model.BigintType:
		t = jen.Int64()
	}
	if c.Optional() {
		return jen.Op("*").Add(t)
	}
	return t
}

// leadingCheck emits the refusal of what the database would refuse.
//
//	func (l Leading) check() error {
//		if !l.TenantID.Valid {
//			return &InvalidError{"TenantID", "is not set"}
//		}
//		if err := checkChars("Region", l.Region); err != nil {
//			return err
//		}
//		return nil
//	}
func leadingCheck(f *jen.File, columns []model.Column) {
	f.Func().Params(jen.Id("l").Id("Leading")).Id("check").Params().Error().BlockFunc(func(g *jen.Group) {
		for _, c := range columns {
			columnCheck(g, c)
		}
		g.Return(jen.Nil())
	})
}

func columnCheck(g *jen.Group, c model.Column) {
	field := jen.Id("l").Dot(c.Field)
	chars := func(value *jen.Statement) *jen.Statement {
		return jen.If(jen.Id("err").Op(":=").Id("checkChars").Call(jen.Lit(c.Field), value), jen.Id("err").Op("!=").Nil()).
			Block(jen.Return(jen.Id("err")))
	}
	switch {
	case c.Type == model.UUIDType && !c.Optional():
		g.If(jen.Op("!").Add(field).Dot("Valid")).Block(
			jen.Return(jen.Op("&").Id("InvalidError").Values(jen.Lit(c.Field), jen.Lit("is not set"))))
	case c.Type == model.TextType && c.Optional():
		g.If(jen.Add(field).Op("!=").Nil()).Block(chars(jen.Op("*").Add(field)))
	case c.Type == model.TextType:
		g.Add(chars(field))
	}
}
