package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/statigen/statigen/templates/internal/db"
)

// wantedTable is what a table must have, beside the columns that all have.
type wantedTable struct {
	concept    string
	columns    []wantedColumn
	unique     []string // columns of the unique index that keeps a row from being there twice
	privileges []string // that the verbs need
}

// wantedColumn is a column as schema.sql makes it.
type wantedColumn struct {
	name     string
	typ      string // with its schema
	nullable bool   // the store writes NULL
	key      bool   // is compared with what a lock's key was made from, or with a status
}

const (
	textType      = "pg_catalog.text"
	byteaType     = "pg_catalog.bytea"
	timestampType = "pg_catalog.timestamp"
)

// wantedTables lists the four tables.
func wantedTables() []wantedTable {
	hash := wantedColumn{name: "content_hash", typ: textType, key: true}
	execution := wantedColumn{name: "execution_id", typ: textType, key: true}
	identity := wantedColumn{name: "identity_blob", typ: byteaType}
	return []wantedTable{{
		concept: "charts",
		columns: []wantedColumn{
			hash,
			{name: "identity_blob", typ: byteaType, nullable: true},
			{name: "chart_blob", typ: byteaType, nullable: true},
			{name: "retired_at", typ: timestampType, nullable: true},
			{name: "retired_by", typ: textType, nullable: true},
		},
		unique:     []string{"content_hash"},
		privileges: []string{"SELECT", "INSERT", "UPDATE"},
	}, {
		concept: "positions",
		columns: []wantedColumn{
			{name: "session_id", typ: textType, key: true},
			hash,
			identity,
			{name: "position_blob", typ: byteaType},
		},
		unique:     []string{"session_id"},
		privileges: []string{"SELECT", "INSERT", "UPDATE", "DELETE"},
	}, {
		concept: "executions",
		columns: []wantedColumn{
			execution,
			{name: "status", typ: textType, key: true},
			hash,
			identity,
			{name: "position_blob", typ: byteaType, nullable: true},
			{name: "failure", typ: textType, nullable: true},
			{name: "session_id", typ: textType, nullable: true, key: true},
			{name: "metadata", typ: "pg_catalog.jsonb", nullable: true},
			{name: "outcome_blob", typ: byteaType, nullable: true},
			{name: "ended_at", typ: timestampType, nullable: true},
		},
		unique:     []string{"execution_id"},
		privileges: []string{"SELECT", "INSERT", "UPDATE"},
	}, {
		concept: "inputs",
		columns: []wantedColumn{
			execution,
			{name: "seq", typ: "pg_catalog.int8"},
			{name: "door", typ: textType},
			{name: "input_blob", typ: byteaType, nullable: true},
		},
		unique:     []string{"execution_id", "seq"},
		privileges: []string{"SELECT", "INSERT"},
	}}
}

// all are the columns with those that every table has.
func (w wantedTable) all() []wantedColumn {
	return slices.Concat([]wantedColumn{
		{name: "id", typ: rowIDType},
		{name: "inserted_at", typ: timestampType},
		{name: "updated_at", typ: timestampType},
	}, leadingColumns(), w.columns)
}

// unfitTable reports what keeps the tables from being the store's.
func (v *verifier) unfitTable(problem error) {
	v.unfit = true
	v.found(problem)
}

// tables looks at each table as a whole, and remembers those that are the store's.
func (v *verifier) tables(ctx context.Context) {
	rows, _ := ask(ctx, v, "TablesFound", db.VerifyQueries.TablesFound)
	is := map[string]db.TablesFoundRow{}
	for _, row := range rows {
		is[row.Concept] = row
	}
	var filtered []string
	for _, want := range wantedTables() {
		table, asked := is[want.concept]
		if !asked {
			return // for the server refuses
		}
		v.table(want, table, is["charts"])
		if table.Filtered {
			filtered = append(filtered, table.Relation)
		}
	}
	if len(filtered) > 0 {
		v.found(&RowSecurityError{Tables: strings.Join(filtered, ", ")})
	}
}

func (v *verifier) table(want wantedTable, table, charts db.TablesFoundRow) {
	if problem := v.unfitness(table, charts); problem != nil {
		v.unfitTable(problem)
	} else {
		v.relations[want.concept] = table.Relation
	}
	if table.Schema != "" {
		v.privileges(want, table)
	}
}

