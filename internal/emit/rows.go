package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/statigen/statigen/internal/model"
)

// rows emits what lies between the store's records and sqlc's parameters and rows.
func rows(f *jen.File, s model.Store) {
	saveChartParams(f, s)
	createExecutionParams(f, s)
	createdExecution(f, s)
	chartFromRow(f, s)
	executionFromRow(f, s)
	endedExecution(f, s)
	unparkedExecution(f, s)
	savePositionParams(f, s)
	positionFromRow(f, s)
	appendInputParams(f, s)
	inputFromRow(f, s)
}

// saveChartParams emits the parameters of SaveChart.
//
//	func saveChartParams(c Chart) db.SaveChartParams {
//		return db.SaveChartParams{
//			ID:           newRowID("chart"),
//			Lead1:        c.TenantID,
//			ContentHash:  c.ContentHash,
//			IdentityBlob: c.IdentityBlob,
//			ChartBlob:    c.ChartBlob,
//		}
//	}
func saveChartParams(f *jen.File, s model.Store) {
	var v literal
	v.newID(s, "chart")
	v.leadingParams(s, "c")
	v.copy("c", "ContentHash", "IdentityBlob", "ChartBlob")
	f.Func().Id("saveChartParams").Params(jen.Id("c").Id("Chart")).Qual(s.DBImport(), "SaveChartParams").Block(
		jen.Return(v.of(jen.Qual(s.DBImport(), "SaveChartParams"))))
}

// createExecutionParams emits the parameters of CreateExecution.
//
//	func createExecutionParams(e NewExecution) db.CreateExecutionParams {
//		if e.RowID == "" {
//			e.RowID = NewRowID()
//		}
//		return db.CreateExecutionParams{
//			ID:       e.RowID,
//			…
//			Pins:     e.pins(),
//			Metadata: storedMetadata(e.Metadata, e.Linkage),
//		}
//	}
func createExecutionParams(f *jen.File, s model.Store) {
	var v literal
	if s.ID.FromClient() {
		v.set("ID", jen.Id("e").Dot("RowID"))
	}
	v.leadingParams(s, "e")
	v.copy("e", "ExecutionID", "ContentHash", "IdentityBlob", "PositionBlob")
	v.set("Pins", jen.Id("e").Dot("pins").Call())
	v.set("Metadata", jen.Id("storedMetadata").Call(jen.Id("e").Dot("Metadata"), jen.Id("e").Dot("Linkage")))
	f.Func().Id("createExecutionParams").Params(jen.Id("e").Id("NewExecution")).Qual(s.DBImport(), "CreateExecutionParams").BlockFunc(func(g *jen.Group) {
		if s.ID.FromClient() {
			g.If(unset(s.ID)).Block(jen.Id("e").Dot("RowID").Op("=").Id("NewRowID").Call())
		}
		g.Return(v.of(jen.Qual(s.DBImport(), "CreateExecutionParams")))
	})
}

// newID is a new row's id, unless the database makes it.
func (l *literal) newID(s model.Store, kind string) {
	switch s.ID {
	case model.UXID:
		l.set("ID", jen.Id("newRowID").Call(jen.Lit(kind)))
	case model.UUID:
		l.set("ID", jen.Id("NewRowID").Call())
	}
}

func unset(id model.ID) *jen.Statement {
	if id == model.UUID {
		return jen.Op("!").Id("e").Dot("RowID").Dot("Valid")
	}
	return jen.Id("e").Dot("RowID").Op("==").Lit("")
}

// createdExecution emits the record of an execution that was written: what the server shaped comes from its
// answer, the rest from the host.
//
//	func createdExecution(e NewExecution, row db.CreateExecutionRow) Execution {
//		return Execution{
//			Leading:     Leading{TenantID: row.Lead1},
//			RowID:       row.ID,
//			ExecutionID: e.ExecutionID,
//			Status:      Active,
//			…
//		}
//	}
func createdExecution(f *jen.File, s model.Store) {
	var v literal
	v.leadingRow(s)
	v.copy("e", "ExecutionID")
	v.set("Status", jen.Id("Active"))
	v.copy("e", "ContentHash", "IdentityBlob", "PositionBlob")
	v.set("Metadata", readMetadata())
	v.copy("row", "InsertedAt")
	v.set("UpdatedAt", jen.Id("row").Dot("InsertedAt"))
	f.Func().Id("createdExecution").Params(jen.Id("e").Id("NewExecution"), jen.Id("row").Qual(s.DBImport(), "CreateExecutionRow")).Id("Execution").Block(
		jen.Return(v.of(jen.Id("Execution"))))
}

