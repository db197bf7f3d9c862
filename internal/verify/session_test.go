package verify_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/pgtest"
	"github.com/statigen/statigen/internal/verify"
)

func TestAHotStandbyIsFound(t *testing.T) {
	h := host(t, "loans")
	primary, standby := pgtest.Standby(t, schema(t, h.Store))
	const text = "read_only: the server is a hot standby, and the verbs write (want the primary)"
	want(t, "primary", verified(t, primary.Conn(t), "", h))
	want(t, "standby", verified(t, standby.Conn(t), "", h), text)
	primary.Exec(t, "ALTER TABLE loans.statifier_charts DROP retired_by")
	pgtest.AwaitReplay(t, primary, standby)
	want(t, "standby", verified(t, standby.Conn(t), "", h), text, "column: "+charts+`column "retired_by" is missing`)
}

func TestReadOnlyTransactionsAreFound(t *testing.T) {
	h := host(t, "loans")
	db := pgtest.New(t, schema(t, h.Store))
	want(t, "by the client", verified(t, db.Conn(t, pgtest.Setting("default_transaction_read_only", "on")), "", h),
		"read_only: transactions are read-only (default_transaction_read_only, set by: client)")
	db.Exec(t, "ALTER DATABASE "+db.Name()+" SET default_transaction_read_only = on")
	conn := db.Conn(t)
	found := verified(t, conn, "", h)
	want(t, "by the database", found, "read_only: transactions are read-only (default_transaction_read_only, set by: database)")
	exec(t, conn, "SET default_transaction_read_only = off")
	mend(t, conn, found)
	want(t, "mended", verified(t, db.Conn(t), "", h))
}

// As CockroachDB has them: they answer.
func TestAdvisoryLocksThatDoNothingAreFound(t *testing.T) {
	h := host(t, "loans")
	conn := pgtest.New(t, schema(t, h.Store)).Conn(t)
	exec(t, conn, "SET allow_system_table_mods = on")
	const behind = ", and a retirement would exclude nothing (want Postgres)"
	for _, step := range []struct{ function, text string }{
		{"pg_advisory_xact_lock_shared", "advisory_locks: the server takes no shared advisory lock" + behind},
		{"pg_advisory_xact_lock", "advisory_locks: the server takes no advisory locks" + behind},
	} {
		exec(t, conn, fmt.Sprintf(`ALTER FUNCTION pg_catalog.%s(int, int) RENAME TO real_%[1]s;
			CREATE FUNCTION pg_catalog.%[1]s(int, int) RETURNS void LANGUAGE sql AS ''`, step.function))
		want(t, step.function, verified(t, conn, "", h), step.text)
	}
}

// Whatever a session is set to, the answer is the same.
func TestNoSettingChangesTheAnswer(t *testing.T) {
	h := host(t, "loans")
	db := pgtest.New(t, schema(t, h.Store))
	db.Exec(t, `ALTER TABLE loans.statifier_charts DROP retired_by;
		CREATE SCHEMA decoys; CREATE TABLE decoys.pg_class (oid oid); CREATE TABLE decoys.pg_attribute (x int);
		CREATE FUNCTION decoys.quote_ident(text) RETURNS text LANGUAGE sql AS $$ SELECT 'decoy' $$;
		CREATE FUNCTION decoys.same(oid, oid) RETURNS bool LANGUAGE sql AS $$ SELECT false $$;
		CREATE OPERATOR decoys.= (LEFTARG = oid, RIGHTARG = oid, FUNCTION = decoys.same)`)
	settings := map[string]string{
		"search_path": "decoys, pg_catalog", "default_transaction_isolation": "serializable",
		"standard_conforming_strings": "off", "quote_all_identifiers": "on", "plan_cache_mode": "force_generic_plan", "row_security": "off",
	}
	for name, value := range settings {
		want(t, name, verified(t, db.Conn(t, pgtest.Setting(name, value)), "", h), "column: "+charts+`column "retired_by" is missing`)
	}
	conn := db.Conn(t)
	exec(t, conn, "CREATE TEMPORARY TABLE pg_class (oid oid); CREATE TEMPORARY TABLE pg_attribute (x int)")
	want(t, "temporary decoys", verified(t, conn, "", h), "column: "+charts+`column "retired_by" is missing`)
}

// A statement_timeout is for an application's statements. Verify waits longer where somebody has a table locked.
func TestAStatementTimeoutDoesNotEndIt(t *testing.T) {
	h := host(t, "loans")
	db := pgtest.New(t, schema(t, h.Store))
	holder, conn := db.Conn(t), db.Conn(t, pgtest.Setting("statement_timeout", "500"))
	exec(t, holder, "BEGIN; LOCK TABLE loans.statifier_charts")
	found := make(chan error, 1)
	go func() {
		_, err := verify.Run(t.Context(), conn, verify.Job{Subjects: []verify.Subject{h}})
		found <- err
	}()
	db.AwaitBlocked(t, conn.PgConn().PID())
	exec(t, holder, "SELECT pg_sleep(0.8); ROLLBACK")
	if err := <-found; err != nil {
		t.Error(err)
	}
}

