package main

const (
	locksSQL      = "queries/locks.sql"
	chartsSQL     = "queries/charts.sql"
	executionsSQL = "queries/executions.sql"
	retireSQL     = "queries/retire.sql"
	holes         = "internal/sqltext/holes.go"
	locked        = "templates/internal/db/locked.go"
	conn          = "templates/internal/db/conn.go"
	storeGo       = "templates/store.go"
	verifySQL     = "queries/verify.sql"
	verifyGo      = "templates/verify.go"
	verifyTables  = "templates/verifytables.go"
	aside         = "templates/internal/db/aside.go"
	argumentsGo   = "templates/arguments.go"
	outcome       = "templates/outcome.go"
)

func mutants() []mutant {
	const (
		race      = "TestNoRaceStrandsAnExecution"
		stranded  = "were retired under a live execution"
		waits     = "TestWhatWaitsOnWhat"
		security  = "TestRowSecurityThatCouldHideSomethingIsRefused"
		upgrade   = "TestReadThenRetireIsRefusedBeforeItWaits"
		timesOut  = "TestARetirementThatTimesOutGivesTheTransactionBack"
		explore   = "./internal/explore"
		faults    = "./internal/faults"
		needed    = "retired charts are still needed"
		commitErr = "TestAnErrorAtCommitIsReported"
		arguments = "FuzzArgumentsAreKeptOrRefusedUnsent"
		sqltext   = "./internal/sqltext"
		refuses   = "the server refuses what was sent"
		pins      = "TestEveryKindOfPinKeepsAChart"
	)
	return []mutant{
		{
			name: "shared lock removed", test: race, says: stranded,
			edits: []edit{{file: locksSQL, old: "SELECT {{lock_chart_shared}};", new: "SELECT @content_hash::pg_catalog.text;"}},
		},
		{
			name: "shared lock removed, a create explored", in: explore, test: "TestCreateAgainstRetire", says: needed,
			edits: []edit{{file: locksSQL, old: "SELECT {{lock_chart_shared}};", new: "SELECT @content_hash::pg_catalog.text;"}},
		},
		{
			name: "shared lock removed, a save explored", in: explore, test: "TestSaveAgainstRetire", says: " overlap\n",
			edits: []edit{{file: locksSQL, old: "SELECT {{lock_chart_shared}};", new: "SELECT @content_hash::pg_catalog.text;"}},
		},
		{
			name: "shared lock removed, two explored", in: explore, test: "TestTwoCreatesAgainstRetire", says: needed,
			edits: []edit{{file: locksSQL, old: "SELECT {{lock_chart_shared}};", new: "SELECT @content_hash::pg_catalog.text;"}},
		},
		{
			name: "exclusive lock removed, explored", in: explore, test: "TestCreateAgainstRetire", says: needed,
			edits: []edit{{file: locksSQL, old: "WHEN {{lock_chart_exclusive}} THEN", new: "WHEN true THEN"}},
		},
		{
			name: "tombstone check gone, explored", in: explore, test: "TestCreateAgainstRetire", says: needed,
			edits: []edit{{file: executionsSQL, old: `AND c."retired_at" IS NOT NULL)`, new: `AND false)`}},
		},
		{
			name: "isolation guard gone, explored", in: explore, test: "TestCreateAgainstRetire", says: needed,
			edits: []edit{{file: executionsSQL, old: "  AND {{read_committed}}\n", new: ""}},
		},
		{
			name: "lock and write in one statement", in: explore, test: "TestCreateAgainstRetire", says: needed,
			edits: []edit{
				{file: executionsSQL, old: "FROM {{now}} AS t\n", new: "FROM {{now}} AS t CROSS JOIN (SELECT {{lock_chart_shared}}) AS l\n"},
				{file: locksSQL, old: "SELECT {{lock_chart_shared}};", new: "SELECT @content_hash::pg_catalog.text;"},
			},
		},
		{
			name: "exclusive lock removed", test: race, says: stranded,
			edits: []edit{{file: locksSQL, old: "WHEN {{lock_chart_exclusive}} THEN", new: "WHEN true THEN"}},
		},
		{
			name: "shared for exclusive", test: waits, says: "waits = ",
			edits: []edit{{file: holes, old: `calls("pg_advisory_xact_lock", "`, new: `calls("pg_advisory_xact_lock_shared", "`}},
		},
		{
			name: "exclusive for shared", test: waits, says: "waits = ",
			edits: []edit{{file: holes, old: `calls("pg_advisory_xact_lock_shared", "`, new: `calls("pg_advisory_xact_lock", "`}},
		},
		{
			name: "tombstone check gone", test: waits, says: "want retired",
			edits: []edit{{file: executionsSQL, old: `AND c."retired_at" IS NOT NULL)`, new: `AND false)`}},
		},
		{
			name: "isolation guard of the create gone", test: waits, says: "want 40001",
			edits: []edit{{file: executionsSQL, old: "  AND {{read_committed}}\n", new: ""}},
		},
		{
			name: "isolation guard of the retirement gone", test: waits, says: "want isolation",
			edits: []edit{{file: locksSQL, old: "WHEN NOT ({{read_committed}}) THEN", new: "WHEN false THEN"}},
		},
		{
			name: "row lock at the higher levels gone", test: waits, says: "want 40001",
			edits: []edit{{file: executionsSQL, old: "  FOR SHARE\n", new: ""}},
		},
		{
			name: "row lock of the read gone", test: waits, says: "want 40001",
			edits: []edit{{file: chartsSQL, old: "\nFOR SHARE;", new: ";"}},
		},
		{
			name: "weaker row lock", test: waits, says: "want 40001",
			edits: []edit{{file: executionsSQL, old: "  FOR SHARE\n", new: "  FOR KEY SHARE\n"}},
		},
		{
			name: "row-security guard of the create gone", test: security, says: "want a *RowSecurityError",
			edits: []edit{{file: executionsSQL, old: "  AND NOT {{charts_filtered}}\n", new: ""}},
		},
		{
			name: "row-security guard of the save gone", test: "TestASaveBehindRowSecurityWritesNothing", says: "was written",
			edits: []edit{{file: chartsSQL, old: "  WHERE NOT {{charts_filtered}}\n", new: ""}},
		},
		{
			name: "row-security guard of the retirement gone", test: security, says: "want a *RowSecurityError",
			edits: []edit{{file: retireSQL, old: "    AND t.filtered OPERATOR(pg_catalog.=) ''\n", new: ""}},
		},
		{
			name: "marker ignored", test: upgrade, says: "want a *store.LockUpgradeError",
			edits: []edit{{file: retireSQL, old: "    AND t.lock OPERATOR(pg_catalog.=) ('held ' OPERATOR(pg_catalog.||) @content_hash::pg_catalog.text)\n", new: ""}},
		},
		{
			name: "upgrade check gone", test: upgrade, says: "want a *store.LockUpgradeError",
			edits: []edit{{file: locksSQL, old: "WHEN h.upgrades AND", new: "WHEN false AND"}},
		},
		{
			name: "an upgrade waits", test: upgrade, says: "no lock within",
			edits: []edit{{file: holes, old: `calls("pg_try_advisory_xact_lock", "", " AND ")`, new: `calls("pg_advisory_xact_lock", " IS NOT NULL", " AND ")`}},
		},
		{
			name: "an allowed upgrade waits for a second key", test: upgrade, says: "want a *store.LockUpgradeError",
			edits: []edit{{file: locksSQL, old: "WHEN h.shared AND @allow_upgrade::pg_catalog.bool THEN CASE", new: "WHEN false AND @allow_upgrade::pg_catalog.bool THEN CASE"}},
		},
		{
			name: "timeout not put back", test: timesOut, says: "lock_timeout = ",
			edits: []edit{{file: locked, old: "after:     []step{putSettingsBack, statement", new: "after:     []step{statement"}},
		},
		{
			name: "savepoint left out", test: timesOut, says: "current transaction is aborted",
			edits: []edit{{file: locked, old: "savepoint: true,", new: "savepoint: false,"}},
		},
		{
			name: "Close not checked", test: commitErr, says: "want the constraint's own 23503",
			edits: []edit{{file: conn, old: "\terr := x.results.Close()\n", new: "\terr := error(nil)\n\t_ = x.results.Close()\n"}},
		},
		{
			name: "now() for clock_timestamp()", test: "TestTimesAreFromAfterTheWait", says: "from before",
			edits: []edit{{file: holes, old: "pg_catalog.clock_timestamp()", new: "pg_catalog.now()"}},
		},
		{
			name: "now() in the retirement", test: "TestTimesAreFromAfterTheWait", says: "from before",
			edits: []edit{{file: retireSQL, old: "pg_catalog.clock_timestamp()", new: "pg_catalog.now()"}},
		},
		{
			name: "execution lock after the chart's", test: "TestA10EveryMethodSendsItsStatementsBehindItsLock", says: "the execution lock comes behind the chart's",
			edits: []edit{{file: locked, old: "append(before, takeAllShared(pins))", new: "append([]step{takeAllShared(pins)}, before...)"}},
		},
		{
			name: "active executions not counted", test: pins, says: "an_active_execution",
			edits: []edit{{file: retireSQL, old: "    l.active OPERATOR(pg_catalog.+) l.needs_migration", new: "    l.needs_migration"}},
		},
		{
			name: "parked executions not counted", test: pins, says: "a_parked_execution",
			edits: []edit{{file: retireSQL, old: "    l.active OPERATOR(pg_catalog.+) l.needs_migration", new: "    l.active"}},
		},
		{
			name: "positions not counted", test: pins, says: "a_position",
			edits: []edit{{file: retireSQL, old: " OPERATOR(pg_catalog.+) p.positions OPERATOR(pg_catalog.+) c.children AS pins", new: " OPERATOR(pg_catalog.+) c.children AS pins"}},
		},
		{
			name: "children not counted", test: pins, says: "a_terminal_child",
			edits: []edit{{file: retireSQL, old: " OPERATOR(pg_catalog.+) c.children AS pins", new: " AS pins"}},
		},
		{
			name: "reads sent by themselves", test: "TestReadsBehindPoolingAreNotMixedUp", says: "describe exec, ",
			edits: []edit{{file: locked, old: "return New(&locked{conn: c}) }", new: "if c.pool != nil { return New(c.pool) }; return New(&locked{conn: c}) }"}},
		},
		{
			name: "generic plan", test: "TestARetirementIsNeverRunByAGenericPlan", says: "ran by a generic plan",
			edits: []edit{{file: locksSQL, old: "'force_custom_plan'", new: "'auto'"}},
		},
		{
			name: "commit of the second try not checked", test: "TestTheSecondTryOnAPoolIsAsGoodAsTheFirst", says: "want the deferred constraint's 23503",
			edits: []edit{{file: storeGo, old: "if err := own.Commit(ctx); err != nil {", new: "if err := own.Commit(ctx); false {"}},
		},
		{
			name: "lock_timeout set for the session", test: "TestNothingASessionKeepsIsChanged", says: "lock_timeout is now",
			edits: []edit{{file: locksSQL, old: "set_config('lock_timeout', @lock_timeout::pg_catalog.text, true)", new: "set_config('lock_timeout', @lock_timeout::pg_catalog.text, false)"}},
		},
		{
			name: "the host's savepoint taken for ours", test: "TestAHostsSavepointOfOurNameIsLeftAlone", says: "the transaction goes on",
			edits: []edit{{file: locked, old: "l.savepoint && x.begun && errors.As", new: "l.savepoint && errors.As"}},
		},
		{
			name: "hashtext left to the search_path", test: "TestA02DecoysInTheSearchPath", says: "decoy function hashtext",
			edits: []edit{{file: holes, old: `byStore := "pg_catalog.hashtext(`, new: `byStore := "hashtext(`}},
		},
		{
			name: "no second try on a pool", test: waits, says: "second side answered",
			edits: []edit{{file: storeGo, old: "if s.conn.Pool() == nil || !wantsReadCommitted(err) {", new: "if true {"}},
		},
		{
			name: "probe on a chart's key", test: "TestA10EveryMethodSendsItsStatementsBehindItsLock", says: "verifies: took a lock",
			edits: []edit{{file: holes, old: "strconv.Itoa(int(keyspec.Namespace) + 1)", new: "namespace"}},
		},
		{
			name: "idle shared locks not seen", test: "TestAdvisoryLocksThatDoNothingAreFound", says: "no shared advisory lock",
			edits: []edit{{file: verifyGo, old: "!taken.Shared || !taken.Exclusive", new: "!taken.Exclusive"}},
		},
		{
			name: "idle exclusive locks not seen", test: "TestAdvisoryLocksThatDoNothingAreFound", says: "no exclusive advisory lock",
			edits: []edit{{file: verifySQL, old: "OPERATOR(pg_catalog.=) 'ExclusiveLock'", new: "OPERATOR(pg_catalog.=) ANY ('{ExclusiveLock,ShareLock}'::pg_catalog.text[])"}},
		},
		{
			name: "standby not told apart", test: "TestAStandbyIsFound", says: "hot standby",
			edits: []edit{{file: verifySQL, old: "pg_catalog.pg_is_in_recovery()", new: "false"}},
		},
		{
			name: "read-only not seen", test: "TestReadOnlyTransactionsAreFound", says: "transactions are read-only",
			edits: []edit{{file: verifyGo, old: "row.Standby || row.ReadOnly", new: "row.Standby"}},
		},
		{
			name: "view taken for a table", test: "TestAViewIsNoTable", says: "is a view",
			edits: []edit{{file: verifyTables, old: `table.Kind != "r" && table.Kind != "p"`, new: "false"}},
		},
		{
			name: "temporary table not seen", test: "TestAWrongSearchPathIsFound", says: "is a temporary one",
			edits: []edit{{file: verifyTables, old: "case table.Temporary:", new: "case false:"}},
		},
		{
			name: "tables of two schemas not seen", test: "TestAWrongSearchPathIsFound", says: "is found in schema decoys",
			edits: []edit{{file: verifyTables, old: `charts.Schema != "" && !charts.Temporary`, new: "false"}},
		},
		{
			name: "row security not looked at", test: "TestRowSecurityThatWouldRefuseIsFound", says: "row-level security filters",
			edits: []edit{{file: verifySQL, old: "pg_catalog.row_security_active(c.oid)", new: "false"}},
		},
		{
			name: "privileges not looked at", test: "TestEveryMissingPrivilegeIsFound", says: "the role has no UPDATE",
			edits: []edit{{file: verifyTables, old: "if !may[privilege] {", new: "if !may[privilege] && false {"}},
		},
		{
			name: "types not looked at", test: "TestEveryMissingColumnAndEveryOtherTypeIsFound", says: "is of type",
			edits: []edit{{file: verifyTables, old: "case !sameType(row.Type, w.typ):", new: "case false:"}},
		},
		{
			name: "collations not looked at", test: "TestNondeterministicCollationsOfKeysAreFound", says: "nondeterministic collation",
			edits: []edit{{file: verifyTables, old: "w.key && !row.Deterministic", new: "false"}},
		},
		{
			name: "invalid index taken", test: "TestAMissingUniqueIndexIsFound", says: "has no unique index",
			edits: []edit{{file: verifySQL, old: " AND i.indisvalid", new: ""}},
		},
		{
			name: "deferrable index taken", test: "TestAMissingUniqueIndexIsFound", says: "has no unique index",
			edits: []edit{{file: verifySQL, old: " AND i.indimmediate", new: ""}},
		},
		{
			name: "partial index taken", test: "TestAMissingUniqueIndexIsFound", says: "has no unique index",
			edits: []edit{{file: verifySQL, old: " AND i.indpred IS NULL", new: ""}},
		},
		{
			name: "statements not prepared", test: "TestEveryStatementThatIsNotPreparedIsFound", says: "StatementError LockInfo",
			edits: []edit{{file: aside, old: `_, err = a.tx.Prepare(ctx, "", sql)`, new: "_ = sql"}},
		},
		{
			name: "one refusal spoils the rest", test: "TestAllProblemsAreFoundAtOnce", says: "StatementError",
			edits: []edit{{file: aside, old: `a.tx.Exec(ctx, "ROLLBACK TO SAVEPOINT "+asideSavepoint)`, new: `a.tx.Exec(ctx, "-- "+asideSavepoint)`}},
		},
		{
			name: "a statement is not verified", test: "TestVerifyPreparesEveryEmittedStatement", says: "-emitted +listed",
			edits: []edit{{file: aside, old: "\t\tretireChart,\n", new: ""}},
		},
		{
			name: "NUL let through", test: arguments, says: refuses,
			edits: []edit{{file: argumentsGo, old: "case strings.ContainsRune(value, 0):", new: "case false && strings.ContainsRune(value, 0):"}},
		},
		{
			name: "invalid UTF-8 let through", test: arguments, says: refuses,
			edits: []edit{{file: argumentsGo, old: "case !utf8.ValidString(value):", new: "case false && !utf8.ValidString(value):"}},
		},
		{
			name: "keys of any length let through", test: arguments, says: refuses,
			edits: []edit{{file: argumentsGo, old: "if len(value) > maxKey {", new: "if false {"}},
		},
		{
			name: "what jsonb refuses let through", test: arguments, says: refuses,
			edits: []edit{{file: "templates/columns.go", old: "\treturn refusedByJSONB(raw)\n", new: "\t_ = refusedByJSONB(raw)\n\treturn \"\"\n"}},
		},
		{
			name: "quotes not doubled", in: sqltext, test: "FuzzNamesReachTheCatalogs", says: "syntax error",
			edits: []edit{{file: "internal/keyspec/keyspec.go", old: "strings.ReplaceAll(name, `\"`, `\"\"`)", new: "strings.ReplaceAll(name, `\"`, `\"`)"}},
		},
		{
			name: "holes filled in names", in: sqltext, test: "FuzzTheSQLOfAConfigIsTheOneThatWasMeant", says: "is meant otherwise",
			edits: []edit{{file: "internal/sqltext/sqltext.go", old: "\treturn filled, unknown\n", new: "\treturn bytes.ReplaceAll(filled, []byte(\"{{charts}}\"), []byte(words[\"status_type\"])), unknown\n"}, {
				file: "internal/sqltext/sqltext.go", old: "import (\n", new: "import (\n\t\"bytes\"\n",
			}},
		},
		{
			name: "backslashes not escaped", in: sqltext, test: "FuzzTheSQLOfAConfigIsTheOneThatWasMeant", says: "is meant otherwise",
			edits: []edit{{file: "internal/sqltext/literal.go", old: "return `\\\\`", new: "return `\\`"}},
		},
		{
			name: "a closed connection believed", in: faults, test: "TestACutOnTheWayToTheClient", says: "conn closed: told failed, there",
			edits: []edit{{file: outcome, old: "errors.Is(err, pgconn.ErrConnClosed)", new: "false"}},
		},
		{
			name: "a cut connection taken for a failure", in: faults, test: "TestACutOnTheWayToTheServer", says: "told failed, there",
			edits: []edit{{file: outcome, old: "return !notSent(err) &&", new: "return false &&"}},
		},
		{
			name: "every failure in doubt", in: faults, test: "TestACutOnTheWayToTheServer", says: "no cut was told failed, not there",
			edits: []edit{{file: outcome, old: "return !notSent(err) &&", new: "return true ||"}},
		},
		{
			name: "a read in doubt", in: explore, test: "TestABackendKilledInFrontOfEachStep", says: "where there is no doubt",
			edits: []edit{{file: storeGo, old: "return twice(ctx, s, op, verb, s.failedRead)", new: "return twice(ctx, s, op, verb, s.failed)"}},
		},
		{
			name: "FATAL taken for an answer", in: explore, test: "TestABackendKilledInFrontOfEachStep", says: "alice's create unknown, bob's retire ok",
			edits: []edit{{file: outcome, old: `return server.SeverityUnlocalized != "ERROR"`, new: "return false"}},
		},
		{
			name: "Close not checked, and killed", in: explore, test: "TestABackendKilledInFrontOfEachStep", says: "and was killed before",
			edits: []edit{{file: conn, old: "\terr := x.results.Close()\n", new: "\terr := error(nil)\n\t_ = x.results.Close()\n"}},
		},
		{
			name: "the second try's commit in no doubt", in: faults, test: "TestACutOnTheWayToTheClientBeforeTheLastTrip", says: "told failed, there",
			edits: []edit{{file: storeGo, old: "return twice(ctx, s, op, verb, s.failed)", new: "return twice(ctx, s, op, verb, s.failedRead)"}},
		},
		{
			name: "a position on a tombstone", test: "TestAPositionPinsItsChart", says: "got error <nil>",
			edits: []edit{{file: "queries/positions.sql", old: "  WHERE NOT EXISTS (SELECT 1 FROM sg_chart AS s WHERE s.retired_at IS NOT NULL)\n    AND {{read_committed}}", new: "  WHERE {{read_committed}}"}},
		},
		{
			name: "one lock of two charts", test: "TestAChildOfAnotherChartWaitsForBoth", says: "the create to wait",
			edits: []edit{{file: locked, old: "if len(contentHashes) == 1 {", new: "if len(contentHashes) > 0 {"}},
		},
		{
			name: "a linkage pins nothing", test: "TestAChildOfAnotherChartPinsBoth", says: "got error",
			edits: []edit{{file: "templates/linkage.go", old: "if e.Linkage != nil && e.Linkage.ContentHash", new: "if false && e.Linkage.ContentHash"}},
		},
		{
			name: "a step inside its own step", test: "TestAnExecutionIsRefusedToVerbsInsideItsOwnStep", says: "want it refused",
			edits: []edit{{file: "templates/inside.go", old: "(around.writes || !around.conn.Shares(s.conn))", new: "!around.conn.Shares(s.conn)"}},
		},
		{
			name: "ended twice", test: "TestWhatAStepDoesNotSayStays", says: "EndedAt",
			edits: []edit{{file: "queries/steps.sql", old: "ELSE COALESCE(u.\"ended_at\", t.now) END", new: "ELSE t.now END"}},
		},
		{
			name: "an outcome cleared", test: "TestWhatAStepDoesNotSayStays", says: "OutcomeBlob",
			edits: []edit{{file: "queries/steps.sql", old: "COALESCE(sqlc.narg(outcome_blob)::pg_catalog.bytea, u.\"outcome_blob\")", new: "sqlc.narg(outcome_blob)::pg_catalog.bytea"}},
		},
		{
			name: "a closed log goes on", test: "TestAFullLogIsClosed", says: "want two inputs and the marker",
			edits: []edit{{file: "queries/inputs.sql", old: "  WHERE NOT l.closed\n", new: ""}},
		},
		{
			name: "steps side by side", test: "TestC04ConcurrentStepsComeOneBehindTheOther", says: "duplicate key value",
			edits: []edit{
				{file: "queries/steps.sql", old: "FOR UPDATE;\n\n-- name: HoldExecution", new: ";\n\n-- name: HoldExecution"},
				{file: locked, old: "if c.serialized {", new: "if true {"},
			},
		},
	}
}