// unfitness says why a table is not the store's, or nil. One that is found elsewhere than the charts table is another
// store's, and its rows pin nothing there.
func (v *verifier) unfitness(table, charts db.TablesFoundRow) error {
	wrong := func(reason string) error { return &SearchPathError{table.Relation, v.searchPath, reason} }
	switch {
	case table.Schema == "" && len(table.Schemas) > 0:
		return wrong("is in no schema that is searched, but in " + strings.Join(table.Schemas, ", "))
	case table.Schema == "":
		return &SchemaError{Table: table.Relation, Reason: "is missing"}
	case table.Temporary:
		return wrong("is a temporary one of the session's own")
	case table.Kind != "r" && table.Kind != "p":
		return &SchemaError{Table: table.Relation, Reason: "is " + kind(table.Kind) + " (want a table)"}
	case charts.Schema != "" && !charts.Temporary && table.Schema != charts.Schema:
		return wrong(fmt.Sprintf("is found in schema %s, and the charts table in %s", table.Schema, charts.Schema))
	}
	return nil
}

// kind names what is no table. Behind a view row-level security is that of the view's owner, and does not show.
func kind(relkind string) string {
	switch relkind {
	case "v":
		return "a view"
	case "m":
		return "a materialized view"
	case "f":
		return "a foreign table"
	}
	return "of kind " + relkind
}

// privileges looks for what the verbs need on a table that is there.
func (v *verifier) privileges(want wantedTable, table db.TablesFoundRow) {
	may := map[string]bool{"SELECT": table.MaySelect, "INSERT": table.MayInsert, "UPDATE": table.MayUpdate, "DELETE": table.MayDelete}
	if !table.UsableSchema && want.concept == "charts" {
		v.unfitTable(&PrivilegeError{"SCHEMA " + table.QuotedSchema, "USAGE"})
	}
	for _, privilege := range want.privileges {
		if !may[privilege] {
			v.unfitTable(&PrivilegeError{table.Relation, privilege})
		}
	}
	if table.Sequence != "" && slices.Contains(want.privileges, "INSERT") {
		v.unfitTable(&PrivilegeError{"SEQUENCE " + table.QuotedSchema + "." + table.Sequence, "USAGE"})
	}
}

// columns looks at the columns of the tables that are the store's.
func (v *verifier) columns(ctx context.Context) {
	rows, ok := ask(ctx, v, "ColumnsFound", db.VerifyQueries.ColumnsFound)
	if !ok {
		return
	}
	for _, want := range wantedTables() {
		relation, ours := v.relations[want.concept]
		if !ours {
			continue
		}
		is := map[string]db.ColumnsFoundRow{}
		for _, row := range rows {
			if row.Concept == want.concept {
				is[row.Name] = row
			}
		}
		v.columnsOf(relation, want.all(), is)
	}
}

func (v *verifier) columnsOf(relation string, want []wantedColumn, is map[string]db.ColumnsFoundRow) {
	for _, column := range want {
		row, there := is[column.name]
		delete(is, column.name)
		if reason := column.unfitness(row, there); reason != "" {
			v.unfitTable(&SchemaError{relation, column.name, reason})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if row := is[name]; row.NotNull && !row.HasDefault {
			v.unfitTable(&SchemaError{relation, name, "is NOT NULL without a default, and the store does not know it"})
		}
	}
}

// unfitness says what is wrong with a column; "" is nothing.
func (w wantedColumn) unfitness(row db.ColumnsFoundRow, there bool) string {
	switch {
	case !there:
		return "is missing"
	case !sameType(row.Type, w.typ):
		return fmt.Sprintf("is of type %s (want %s)", row.Type, w.typ)
	case row.NotNull && w.nullable:
		return "is NOT NULL, and the store writes NULL"
	case w.key && !row.Deterministic:
		return "has a nondeterministic collation, so that two keys can be one"
	}
	return ""
}

// sameType takes a varchar for a text: the two differ in a length alone, past which storing fails.
func sameType(is, want string) bool {
	characters := func(typ string) bool { return typ == textType || typ == "pg_catalog.varchar" }
	return is == want || characters(is) && characters(want)
}

// indexes looks for the unique indexes, without which one chart or execution is two.
func (v *verifier) indexes(ctx context.Context) {
	rows, ok := ask(ctx, v, "UniqueIndexesFound", db.VerifyQueries.UniqueIndexesFound)
	if !ok {
		return
	}
	for _, want := range wantedTables() {
		is := func(row db.UniqueIndexesFoundRow) bool {
			return row.Concept == want.concept && slices.Equal(row.Columns, want.unique)
		}
		if relation, ours := v.relations[want.concept]; ours && !slices.ContainsFunc(rows, is) {
			v.unfitTable(&SchemaError{relation, strings.Join(want.unique, ", "), "has no unique index (valid, immediate, of all rows)"})
		}
	}
}
