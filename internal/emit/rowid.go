package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/statigen/statigen/internal/model"
)

// rowID emits the id scheme.
func rowID(f *jen.File, s model.Store) {
	// const rowIDType = "pg_catalog.text"
	f.Comment("rowIDType is the type that Verify wants of the id column.")
	f.Const().Id("rowIDType").Op("=").Lit(s.ID.ValueType())
	f.Line()
	switch s.ID {
	case model.UUID:
		uuidRowID(f)
	case model.Bigserial:
		bigserialRowID(f)
	default:
		uxidRowID(f)
	}
}

func uxidRowID(f *jen.File) {
	// type RowID = string
	comment(f, "RowID is the id column of every table: a kind, an underscore and 26 characters in ULID's layout, which\n"+
		"sort by the time they were made. Nothing reads them.")
	f.Type().Id("RowID").Op("=").String()

	// func NewRowID() RowID { return newRowID("exec") }
	f.Comment("NewRowID makes an id for NewExecution.RowID.")
	f.Func().Id("NewRowID").Params().Id("RowID").Block(
		jen.Return(jen.Id("newRowID").Call(jen.Lit("exec"))))

	// func checkRowID(id RowID) error {
	//	if id == "" {
	//		return nil
	//	}
	//	return checkKey("RowID", id)
	// }
	f.Func().Id("checkRowID").Params(jen.Id("id").Id("RowID")).Error().Block(
		jen.If(jen.Id("id").Op("==").Lit("")).Block(jen.Return(jen.Nil())),
		jen.Return(jen.Id("checkKey").Call(jen.Lit("RowID"), jen.Id("id"))))

	uxidNewRowID(f)
}

// uxidNewRowID emits the generator.
//
//	func newRowID(kind string) RowID {
//		const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
//		var random [10]byte
//		_, _ = rand.Read(random[:])
//		high := uint64(time.Now().UnixMilli())<<16 | uint64(binary.BigEndian.Uint16(random[:2]))
//		low := binary.BigEndian.Uint64(random[2:])
//		var ulid [26]byte
//		for i := len(ulid) - 1; i >= 0; i-- {
//			ulid[i] = digits[low&31]
//			low, high = low>>5|high<<59, high>>5
//		}
//		return kind + "_" + string(ulid[:])
//	}
func uxidNewRowID(f *jen.File) {
	bigEndian := func(read, from string) *jen.Statement {
		return jen.Qual("encoding/binary", "BigEndian").Dot(read).Call(jen.Id("random").Index(jen.Op(from)))
	}
	f.Comment("newRowID writes 48 bits of milliseconds and 80 random ones, five bits a digit.")
	f.Func().Id("newRowID").Params(jen.Id("kind").String()).Id("RowID").Block(
		jen.Const().Id("digits").Op("=").Lit("0123456789ABCDEFGHJKMNPQRSTVWXYZ"),
		jen.Var().Id("random").Index(jen.Lit(10)).Byte(),
		jen.List(jen.Id("_"), jen.Id("_")).Op("=").Qual("crypto/rand", "Read").Call(jen.Id("random").Index(jen.Op(":"))).Comment("never fails"),
		jen.Id("high").Op(":=").Uint64().Parens(milliseconds()).Op("<<").Lit(16).Op("|").Uint64().Parens(bigEndian("Uint16", ":2")),
		jen.Id("low").Op(":=").Add(bigEndian("Uint64", "2:")),
		jen.Var().Id("ulid").Index(jen.Lit(26)).Byte(),
		jen.For(jen.Id("i").Op(":=").Len(jen.Id("ulid")).Op("-").Lit(1), jen.Id("i").Op(">=").Lit(0), jen.Id("i").Op("--")).Block(
			jen.Id("ulid").Index(jen.Id("i")).Op("=").Id("digits").Index(jen.Id("low").Op("&").Lit(31)),
			jen.List(jen.Id("low"), jen.Id("high")).Op("=").List(
				jen.Id("low").Op(">>").Lit(5).Op("|").Id("high").Op("<<").Lit(59), jen.Id("high").Op(">>").Lit(5)),
		),
		jen.Return(jen.Id("kind").Op("+").Lit("_").Op("+").String().Parens(jen.Id("ulid").Index(jen.Op(":")))),
	)
}

func milliseconds() *jen.Statement {
	return jen.Qual("time", "Now").Call().Dot("UnixMilli").Call()
}

// uuidRowID emits the generator.
//
//	func NewRowID() RowID {
//		id := RowID{Valid: true}
//		_, _ = rand.Read(id.Bytes[6:])
//		ms := time.Now().UnixMilli()
//		for i := range 6 {
//			id.Bytes[i] = byte(ms >> (40 - 8*i))
//		}
//		id.Bytes[6] = id.Bytes[6]&0x0f | 0x70
//		id.Bytes[8] = id.Bytes[8]&0x3f | 0x80
//		return id
//	}
func uuidRowID(f *jen.File) {
	// type RowID = pgtype.UUID
	f.Comment("RowID is the id column of every table: a version 7 UUID. Nothing reads them.")
	f.Type().Id("RowID").Op("=").Qual(pgtype, "UUID")

	at := func(i int) *jen.Statement { return jen.Id("id").Dot("Bytes").Index(jen.Lit(i)) }
	f.Comment("NewRowID makes an id for NewExecution.RowID: 48 bits of milliseconds, version 7, 74 random bits.")
	f.Func().Id("NewRowID").Params().Id("RowID").Block(
		jen.Id("id").Op(":=").Id("RowID").Values(jen.Dict{jen.Id("Valid"): jen.True()}),
		jen.List(jen.Id("_"), jen.Id("_")).Op("=").Qual("crypto/rand", "Read").Call(jen.Id("id").Dot("Bytes").Index(jen.Op("6:"))).Comment("never fails"),
		jen.Id("ms").Op(":=").Add(milliseconds()),
		jen.For(jen.Id("i").Op(":=").Range().Lit(6)).Block(
			jen.Id("id").Dot("Bytes").Index(jen.Id("i")).Op("=").Byte().Parens(
				jen.Id("ms").Op(">>").Parens(jen.Lit(40).Op("-").Lit(8).Op("*").Id("i")))),
		at(6).Op("=").Add(at(6)).Op("&").Op("0x0f").Op("|").Op("0x70"),
		at(8).Op("=").Add(at(8)).Op("&").Op("0x3f").Op("|").Op("0x80"),
		jen.Return(jen.Id("id")),
	)

	// func checkRowID(RowID) error { return nil }
	f.Comment("checkRowID finds nothing wrong with any UUID.")
	f.Func().Id("checkRowID").Params(jen.Id("RowID")).Error().Block(jen.Return(jen.Nil()))
}

// bigserialRowID emits what is left to do where the database makes the ids.
//
//	func checkRowID(id RowID) error {
//		if id != 0 {
//			return &InvalidError{"RowID", "is set (the database makes bigserial ids)"}
//		}
//		return nil
//	}
func bigserialRowID(f *jen.File) {
	// type RowID = int64
	f.Comment("RowID is the id column of every table: a bigserial, made by the database.")
	f.Type().Id("RowID").Op("=").Int64()

	f.Func().Id("checkRowID").Params(jen.Id("id").Id("RowID")).Error().Block(
		jen.If(jen.Id("id").Op("!=").Lit(0)).Block(
			jen.Return(jen.Op("&").Id("InvalidError").Values(jen.Lit("RowID"), jen.Lit("is set (the database makes bigserial ids)")))),
		jen.Return(jen.Nil()))
}
