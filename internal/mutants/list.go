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
)

func mutants() []mutant {
	const (
		race      = "TestNoRaceStrandsAnExecution"
		stranded  = "were retired under a live execution"
		waits     = "TestWhatWaitsOnWhat"
		security  = "TestRowSecurityThatCouldHideSomethingIsRefused"
		upgrade   = "TestReadThenRetireIsRefusedBeforeItWaits"
		timesOut  = "TestARetirementThatTimesOutGivesTheTransactionBack"
		explore   = "internal/explore:"
		needed    = "retired charts are still needed"
		commitErr = "TestAnErrorAtCommitIsReported"
		pins      = "TestEveryKindOfPinKeepsAChart"
	)
	return []mutant{
		{
			name: "shared lock removed", file: locksSQL, test: race, says: stranded,
			old: "SELECT {{lock_chart_shared}};", new: "SELECT @content_hash::pg_catalog.text;",
		},
		{
			name: "shared lock removed, a create explored", file: locksSQL, test: explore + "TestCreateAgainstRetire", says: needed,
			old: "SELECT {{lock_chart_shared}};", new: "SELECT @content_hash::pg_catalog.text;",
		},
		{
			name: "shared lock removed, a save explored", file: locksSQL, test: explore + "TestSaveAgainstRetire", says: " overlap\n",
			old: "SELECT {{lock_chart_shared}};", new: "SELECT @content_hash::pg_catalog.text;",
		},
		{
			name: "shared lock removed, two explored", file: locksSQL, test: explore + "TestTwoCreatesAgainstRetire", says: needed,
			old: "SELECT {{lock_chart_shared}};", new: "SELECT @content_hash::pg_catalog.text;",
		},
		{
			name: "exclusive lock removed, explored", file: locksSQL, test: explore + "TestCreateAgainstRetire", says: needed,
			old: "WHEN {{lock_chart_exclusive}} THEN", new: "WHEN true THEN",
		},
		{
			name: "tombstone check gone, explored", file: executionsSQL, test: explore + "TestCreateAgainstRetire", says: needed,
			old: `AND c."retired_at" IS NOT NULL)`, new: `AND false)`,
		},
		{
			name: "isolation guard gone, explored", file: executionsSQL, test: explore + "TestCreateAgainstRetire", says: needed,
			old: "  AND {{read_committed}}\n", new: "",
		},
		{
			name: "lock and write in one statement", file: executionsSQL, test: explore + "TestCreateAgainstRetire", says: needed,
			old: "FROM {{now}} AS t\n", new: "FROM {{now}} AS t CROSS JOIN (SELECT {{lock_chart_shared}}) AS l\n",
			also: &mutant{file: locksSQL, old: "SELECT {{lock_chart_shared}};", new: "SELECT @content_hash::pg_catalog.text;"},
		},
		{
			name: "exclusive lock removed", file: locksSQL, test: race, says: stranded,
			old: "WHEN {{lock_chart_exclusive}} THEN", new: "WHEN true THEN",
		},
		{
			name: "shared for exclusive", file: holes, test: waits, says: "waits = ",
			old: `calls("pg_advisory_xact_lock", "`, new: `calls("pg_advisory_xact_lock_shared", "`,
		},
		{
			name: "exclusive for shared", file: holes, test: waits, says: "waits = ",
			old: `calls("pg_advisory_xact_lock_shared", "`, new: `calls("pg_advisory_xact_lock", "`,
		},
		{
			name: "tombstone check gone", file: executionsSQL, test: waits, says: "want retired",
			old: `AND c."retired_at" IS NOT NULL)`, new: `AND false)`,
		},
		{
			name: "isolation guard of the create gone", file: executionsSQL, test: waits, says: "want 40001",
			old: "  AND {{read_committed}}\n", new: "",
		},
		{
			name: "isolation guard of the retirement gone", file: locksSQL, test: waits, says: "want isolation",
			old: "WHEN NOT ({{read_committed}}) THEN", new: "WHEN false THEN",
		},
		{
			name: "row lock at the higher levels gone", file: executionsSQL, test: waits, says: "want 40001",
			old: "  FOR SHARE\n", new: "",
		},
		{
			name: "row lock of the read gone", file: chartsSQL, test: waits, says: "want 40001",
			old: "\nFOR SHARE;", new: ";",
		},
		{
			name: "weaker row lock", file: executionsSQL, test: waits, says: "want 40001",
			old: "  FOR SHARE\n", new: "  FOR KEY SHARE\n",
		},
		{
			name: "row-security guard of the create gone", file: executionsSQL, test: security, says: "want a *RowSecurityError",
			old: "  AND NOT {{charts_filtered}}\n", new: "",
		},
		{
			name: "row-security guard of the save gone", file: chartsSQL, test: "TestASaveBehindRowSecurityWritesNothing", says: "was written",
			old: "  WHERE NOT {{charts_filtered}}\n", new: "",
		},
		{
			name: "row-security guard of the retirement gone", file: retireSQL, test: security, says: "want a *RowSecurityError",
			old: "    AND t.filtered OPERATOR(pg_catalog.=) ''\n", new: "",
		},
		{
			name: "marker ignored", file: retireSQL, test: upgrade, says: "want a *store.LockUpgradeError",
			old: "    AND t.lock OPERATOR(pg_catalog.=) ('held ' OPERATOR(pg_catalog.||) @content_hash::pg_catalog.text)\n", new: "",
		},
		{
			name: "upgrade check gone", file: locksSQL, test: upgrade, says: "want a *store.LockUpgradeError",
			old: "WHEN h.upgrades AND", new: "WHEN false AND",
		},
		{
			name: "an upgrade waits", file: holes, test: upgrade, says: "no lock within",
			old: `calls("pg_try_advisory_xact_lock", "", " AND ")`, new: `calls("pg_advisory_xact_lock", " IS NOT NULL", " AND ")`,
		},
		{
			name: "an allowed upgrade waits for a second key", file: locksSQL, test: upgrade, says: "want a *store.LockUpgradeError",
			old: "WHEN h.shared AND @allow_upgrade::pg_catalog.bool THEN CASE", new: "WHEN false AND @allow_upgrade::pg_catalog.bool THEN CASE",
		},
		{
			name: "timeout not put back", file: locked, test: timesOut, says: "lock_timeout = ",
			old: "after:     []step{putSettingsBack, statement", new: "after:     []step{statement",
		},
		{
			name: "savepoint left out", file: locked, test: timesOut, says: "current transaction is aborted",
			old: "savepoint: true,", new: "savepoint: false,",
		},
		{
			name: "Close not checked", file: conn, test: commitErr, says: "want the constraint's own 23503",
			old: "\terr := x.results.Close()\n", new: "\terr := error(nil)\n\t_ = x.results.Close()\n",
		},
		{
			name: "now() for clock_timestamp()", file: holes, test: "TestTimesAreFromAfterTheWait", says: "from before",
			old: "pg_catalog.clock_timestamp()", new: "pg_catalog.now()",
		},
		{
			name: "now() in the retirement", file: retireSQL, test: "TestTimesAreFromAfterTheWait", says: "from before",
			old: "pg_catalog.clock_timestamp()", new: "pg_catalog.now()",
		},
		{
			name: "execution lock after the chart's", file: locked, test: "TestA10EveryMethodSendsItsStatementsBehindItsLock", says: "the execution lock comes behind the chart's",
			old: "takeExecution(executionID), takeShared(contentHash)", new: "takeShared(contentHash), takeExecution(executionID)",
		},
		{
			name: "active executions not counted", file: retireSQL, test: pins, says: "an_active_execution",
			old: "    l.active OPERATOR(pg_catalog.+) l.needs_migration", new: "    l.needs_migration",
		},
		{
			name: "parked executions not counted", file: retireSQL, test: pins, says: "a_parked_execution",
			old: "    l.active OPERATOR(pg_catalog.+) l.needs_migration", new: "    l.active",
		},
		{
			name: "positions not counted", file: retireSQL, test: pins, says: "a_position",
			old: " OPERATOR(pg_catalog.+) p.positions OPERATOR(pg_catalog.+) c.children AS pins", new: " OPERATOR(pg_catalog.+) c.children AS pins",
		},
		{
			name: "children not counted", file: retireSQL, test: pins, says: "a_terminal_child",
			old: " OPERATOR(pg_catalog.+) c.children AS pins", new: " AS pins",
		},
		{
			name: "reads sent by themselves", file: locked, test: "TestReadsBehindPoolingAreNotMixedUp", says: "describe exec, ",
			old: "return New(&locked{conn: c}) }", new: "if c.pool != nil { return New(c.pool) }; return New(&locked{conn: c}) }",
		},
		{
			name: "generic plan", file: locksSQL, test: "TestARetirementIsNeverRunByAGenericPlan", says: "ran by a generic plan",
			old: "'force_custom_plan'", new: "'auto'",
		},
		{
			name: "commit of the second try not checked", file: storeGo, test: "TestTheSecondTryOnAPoolIsAsGoodAsTheFirst", says: "want the deferred constraint's 23503",
			old: "if err := tx.Commit(ctx); err != nil {", new: "if err := tx.Commit(ctx); false {",
		},
		{
			name: "lock_timeout set for the session", file: locksSQL, test: "TestNothingASessionKeepsIsChanged", says: "lock_timeout is now",
			old: "set_config('lock_timeout', @lock_timeout::pg_catalog.text, true)", new: "set_config('lock_timeout', @lock_timeout::pg_catalog.text, false)",
		},
		{
			name: "the host's savepoint taken for ours", file: locked, test: "TestAHostsSavepointOfOurNameIsLeftAlone", says: "the transaction goes on",
			old: "l.savepoint && x.begun && errors.As", new: "l.savepoint && errors.As",
		},
		{
			name: "hashtext left to the search_path", file: holes, test: "TestA02DecoysInTheSearchPath", says: "decoy function hashtext",
			old: `byStore := "pg_catalog.hashtext(`, new: `byStore := "hashtext(`,
		},
		{
			name: "no second try on a pool", file: storeGo, test: waits, says: "second side answered",
			old: "if s.conn.Pool() == nil || !wantsReadCommitted(err) {", new: "if true {",
		},
		{
			name: "probe on a chart's key", file: holes, test: "TestEveryMethodSendsItsStatementsBehindItsLock", says: "verifies: took a lock",
			old: "strconv.Itoa(int(keyspec.Namespace) + 1)", new: "namespace",
		},
		{
			name: "idle shared locks not seen", file: verifyGo, test: "TestAdvisoryLocksThatDoNothingAreFound", says: "no shared advisory lock",
			old: "!taken.Shared || !taken.Exclusive", new: "!taken.Exclusive",
		},
		{
			name: "idle exclusive locks not seen", file: verifySQL, test: "TestAdvisoryLocksThatDoNothingAreFound", says: "no exclusive advisory lock",
			old: "OPERATOR(pg_catalog.=) 'ExclusiveLock'", new: "OPERATOR(pg_catalog.=) ANY ('{ExclusiveLock,ShareLock}'::pg_catalog.text[])",
		},
		{
			name: "standby not told apart", file: verifySQL, test: "TestAStandbyIsFound", says: "hot standby",
			old: "pg_catalog.pg_is_in_recovery()", new: "false",
		},
		{
			name: "read-only not seen", file: verifyGo, test: "TestReadOnlyTransactionsAreFound", says: "transactions are read-only",
			old: "row.Standby || row.ReadOnly", new: "row.Standby",
		},
		{
			name: "view taken for a table", file: verifyTables, test: "TestAViewIsNoTable", says: "is a view",
			old: `table.Kind != "r" && table.Kind != "p"`, new: "false",
		},
		{
			name: "temporary table not seen", file: verifyTables, test: "TestAWrongSearchPathIsFound", says: "is a temporary one",
			old: "case table.Temporary:", new: "case false:",
		},
		{
			name: "tables of two schemas not seen", file: verifyTables, test: "TestAWrongSearchPathIsFound", says: "is found in schema decoys",
			old: `charts.Schema != "" && !charts.Temporary`, new: "false",
		},
		{
			name: "row security not looked at", file: verifySQL, test: "TestRowSecurityThatWouldRefuseIsFound", says: "row-level security filters",
			old: "pg_catalog.row_security_active(c.oid)", new: "false",
		},
		{
			name: "privileges not looked at", file: verifyTables, test: "TestEveryMissingPrivilegeIsFound", says: "the role has no UPDATE",
			old: "if !may[privilege] {", new: "if !may[privilege] && false {",
		},
		{
			name: "types not looked at", file: verifyTables, test: "TestEveryMissingColumnAndEveryOtherTypeIsFound", says: "is of type",
			old: "case !sameType(row.Type, w.typ):", new: "case false:",
		},
		{
			name: "collations not looked at", file: verifyTables, test: "TestNondeterministicCollationsOfKeysAreFound", says: "nondeterministic collation",
			old: "w.key && !row.Deterministic", new: "false",
		},
		{
			name: "invalid index taken", file: verifySQL, test: "TestAMissingUniqueIndexIsFound", says: "has no unique index",
			old: " AND i.indisvalid", new: "",
		},
		{
			name: "deferrable index taken", file: verifySQL, test: "TestAMissingUniqueIndexIsFound", says: "has no unique index",
			old: " AND i.indimmediate", new: "",
		},
		{
			name: "partial index taken", file: verifySQL, test: "TestAMissingUniqueIndexIsFound", says: "has no unique index",
			old: " AND i.indpred IS NULL", new: "",
		},
		{
			name: "statements not prepared", file: aside, test: "TestEveryStatementThatIsNotPreparedIsFound", says: "StatementError LockInfo",
			old: `_, err = a.tx.Prepare(ctx, "", sql)`, new: "_ = sql",
		},
		{
			name: "one refusal spoils the rest", file: aside, test: "TestAllProblemsAreFoundAtOnce", says: "StatementError",
			old: `a.tx.Exec(ctx, "ROLLBACK TO SAVEPOINT "+asideSavepoint)`, new: `a.tx.Exec(ctx, "-- "+asideSavepoint)`,
		},
		{
			name: "a statement is not verified", file: aside, test: "TestVerifyPreparesEveryEmittedStatement", says: "-emitted +listed",
			old: "\t\tretireChart,\n", new: "",
		},
	}
}
