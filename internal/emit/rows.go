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
	switch s.ID {
	case model.UXID:
		v.set("ID", jen.Id("newRowID").Call(jen.Lit("chart")))
	case model.UUID:
		v.set("ID", jen.Id("NewRowID").Call())
	}
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
//			Metadata: storedMetadata(e.Metadata),
//		}
//	}
func createExecutionParams(f *jen.File, s model.Store) {
	var v literal
	if s.ID.FromClient() {
		v.set("ID", jen.Id("e").Dot("RowID"))
	}
	v.leadingParams(s, "e")
	v.copy("e", "ExecutionID", "ContentHash", "IdentityBlob", "PositionBlob")
	v.set("Metadata", jen.Id("storedMetadata").Call(jen.Id("e").Dot("Metadata")))
	f.Func().Id("createExecutionParams").Params(jen.Id("e").Id("NewExecution")).Qual(s.DBImport(), "CreateExecutionParams").BlockFunc(func(g *jen.Group) {
		if s.ID.FromClient() {
			g.If(unset(s.ID)).Block(jen.Id("e").Dot("RowID").Op("=").Id("NewRowID").Call())
		}
		g.Return(v.of(jen.Qual(s.DBImport(), "CreateExecutionParams")))
	})
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
