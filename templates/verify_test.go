package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// wantProblems compares what Verify found, in any order. Of a statement's refusal only the name counts.
func wantProblems(t *testing.T, what string, err error, want ...error) {
	t.Helper()
	if diff := cmp.Diff(described(want), described(problems(t, err))); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func problems(t *testing.T, err error) []error {
	t.Helper()
	if err == nil {
		return nil
	}
	all, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("Verify answered a %T, want one that unwraps into a list: %v", err, err)
	}
	var found []error
	for _, problem := range all.Unwrap() {
		if prefix := "verify in store " + store.StoreString + ": "; !strings.HasPrefix(problem.Error(), prefix) {
			t.Errorf("%q does not begin with %q", problem, prefix)
		}
		found = append(found, errors.Unwrap(problem))
	}
	return found
}

func described(problems []error) []string {
	var texts []string
	for _, problem := range problems {
		var statement *store.StatementError
		if errors.As(problem, &statement) {
			texts = append(texts, "StatementError "+statement.Name)
			continue
		}
		texts = append(texts, fmt.Sprintf("%T %s", problem, problem))
	}
	slices.Sort(texts)
	return texts
}

func missing(table, column string) error {
	return &store.SchemaError{Table: table, Column: column, Reason: "is missing"}
}

func noUnique(table, columns string) error {
	return &store.SchemaError{Table: table, Column: columns, Reason: "has no unique index (valid, immediate, of all rows)"}
}

// verifyAfter runs SQL in a transaction that is rolled back, and Verify in it, on a connection of their own: a statement
// that was prepared before goes on calling a function of the server's that was renamed since.
func (h *host) verifyAfter(t *testing.T, sql string) error {
	t.Helper()
	s, tx := h.begin(t, "")
	defer func() { must(t, tx.Conn().Close(t.Context())) }()
	if _, err := tx.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
	found := s.Verify(t.Context())
	usable(t, tx)
	return found
}

// tables are the store's four, with the columns of the unique index that each has.
func (h *host) tables() map[string]string {
	return map[string]string{h.charts: "content_hash", h.positions: "session_id", h.executions: "execution_id", h.inputs: "execution_id, seq"}
}

// searched says whether the tables resolve by search_path.
func searched() bool { return !strings.Contains(store.Schema, "CREATE SCHEMA") }

// enough are the grants that all verbs need.
func enough() []string {
	return []string{"SELECT, INSERT, UPDATE ON charts, positions, executions", "DELETE ON positions", "SELECT, INSERT ON inputs"}
}

func TestASoundStoreIsVerified(t *testing.T) {
	h := newHost(t)
	for _, mode := range execModes {
		must(t, h.store(t, pgtest.ExecMode(mode), pgtest.MaxConns(1)).Verify(t.Context()))
	}
	for _, level := range levels {
		must(t, h.store(t, pgtest.Isolation(level)).Verify(t.Context()))
		s, tx := h.begin(t, level)
		must(t, s.Verify(t.Context()))
		usable(t, tx)
	}
	must(t, h.store(t, pgtest.As(h.role(t, enough()...))).Verify(t.Context()))
}

