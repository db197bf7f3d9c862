package main

// databaseMutants take out what statigen verify looks at.
func databaseMutants() []mutant {
	const (
		room    = "./internal/verify"
		planted = "TestEveryPlantedDifferenceIsFoundAndMended"
	)
	one := func(name, test, says, file, before, after string) mutant {
		return mutant{name: name, in: room, test: test, says: says, edits: []edit{{file: file, old: before, new: after}}}
	}
	return []mutant{
		one("verify: an unlogged table taken", planted, "is unlogged", "internal/verify/place.go", `p.Persistence == "u"`, "false"),
		one("verify: any primary key taken", planted, "primary key", "internal/verify/keys.go", "id.PrimaryKey ||", "id.NotNull ||"),
		one("verify: deferrable taken", planted, "deferrable", "internal/live/read.go", "Deferrable: !f.Immediate", "Deferrable: false"),
		one("verify: not valid taken", planted, "is not valid", "internal/live/read.go", "Invalid: !f.Valid", "Invalid: false"),
		one("verify: a constraint's index dropped alone", planted, "cannot drop index", "internal/ddl/statement.go", "if index.Constraint {", "if false {"),
		one("verify: a default stays when its type goes", planted, "cannot be cast automatically", "internal/ddl/compare.go", "append(c.undefaulted(t, from), c.typed(t, to)...)", "c.typed(t, to)"),
		one("verify: an id counted from 1", "TestAnIDThatIsNotCountedIsFoundAndMended", "the next id is 1", "internal/ddl/compare.go", "COALESCE(pg_catalog.max(\"+name+\"), 0)", "COALESCE(pg_catalog.min(0), 0)"),
		one("verify: a demanded column taken", planted, "who else", "internal/ddl/state.go", "return c.NotNull &&", "return false &&"),
		one("verify: the reference's runs not known", "TestEachVersionIsRecognized", "with the names that executions had", "internal/verify/tables.go", "former, err := live.Read(ctx, l.tx, ddl.Former(l.at))", "former, err := live.Read(ctx, l.tx, l.at)"),
		one("verify: a privilege too few listed", "TestThePrivilegesAreThoseThatTheStatementsNeed", "-needed +listed", "internal/verify/grants.go", `"inputs":     {"SELECT", "INSERT"},`, `"inputs":     {"SELECT"},`),
		one("verify: a privilege too many listed", "TestThePrivilegesAreThoseThatTheStatementsNeed", "-needed +listed", "internal/verify/grants.go", `"inputs":     {"SELECT", "INSERT"},`, `"inputs":     {"SELECT", "INSERT", "DELETE"},`),
		one("verify: sequences not looked at", "TestMissingGrantsAreFoundAndMended", "_id_seq", "internal/verify/grants.go", `l.lacks(sequence, "SEQUENCE ", []string{"USAGE"})`, "_ = sequence"),
		one("verify: an owner bound by FORCE not told", "TestRowSecurityIsFoundAndMended", "and is bound all the same", "internal/verify/place.sql", "c.relforcerowsecurity OR ", ""),
		one("verify: what stands behind in the search_path not told", "TestWhatTheSearchPathFindsIsJudged", "shadows", "internal/verify/searchpath.go", "\tp.shadows()\n", ""),
		one("verify: decoys in the search_path taken", "TestNoSettingChangesTheAnswer", "", "internal/verify/place.go", "SET LOCAL search_path TO pg_catalog, pg_temp", "SELECT 1"),
		one("verify: a statement_timeout kept", "TestAStatementTimeoutDoesNotEndIt", "57014", "internal/verify/verify.go", "set_config('statement_timeout', '0', true)", "set_config('statement_timeout', '500', true)"),
		one("verify: statements not prepared", "TestAStatementThatIsNotPreparedIsFound", "want LockInfo", "internal/verify/statements.go", `_, err := tx.Prepare(ctx, "", sql)`, "err := ctx.Err()"),
		one("verify: the password of a URL shown", "TestNoErrorHoldsAPassword", "the error holds", "internal/verify/connect.go", "if strayAt(url) {", "if false {"),
		one("verify: risky SQL for psql", "TestTheCommandPrintsWhatPsqlTakes", "-want +got", "internal/cli/verify.go", `f.Risk != "" && sql != ""`, "false"),
		{
			name: "schema.sql: a column may be NULL", in: "./internal/sqltext", test: "TestTheCatalogIsTheReferencesUnderEveryOption", says: "-described +made",
			edits: []edit{{file: "schema/schema.sql", old: `"status" {{status_type}} NOT NULL`, new: `"status" {{status_type}}`}},
		},
	}
}