// chartFromRow emits the record of a chart that was read.
//
//	func chartFromRow(row db.ChartRow) Chart {
//		return Chart{…}
//	}
func chartFromRow(f *jen.File, s model.Store) {
	var v literal
	v.leadingRow(s)
	v.copy("row", "ContentHash", "IdentityBlob", "ChartBlob", "InsertedAt", "UpdatedAt")
	fromRow(f, s, "chartFromRow", "ChartRow", v.of(jen.Id("Chart")), "Chart")
}

// executionFromRow emits the record of an execution that was read.
//
//	func executionFromRow(row db.ExecutionRow) Execution {
//		return Execution{…}
//	}
func executionFromRow(f *jen.File, s model.Store) {
	fromRow(f, s, "executionFromRow", "ExecutionRow", execution(s), "Execution")
}

// endedExecution emits the record of an execution that was to be ended.
//
//	func endedExecution(row db.EndExecutionRow) Execution {
//		return Execution{…}
//	}
func endedExecution(f *jen.File, s model.Store) {
	fromRow(f, s, "endedExecution", "EndExecutionRow", execution(s), "Execution")
}

// unparkedExecution emits the record of an execution that was to be unparked.
//
//	func unparkedExecution(row db.UnparkExecutionRow) Execution {
//		return Execution{…}
//	}
func unparkedExecution(f *jen.File, s model.Store) {
	fromRow(f, s, "unparkedExecution", "UnparkExecutionRow", execution(s), "Execution")
}

// savePositionParams emits the parameters of SavePosition.
//
//	func savePositionParams(p Position) db.SavePositionParams {
//		return db.SavePositionParams{
//			ID:        newRowID("pos"),
//			Lead1:     p.TenantID,
//			SessionID: p.SessionID,
//			…
//		}
//	}
func savePositionParams(f *jen.File, s model.Store) {
	var v literal
	v.newID(s, "pos")
	v.leadingParams(s, "p")
	v.copy("p", "SessionID", "ContentHash", "IdentityBlob", "PositionBlob")
	f.Func().Id("savePositionParams").Params(jen.Id("p").Id("Position")).Qual(s.DBImport(), "SavePositionParams").Block(
		jen.Return(v.of(jen.Qual(s.DBImport(), "SavePositionParams"))))
}

// positionFromRow emits the record of a position that was read.
//
//	func positionFromRow(row db.PositionRow) Position {
//		return Position{…}
//	}
func positionFromRow(f *jen.File, s model.Store) {
	var v literal
	v.leadingRow(s)
	v.copy("row", "SessionID", "ContentHash", "IdentityBlob", "PositionBlob", "InsertedAt", "UpdatedAt")
	fromRow(f, s, "positionFromRow", "PositionRow", v.of(jen.Id("Position")), "Position")
}

// appendInputParams emits the parameters of AppendInput. Its leading columns are its execution's.
//
//	func appendInputParams(executionID string, in Input, room int64) db.AppendInputParams {
//		return db.AppendInputParams{
//			ID:          newRowID("input"),
//			ExecutionID: executionID,
//			Door:        in.Door,
//			InputBlob:   in.InputBlob,
//			Room:        room,
//		}
//	}
func appendInputParams(f *jen.File, s model.Store) {
	var v literal
	v.newID(s, "input")
	v.set("ExecutionID", jen.Id("executionID"))
	v.copy("in", "Door", "InputBlob")
	v.set("Room", jen.Id("room"))
	f.Func().Id("appendInputParams").Params(jen.Id("executionID").String(), jen.Id("in").Id("Input"), jen.Id("room").Int64()).
		Qual(s.DBImport(), "AppendInputParams").Block(jen.Return(v.of(jen.Qual(s.DBImport(), "AppendInputParams"))))
}

// inputFromRow emits the record of an input that was read.
//
//	func inputFromRow(row db.InputsRow) Input {
//		return Input{…}
//	}
func inputFromRow(f *jen.File, s model.Store) {
	var v literal
	v.leadingRow(s)
	v.copy("row", "Seq", "Door", "InputBlob", "InsertedAt")
	fromRow(f, s, "inputFromRow", "InputsRow", v.of(jen.Id("Input")), "Input")
}

func execution(s model.Store) *jen.Statement {
	var v literal
	v.leadingRow(s)
	v.copy("row", "ExecutionID", "Status", "ContentHash", "IdentityBlob", "PositionBlob", "Failure")
	v.set("Metadata", readMetadata())
	v.copy("row", "OutcomeBlob", "InsertedAt", "UpdatedAt", "EndedAt")
	return v.of(jen.Id("Execution"))
}

func fromRow(f *jen.File, s model.Store, function, row string, value *jen.Statement, record string) {
	f.Func().Id(function).Params(jen.Id("row").Qual(s.DBImport(), row)).Id(record).Block(jen.Return(value))
}

func readMetadata() *jen.Statement {
	return jen.Id("readMetadata").Call(jen.Id("row").Dot("Metadata"))
}