// A host that has its own columns, indexes by other names, lengths on its texts or partitions has a sound store.
func TestWhatAHostAddsIsNoProblem(t *testing.T) {
	h := newHost(t)
	for _, sql := range []string{
		"ALTER TABLE " + h.charts + " ADD note text, ADD made int NOT NULL DEFAULT 1, ADD counted int NOT NULL GENERATED ALWAYS AS IDENTITY",
		"ALTER TABLE " + h.executions + " ALTER execution_id TYPE varchar(100)",
		h.dropUnique(t, h.charts) + "; CREATE UNIQUE INDEX ON " + h.charts + " (content_hash) INCLUDE (retired_at)",
		"ALTER TABLE " + h.positions + " RENAME TO behind; CREATE TABLE " + h.positions + " (LIKE " + h.renamed(h.positions, "behind") +
			" INCLUDING DEFAULTS) PARTITION BY HASH (session_id); CREATE UNIQUE INDEX ON " + h.positions + " (session_id)",
		h.dropUnique(t, h.inputs) + "; CREATE UNIQUE INDEX ON " + h.inputs + " (seq, execution_id)",
	} {
		if err := h.verifyAfter(t, sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// dropUnique drops the unique index that is not the primary key's.
func (h *host) dropUnique(t *testing.T, table string) string {
	t.Helper()
	return "DROP INDEX " + query[string](t, h, `SELECT indexrelid::regclass::text FROM pg_index
		WHERE indrelid = $1::regclass AND indisunique AND NOT indisprimary`, table)
}

// As CockroachDB has them: they answer.
func idleLock(function string) string {
	return fmt.Sprintf(`ALTER FUNCTION pg_catalog.%s(int, int) RENAME TO real_%[1]s;
		CREATE FUNCTION pg_catalog.%[1]s(int, int) RETURNS void LANGUAGE sql AS '';`, function)
}

func TestAdvisoryLocksThatDoNothingAreFound(t *testing.T) {
	h := newHost(t)
	shared, exclusive := idleLock("pg_advisory_xact_lock_shared"), idleLock("pg_advisory_xact_lock")
	wantProblems(t, "shared", h.verifyAfter(t, shared), &store.AdvisoryLockError{Shared: true})
	wantProblems(t, "exclusive", h.verifyAfter(t, exclusive), &store.AdvisoryLockError{Exclusive: true})
	wantProblems(t, "both", h.verifyAfter(t, shared+exclusive), &store.AdvisoryLockError{Shared: true, Exclusive: true})
}

func TestAStandbyIsFound(t *testing.T) {
	primary, standby := pgtest.Standby(t, store.Schema)
	must(t, store.New(primary.Pool(t)).Verify(t.Context()))
	wantProblems(t, "on a pool", store.New(standby.Pool(t)).Verify(t.Context()), &store.ReadOnlyError{Standby: true})
	tx, err := standby.Conn(t).Begin(t.Context())
	must(t, err)
	wantProblems(t, "in a host's transaction", store.New(nil).WithTx(tx).Verify(t.Context()), &store.ReadOnlyError{Standby: true})
	usable(t, tx)
}

func TestReadOnlyTransactionsAreFound(t *testing.T) {
	h := newHost(t)
	wantProblems(t, "sessions", h.store(t, pgtest.Setting("default_transaction_read_only", "on")).Verify(t.Context()), &store.ReadOnlyError{})
	wantProblems(t, "a host's transaction", h.verifyAfter(t, "SET TRANSACTION READ ONLY"), &store.ReadOnlyError{})
}

func TestEveryMissingTableIsFound(t *testing.T) {
	h := newHost(t)
	for table := range h.tables() {
		wantProblems(t, table, h.verifyAfter(t, "DROP TABLE "+table), missing(table, ""))
	}
	var all []error
	for table := range h.tables() {
		all = append(all, missing(table, ""))
	}
	wantProblems(t, "all", h.verifyAfter(t, "DROP TABLE "+strings.Join(slices.Collect(maps.Keys(h.tables())), ", ")), all...)
}

// The columns are read from the tables that the schema makes, leading ones among them. In each round every table lacks one.
func TestEveryMissingColumnAndEveryOtherTypeIsFound(t *testing.T) {
	h := newHost(t)
	type column struct{ Name, Type string }
	columns := map[string][]column{}
	rounds := 0
	for table := range h.tables() {
		columns[table] = query[[]column](t, h, `SELECT json_agg(json_build_object('Name', a.attname, 'Type', n.nspname || '.' || y.typname) ORDER BY a.attnum)
			FROM pg_attribute AS a JOIN pg_type AS y ON y.oid = a.atttypid JOIN pg_namespace AS n ON n.oid = y.typnamespace
			WHERE a.attrelid = $1::regclass AND a.attnum > 0`, table)
		rounds = max(rounds, len(columns[table]))
	}
	for round := range rounds {
		var drop, add string
		var lacks, differs, also []error
		for table, unique := range h.tables() {
			if round >= len(columns[table]) {
				continue
			}
			c := columns[table][round]
			quoted := pgx.Identifier{c.Name}.Sanitize()
			drop += "ALTER TABLE " + table + " DROP " + quoted + " CASCADE; "
			add += "ALTER TABLE " + table + " ADD " + quoted + " pg_catalog.money; "
			lacks = append(lacks, missing(table, c.Name))
			differs = append(differs, &store.SchemaError{Table: table, Column: c.Name, Reason: "is of type pg_catalog.money (want " + c.Type + ")"})
			if slices.Contains(strings.Split(unique, ", "), c.Name) {
				also = append(also, noUnique(table, unique))
			}
		}
		wantProblems(t, drop, h.verifyAfter(t, drop), append(lacks, also...)...)
		// Of some types the server then refuses statements as well.
		found := slices.DeleteFunc(problems(t, h.verifyAfter(t, drop+add)), func(err error) bool { return errors.As(err, new(*store.StatementError)) })
		if diff := cmp.Diff(described(append(differs, also...)), described(found)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", add, diff)
		}
	}
}

func TestUnfitColumnsAreFound(t *testing.T) {
	h := newHost(t)
	wantProblems(t, "a column that is to hold NULL", h.verifyAfter(t, "ALTER TABLE "+h.charts+" ALTER chart_blob SET NOT NULL"),
		&store.SchemaError{Table: h.charts, Column: "chart_blob", Reason: "is NOT NULL, and the store writes NULL"})
	wantProblems(t, "a column that the store does not know", h.verifyAfter(t, `ALTER TABLE `+h.executions+` ADD "who else" text NOT NULL`),
		&store.SchemaError{Table: h.executions, Column: "who else", Reason: "is NOT NULL without a default, and the store does not know it"})
}

func TestNondeterministicCollationsOfKeysAreFound(t *testing.T) {
	h := newHost(t)
	h.Exec(t, `CREATE COLLATION public.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`)
	for table, columns := range map[string][]string{
		h.charts: {"content_hash"}, h.positions: {"session_id", "content_hash"},
		h.executions: {"execution_id", "status", "content_hash", "session_id"}, h.inputs: {"execution_id"},
	} {
		for _, column := range columns {
			sql := "ALTER TABLE " + table + " ALTER " + column + " TYPE text COLLATE public.loose"
			wantProblems(t, sql, h.verifyAfter(t, sql),
				&store.SchemaError{Table: table, Column: column, Reason: "has a nondeterministic collation, so that two keys can be one"})
		}
	}
	if err := h.verifyAfter(t, "ALTER TABLE "+h.executions+" ALTER failure TYPE text COLLATE public.loose"); err != nil {
		t.Errorf("a text that is no key: %v", err)
	}
}

// Behind a view row-level security does not show, so that a tombstone could be hidden from the create.
func TestAViewIsNoTable(t *testing.T) {
	h := newHost(t)
	for table := range h.tables() {
		for kind, is := range map[string]string{"VIEW": "a view", "MATERIALIZED VIEW": "a materialized view"} {
			err := h.verifyAfter(t, "ALTER TABLE "+table+" RENAME TO behind; CREATE "+kind+" "+table+" AS SELECT * FROM "+h.renamed(table, "behind"))
			wantProblems(t, table+" as "+is, err, &store.SchemaError{Table: table, Reason: "is " + is + " (want a table)"})
		}
	}
}

// renamed is the table's name in its own schema.
func (h *host) renamed(table, name string) string {
	if searched() {
		return name
	}
	schema, _, _ := strings.Cut(strings.ReplaceAll(table, `""`, "\x00"), `".`)
	return strings.ReplaceAll(schema, "\x00", `""`) + `".` + name
}

func TestAMissingUniqueIndexIsFound(t *testing.T) {
	h := newHost(t)
	for table, columns := range h.tables() {
		index := fmt.Sprintf("INDEX ON %s (%s)", table, columns)
		for how, instead := range map[string]string{
			"none":       "",
			"not unique": "CREATE " + index,
			"partial":    "CREATE UNIQUE " + index + " WHERE inserted_at IS NOT NULL",
			"too wide":   fmt.Sprintf("CREATE UNIQUE INDEX ON %s (%s, inserted_at)", table, columns),
			"deferrable": fmt.Sprintf("ALTER TABLE %s ADD UNIQUE (%s) DEFERRABLE", table, columns),
			"invalid": "CREATE UNIQUE " + index + `; SET LOCAL allow_system_table_mods = on;
				UPDATE pg_index SET indisvalid = false WHERE NOT indisprimary AND indrelid = '` + strings.ReplaceAll(table, "'", "''") + `'::regclass`,
		} {
			wantProblems(t, table+": "+how, h.verifyAfter(t, h.dropUnique(t, table)+"; "+instead), noUnique(table, columns))
		}
	}
}

func TestAWrongSearchPathIsFound(t *testing.T) {
	h := newHost(t)
	decoy := func(schema, table string) string {
		return fmt.Sprintf("CREATE TABLE %s.%s (LIKE %[2]s INCLUDING ALL);", schema, table)
	}
	if !searched() {
		must(t, h.store(t, pgtest.Setting("search_path", "")).Verify(t.Context()))
		return
	}
	wrong := func(path, table, reason string) error {
		return &store.SearchPathError{Table: table, SearchPath: path, Reason: reason}
	}
	for table := range h.tables() {
		wantProblems(t, "a temporary table", h.verifyAfter(t, decoy("pg_temp", table)),
			wrong(`"$user", public`, table, "is a temporary one of the session's own"))
		if table != h.charts {
			wantProblems(t, "tables in two schemas", h.verifyAfter(t, "CREATE SCHEMA decoys;"+decoy("decoys", table)+"SET LOCAL search_path = decoys, public"),
				wrong("decoys, public", table, "is found in schema decoys, and the charts table in public"))
		}
	}
	h.Exec(t, "CREATE SCHEMA decoys;"+decoy("decoys", h.charts))
	nowhere := "is in no schema that is searched, but in public"
	wantProblems(t, "an empty path", h.store(t, pgtest.Setting("search_path", "")).Verify(t.Context()),
		wrong("", h.charts, "is in no schema that is searched, but in decoys, public"),
		wrong("", h.positions, nowhere), wrong("", h.executions, nowhere), wrong("", h.inputs, nowhere))
}

func TestRowSecurityThatWouldRefuseIsFound(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	bound := h.store(t, pgtest.As(h.role(t, enough()...)))
	var filtered []string
	for _, table := range []string{h.charts, h.positions, h.executions, h.inputs} {
		h.Exec(t, fmt.Sprintf(`ALTER TABLE %s ENABLE ROW LEVEL SECURITY; CREATE POLICY all_rows ON %[1]s USING (true)`, table))
		filtered = append(filtered, table)
		wantProblems(t, table, bound.Verify(t.Context()), &store.RowSecurityError{Tables: strings.Join(filtered, ", ")})
		must(t, free.Verify(t.Context())) // the owner is not bound
	}
}

func TestEveryMissingPrivilegeIsFound(t *testing.T) {
	h := newHost(t)
	for table, privileges := range map[string][]string{
		"charts": {"SELECT", "INSERT", "UPDATE"}, "executions": {"SELECT", "INSERT", "UPDATE"},
		"positions": {"SELECT", "INSERT", "UPDATE", "DELETE"}, "inputs": {"SELECT", "INSERT"},
	} {
		relation := map[string]string{"charts": h.charts, "executions": h.executions, "positions": h.positions, "inputs": h.inputs}[table]
		for _, privilege := range privileges {
			role := h.role(t, enough()...)
			h.Exec(t, "REVOKE "+privilege+" ON "+relation+" FROM "+role)
			wantProblems(t, privilege+" on "+table, h.store(t, pgtest.As(role)).Verify(t.Context()), &store.PrivilegeError{Object: relation, Privilege: privilege})
			if privilege != "INSERT" || table == "inputs" {
				continue
			}
			h.Exec(t, "GRANT INSERT (content_hash) ON "+relation+" TO "+role)
			must(t, h.store(t, pgtest.As(role)).Verify(t.Context())) // a grant of columns is the host's own care
		}
	}
}

func TestAMissingPrivilegeOnTheSchemaOrASequenceIsFound(t *testing.T) {
	h := newHost(t)
	role := h.role(t, enough()...)
	var want []error
	for _, table := range []string{h.charts, h.positions, h.executions, h.inputs} {
		if sequence := query[*string](t, h, `SELECT pg_get_serial_sequence($1, 'id')`, table); sequence != nil {
			h.Exec(t, "REVOKE ALL ON SEQUENCE "+*sequence+" FROM "+role)
			want = append(want, &store.PrivilegeError{Object: "SEQUENCE " + *sequence, Privilege: "USAGE"})
		}
	}
	wantProblems(t, "sequences", h.store(t, pgtest.As(role)).Verify(t.Context()), want...)

	schema := query[string](t, h, `SELECT quote_ident(nspname) FROM pg_namespace AS n JOIN pg_class AS c ON c.relnamespace = n.oid
		WHERE c.oid = $1::regclass`, h.charts)
	h.Exec(t, "REVOKE ALL ON SCHEMA "+schema+" FROM public, "+role)
	want = append(want, &store.PrivilegeError{Object: "SCHEMA " + schema, Privilege: "USAGE"})
	if searched() { // a schema that a role may not use is not searched
		want = nil
		for table := range h.tables() {
			want = append(want, &store.SearchPathError{Table: table, SearchPath: `"$user", public`, Reason: "is in no schema that is searched, but in " + schema})
		}
	}
	wantProblems(t, "the schema", h.store(t, pgtest.As(role)).Verify(t.Context()), want...)
}

// pg_blocking_pids is what LockInfo alone needs, timezone what every writer does.
func TestEveryStatementThatIsNotPreparedIsFound(t *testing.T) {
	h := newHost(t)
	const one = "ALTER FUNCTION pg_catalog.pg_blocking_pids(int) RENAME TO elsewhere"
	wantProblems(t, "one", h.verifyAfter(t, one), &store.StatementError{Name: "LockInfo"})
	const more = one + "; ALTER FUNCTION pg_catalog.timezone(text, timestamptz) RENAME TO elsewhere"
	want := []error{&store.StatementError{Name: "LockInfo"}}
	for _, writer := range []string{
		"AppendInput", "CreateExecution", "CreateExecutionForShare", "EndExecution", "RetireChart", "SaveChart", "SavePosition", "SavePositionForShare",
		"StepExecution", "UnparkExecution",
	} {
		want = append(want, &store.StatementError{Name: writer})
	}
	wantProblems(t, "more", h.verifyAfter(t, more), want...)
	var server *store.StatementError
	if err := h.verifyAfter(t, one); !errors.As(err, &server) || sqlState(server) != "42883" {
		t.Errorf("got %v, want the server's 42883 in it", err)
	}
}

// A server that refuses to be asked is told from one that answers badly, and the rest is asked all the same.
func TestAServerThatCannotBeAskedIsAProblemOfItsOwn(t *testing.T) {
	h := newHost(t)
	const (
		locks   = "ALTER FUNCTION pg_catalog.pg_advisory_xact_lock_shared(int, int) RENAME TO elsewhere;"
		listed  = "ALTER VIEW pg_catalog.pg_locks RENAME TO elsewhere;"
		session = "ALTER FUNCTION pg_catalog.pg_is_in_recovery() RENAME TO elsewhere;"
		tables  = "ALTER FUNCTION pg_catalog.row_security_active(oid) RENAME TO elsewhere;"
		indexes = "ALTER FUNCTION pg_catalog.pg_get_indexdef(oid, int, bool) RENAME TO elsewhere;"
		columns = "ALTER TABLE pg_catalog.pg_collation RENAME COLUMN collisdeterministic TO elsewhere;"
	)
	statement := func(name string) error { return &store.StatementError{Name: name} }
	wantProblems(t, "locks", h.verifyAfter(t, locks), statement("TakeProbeLocks"), statement("LockChartShared"), statement("LockChartsShared"))
	wantProblems(t, "the list of locks", h.verifyAfter(t, "SET LOCAL allow_system_table_mods = on;"+listed),
		statement("ProbeLocks"), statement("LockInfo"), statement("LockChartExclusiveJoined"))
	wantProblems(t, "the session", h.verifyAfter(t, session), statement("Session"))
	wantProblems(t, "tables", h.verifyAfter(t, tables), statement("TablesFound"))
	wantProblems(t, "indexes", h.verifyAfter(t, indexes), statement("UniqueIndexesFound"))
	wantProblems(t, "columns", h.verifyAfter(t, "SET LOCAL allow_system_table_mods = on;"+columns), statement("ColumnsFound"))
}

func TestAllProblemsAreFoundAtOnce(t *testing.T) {
	h := newHost(t)
	role := h.role(t, enough()...)
	h.Exec(t, idleLock("pg_advisory_xact_lock_shared")+idleLock("pg_advisory_xact_lock")+
		"ALTER FUNCTION pg_catalog.pg_blocking_pids(int) RENAME TO elsewhere;"+
		fmt.Sprintf("ALTER TABLE %s ENABLE ROW LEVEL SECURITY; ALTER TABLE %[1]s DROP retired_by; REVOKE UPDATE ON %[1]s FROM %s;", h.charts, role)+
		fmt.Sprintf("DROP TABLE %s; CREATE SCHEMA decoys; ALTER TABLE %s SET SCHEMA decoys", h.inputs, h.positions))
	moved := missing(h.positions, "")
	if searched() {
		moved = &store.SearchPathError{Table: h.positions, SearchPath: `"$user", public`, Reason: "is in no schema that is searched, but in decoys"}
	}
	want := []error{
		&store.AdvisoryLockError{Shared: true, Exclusive: true},
		&store.ReadOnlyError{},
		&store.RowSecurityError{Tables: h.charts},
		missing(h.charts, "retired_by"),
		missing(h.inputs, ""),
		moved,
		&store.PrivilegeError{Object: h.charts, Privilege: "UPDATE"},
		&store.StatementError{Name: "LockInfo"},
	}
	pool := h.store(t, pgtest.As(role), pgtest.MaxConns(1), pgtest.Setting("default_transaction_read_only", "on"))
	wantProblems(t, "on a pool", pool.Verify(t.Context()), want...)
	s, tx := h.begin(t, "", pgtest.As(role), pgtest.Setting("default_transaction_read_only", "on"))
	wantProblems(t, "in a host's transaction", s.Verify(t.Context()), want...)
	usable(t, tx)
}

func TestVerifyLeavesAHostsTransactionAsItWas(t *testing.T) {
	h := newHost(t)
	s, tx := h.begin(t, "")
	hash := mustSave(t, s)
	_, err := tx.Exec(t.Context(), "SAVEPOINT statigen_verify; ALTER FUNCTION pg_catalog.pg_blocking_pids(int) RENAME TO elsewhere", pgx.QueryExecModeSimpleProtocol)
	must(t, err)
	wantProblems(t, "one", s.Verify(t.Context()), &store.StatementError{Name: "LockInfo"})
	if n := h.AdvisoryLocks(t); n != len(keyspec.ChartKeys(store.LockKey, store.StoreString, hash)) {
		t.Errorf("%d advisory locks are held, want those of the chart", n)
	}
	_, err = tx.Exec(t.Context(), "ROLLBACK TO SAVEPOINT statigen_verify") // the host's own is the one that counts again
	must(t, err)
	must(t, s.Verify(t.Context()))
	must(t, tx.Commit(t.Context()))
	must(t, second(h.store(t).Chart(t.Context(), hash)))
}

// A transaction that has written has a number.
func TestVerifyWritesNothing(t *testing.T) {
	h := newHost(t)
	s, tx := h.begin(t, "")
	must(t, s.Verify(t.Context()))
	var number *string
	must(t, tx.QueryRow(t.Context(), "SELECT pg_current_xact_id_if_assigned()::text").Scan(&number))
	if number != nil {
		t.Errorf("the transaction has the number %s, so it has written", *number)
	}
}

// The key of a lock that Verify holds is nobody else's: another first half than the chart locks', and the session's own second.
func TestVerifyLocksAKeyOfItsOwn(t *testing.T) {
	h := newHost(t)
	_, holder := h.begin(t, "")
	_, err := holder.Exec(t.Context(), "LOCK TABLE "+h.charts)
	must(t, err)
	s, tx := h.begin(t, "")
	verified := make(chan error, 1)
	go func() { verified <- s.Verify(t.Context()) }()
	h.AwaitBlocked(t, pid(tx))
	keys := query[[]string](t, h, `SELECT array_agg(DISTINCT format('%s %s %s', classid, objid, objsubid)) FROM pg_locks
		WHERE locktype = 'advisory' AND pid = $1`, pid(tx))
	if want := []string{fmt.Sprint(store.Namespace+1, pid(tx), 2)}; !slices.Equal(keys, want) {
		t.Errorf("Verify holds locks on %q, want %q", keys, want)
	}
	must(t, holder.Rollback(t.Context()))
	must(t, <-verified)
}

func TestALostConnectionIsAnErrorBesideWhatWasFound(t *testing.T) {
	h := newHost(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantIs(t, h.store(t).Verify(ctx), context.Canceled)

	h.Exec(t, `ALTER FUNCTION pg_catalog.pg_advisory_xact_lock_shared(int, int) RENAME TO elsewhere;
		CREATE FUNCTION pg_catalog.pg_advisory_xact_lock_shared(int, int) RETURNS void LANGUAGE sql
		AS 'SELECT pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid())'`)
	err := h.store(t, pgtest.Setting("default_transaction_read_only", "on")).Verify(t.Context())
	wantAs[*store.ReadOnlyError](t, err)
	if found := problems(t, err); len(found) != 2 || sqlState(found[1]) != "57P01" {
		t.Errorf("found %q, want the server's 57P01 behind what was found before", found)
	}
}