// Nothing is written, and no lock is left.
func TestVerifyLeavesNothingBehind(t *testing.T) {
	h := host(t, "loans")
	db := pgtest.New(t, schema(t, h.Store))
	conn := db.Conn(t)
	verified(t, conn, "", h)
	if status := conn.PgConn().TxStatus(); status != 'I' {
		t.Errorf("the connection's status is %q, want idle", status)
	}
	if n := db.AdvisoryLocks(t); n != 0 {
		t.Errorf("%d advisory locks are left", n)
	}
}

func copied(schema string, tables ...string) string {
	text := "CREATE SCHEMA IF NOT EXISTS " + schema + ";"
	for _, table := range tables {
		text += fmt.Sprintf("CREATE TABLE %s.%s (LIKE public.%[2]s INCLUDING ALL);", schema, table)
	}
	return text
}

func TestWhatTheSearchPathFindsIsJudged(t *testing.T) {
	h := host(t, "plain")
	all := []string{"statifier_charts", "statifier_positions", "statifier_executions", "statifier_inputs"}
	const shadows = `shadows a table of the same name: the search_path leads on to "other" (want one table of the name in it, or a prefix in the config)`
	for name, c := range map[string]struct {
		sql, path string
		want      []string
	}{
		"behind": {copied("other", all[3]), "public, other", []string{`search_path: "public"."statifier_inputs": ` + shadows}},
		"ahead": {copied("other", all[2]), "other, public", []string{`search_path: "statifier_charts": and the tables that belong to it are found in different schemas: ` +
			`"public"."statifier_charts", "public"."statifier_positions", "other"."statifier_executions", "public"."statifier_inputs" (want one)`}},
		"elsewhere": {"CREATE SCHEMA empty", "empty", []string{`search_path: "statifier_charts": is in no schema that is searched ("empty"), but in "public"`}},
		"nowhere":   {"", "nothere", []string{`search_path: "statifier_charts": cannot be found or made: no schema that is there is in the search_path (want one, or a prefix in the config)`}},
		"fine":      {"CREATE SCHEMA other", "other, public", nil},
	} {
		t.Run(name, func(t *testing.T) {
			db := pgtest.New(t, schema(t, h.Store))
			role := db.Role(t, "ALTER ROLE %s SUPERUSER")
			db.Exec(t, c.sql+"; ALTER ROLE "+role+" SET search_path TO "+c.path)
			conn := db.Conn(t, pgtest.As(role))
			found := verified(t, conn, "", h)
			want(t, c.path, found, c.want...)
			if name == "nowhere" {
				return // where the tables are to be, only the host knows
			}
			mend(t, conn, found)
			want(t, "mended", verified(t, db.Conn(t, pgtest.As(role)), "", h))
		})
	}
}

func TestATemporaryTableIsFoundAndMended(t *testing.T) {
	h := host(t, "plain")
	conn := pgtest.New(t, schema(t, h.Store)).Conn(t)
	exec(t, conn, "CREATE TEMPORARY TABLE statifier_inputs (LIKE public.statifier_inputs)")
	found := verified(t, conn, "", h)
	want(t, "temporary", found, `search_path: "statifier_inputs": is a temporary table of the session's own, which comes before every other`)
	mend(t, conn, found)
	want(t, "mended", verified(t, conn, "", h))
}

// Sharing a key is worth a note. A namesake that a prefixed store of the config has takes another key.
func TestASharedKeyIsNoted(t *testing.T) {
	plain, loans := host(t, "plain"), host(t, "loans")
	conn := pgtest.New(t, schema(t, plain.Store)+schema(t, loans.Store)+copied("tenant", "statifier_charts")).Conn(t)
	found := verified(t, conn, "", plain, loans)
	want(t, "shared", found, `shared_key: "public"."statifier_charts": has a namesake in "tenant": a store without a prefix there takes the same lock keys, and each waits for the other's charts. `+
		"Nothing worse comes of it")
	if !found[0].Note {
		t.Error("it is no note")
	}
}

// The config holds that the two lie in different schemas, and they do not.
func TestTwoKeysForOneTableAreFound(t *testing.T) {
	plain, loans := host(t, "plain"), host(t, "loans")
	conn := pgtest.New(t, schema(t, loans.Store)).Conn(t, pgtest.Setting("search_path", "loans"))
	found := verified(t, conn, "", plain, loans)
	if len(found) != 1 || found[0].Kind != verify.TwoKeys || !strings.Contains(found[0].Text, `is the table of the store loans too, whose store string is "loans"."statifier_charts"`) {
		t.Errorf("found %q", lines(found))
	}
}
