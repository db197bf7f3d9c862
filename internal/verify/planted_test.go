package verify_test

import (
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/pgtest"
	"github.com/statigen/statigen/internal/verify"
)

// planted is a difference: what is done to a good database, and all that is found then, a line each.
type planted struct {
	name, sql string
	want      []string
}

const (
	charts     = `"loans"."statifier_charts": `
	positions  = `"loans"."statifier_positions": `
	executions = `"loans"."statifier_executions": `
	inputs     = `"loans"."statifier_inputs": `
)

func tablesPlanted() []planted {
	return []planted{
		{"a missing table", "DROP TABLE loans.statifier_positions", []string{"table: " + positions + "is missing"}},
		{
			"an unlogged table", "ALTER TABLE loans.statifier_positions SET UNLOGGED",
			[]string{"table: " + positions + "is unlogged, and a crash empties it (want a logged table)"},
		},
		{"a missing column", "ALTER TABLE loans.statifier_charts DROP retired_by", []string{"column: " + charts + `column "retired_by" is missing`}},
		{"a missing leading column", "ALTER TABLE loans.statifier_inputs DROP shard", []string{"column: " + inputs + `column "shard" is missing`}},
		{"a missing column that must have a value", "ALTER TABLE loans.statifier_inputs DROP door", []string{"column: " + inputs + `column "door" is missing`}},
		{"a missing id", "ALTER TABLE loans.statifier_inputs DROP id", []string{"column: " + inputs + `column "id" is missing`}},
		{
			"another type", "ALTER TABLE loans.statifier_executions ALTER failure TYPE bytea USING NULL",
			[]string{"column: " + executions + `column "failure" is pg_catalog.bytea (want pg_catalog.text)`},
		},
		{
			"a type with a time zone", "ALTER TABLE loans.statifier_charts ALTER inserted_at TYPE timestamptz",
			[]string{"column: " + charts + `column "inserted_at" is pg_catalog.timestamptz (want pg_catalog.timestamp)`},
		},
		{
			"json for jsonb", "DROP INDEX loans.statifier_executions_metadata_gin_index; ALTER TABLE loans.statifier_executions ALTER metadata TYPE json",
			[]string{
				"column: " + executions + `column "metadata" is pg_catalog.json (want pg_catalog.jsonb)`,
				"index: " + executions + `index "statifier_executions_metadata_gin_index" is missing`,
			},
		},
		{
			"a type and a default of it", "ALTER TABLE loans.statifier_inputs ALTER seq TYPE text, ALTER seq SET DEFAULT 'x'",
			[]string{"column: " + inputs + `column "seq" is pg_catalog.text (want pg_catalog.int8)`},
		},
		{
			"a number that the server counts", "ALTER TABLE loans.statifier_inputs ALTER seq ADD GENERATED ALWAYS AS IDENTITY",
			[]string{"column: " + inputs + `column "seq" is bigserial (want pg_catalog.int8)`},
		},
		{
			"a generated column", "ALTER TABLE loans.statifier_charts DROP retired_by, ADD retired_by text GENERATED ALWAYS AS ('x') STORED",
			[]string{"column: " + charts + `column "retired_by" has the default GENERATED ALWAYS AS ('x'::text) (want no default)`},
		},
		{
			"another collation", `ALTER TABLE loans.statifier_charts ALTER content_hash TYPE text COLLATE "C"`,
			[]string{"column: " + charts + `column "content_hash" is pg_catalog.text COLLATE "pg_catalog"."C" (want pg_catalog.text)`},
		},
		{
			"no collation", `ALTER TABLE loans.statifier_charts ALTER region TYPE text COLLATE "default"`,
			[]string{"column: " + charts + `column "region" is pg_catalog.text (want pg_catalog.text COLLATE "pg_catalog"."C")`},
		},
		{
			"a column that may be NULL", "ALTER TABLE loans.statifier_executions ALTER status DROP NOT NULL",
			[]string{"column: " + executions + `column "status" may be NULL (want NOT NULL)`},
		},
		{
			"a column that may not", "ALTER TABLE loans.statifier_charts ALTER chart_blob SET NOT NULL",
			[]string{"column: " + charts + `column "chart_blob" is NOT NULL (want it to take NULL)`},
		},
		{
			"no default", "ALTER TABLE loans.statifier_charts ALTER region DROP DEFAULT",
			[]string{"column: " + charts + `column "region" has no default (want the default E'it''s \\ eu'::pg_catalog.text)`},
		},
		{
			"another default", "ALTER TABLE loans.statifier_charts ALTER region SET DEFAULT 'us'",
			[]string{"column: " + charts + `column "region" has the default 'us'::text (want the default E'it''s \\ eu'::pg_catalog.text)`},
		},
		{
			"a default that is not wanted", "ALTER TABLE loans.statifier_charts ALTER inserted_at SET DEFAULT now()",
			[]string{"column: " + charts + `column "inserted_at" has the default now() (want no default)`},
		},
		{
			"a column that refuses every row", `ALTER TABLE loans.statifier_inputs ADD "who else" text NOT NULL`,
			[]string{"column: " + inputs + `column "who else" is NOT NULL without a default, and the store does not know it: no row can be written (want a default, or NULL allowed)`},
		},
		{
			"no primary key", "ALTER TABLE loans.statifier_charts DROP CONSTRAINT statifier_charts_pkey",
			[]string{"primary_key: " + charts + `has no primary key (want one on "id")`},
		},
		{
			"another primary key", "ALTER TABLE loans.statifier_charts DROP CONSTRAINT statifier_charts_pkey, ADD CONSTRAINT odd PRIMARY KEY (content_hash, id)",
			[]string{"primary_key: " + charts + `has a primary key on "content_hash", "id" (want one on "id")`},
		},
	}
}

func indexesPlanted() []planted {
	const (
		unique  = `"statifier_charts_content_hash_index"`
		dropped = "DROP INDEX loans.statifier_charts_content_hash_index;"
	)
	return []planted{
		{"a missing index", "DROP INDEX loans.statifier_executions_ended_at_index", []string{"index: " + executions + `index "statifier_executions_ended_at_index" is missing`}},
		{
			"an index of our own that is missing", "DROP INDEX loans.statifier_executions_live_content_hash_index",
			[]string{"index: " + executions + `index "statifier_executions_live_content_hash_index" is missing`},
		},
		{
			"an index of other columns", "DROP INDEX loans.statifier_executions_ended_at_index; CREATE INDEX statifier_executions_ended_at_index ON loans.statifier_executions (inserted_at)",
			[]string{"index: " + executions + `index "statifier_executions_ended_at_index" is btree ("inserted_at") (want btree ("ended_at"))`},
		},
		{
			"another operator class", "DROP INDEX loans.statifier_executions_metadata_gin_index; CREATE INDEX statifier_executions_metadata_gin_index ON loans.statifier_executions USING gin (metadata)",
			[]string{"index: " + executions + `index "statifier_executions_metadata_gin_index" is gin ("metadata") (want gin ("metadata" pg_catalog.jsonb_path_ops))`},
		},
		{
			"another method", "DROP INDEX loans.statifier_positions_content_hash_index; CREATE INDEX statifier_positions_content_hash_index ON loans.statifier_positions USING hash (content_hash)",
			[]string{"index: " + positions + `index "statifier_positions_content_hash_index" is hash ("content_hash") (want btree ("content_hash"))`},
		},
		{
			"an index that is not unique", dropped + "CREATE INDEX statifier_charts_content_hash_index ON loans.statifier_charts (content_hash)",
			[]string{"index: " + charts + "index " + unique + ` is btree ("content_hash") (want unique btree ("content_hash"))`},
		},
		{
			"an index of some rows", dropped + "CREATE UNIQUE INDEX statifier_charts_content_hash_index ON loans.statifier_charts (content_hash) WHERE retired_at IS NULL",
			[]string{"index: " + charts + "index " + unique + ` is unique btree ("content_hash") WHERE (retired_at IS NULL) (want unique btree ("content_hash"))`},
		},
		{
			"an index that is not valid", "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'loans.statifier_charts_content_hash_index'::regclass",
			[]string{"index: " + charts + "index " + unique + ` is not valid (want unique btree ("content_hash"))`},
		},
		{
			"a constraint that waits", dropped + "ALTER TABLE loans.statifier_charts ADD CONSTRAINT statifier_charts_content_hash_index UNIQUE (content_hash) DEFERRABLE",
			[]string{"index: " + charts + "index " + unique + ` is deferrable unique btree ("content_hash") (want unique btree ("content_hash"))`},
		},
		{
			"a constraint that waits, beside the index", "ALTER TABLE loans.statifier_charts ADD CONSTRAINT waits UNIQUE (content_hash) DEFERRABLE",
			[]string{"index: " + charts + `index "waits" is deferrable unique btree ("content_hash"), and ON CONFLICT on its columns fails (want it gone)`},
		},
		{
			"another name", "ALTER INDEX loans.statifier_inputs_execution_id_seq_index RENAME TO mine",
			[]string{"index: " + inputs + `index "statifier_inputs_execution_id_seq_index" has the name "mine"`},
		},
		{
			"a name that the server cut", "ALTER INDEX loans.statifier_inputs_execution_id_seq_index RENAME TO " + strings.Repeat("x", 70),
			[]string{"index: " + inputs + `index "statifier_inputs_execution_id_seq_index" has the name "` + strings.Repeat("x", 63) + `"`},
		},
		{
			"an index that refuses rows", "CREATE UNIQUE INDEX one_a_session ON loans.statifier_executions (session_id)",
			[]string{"index: " + executions + `index "one_a_session" is unique btree ("session_id"), and is not the store's: it refuses rows that the store may write (want it gone)`},
		},
		{
			"a constraint that refuses rows", "ALTER TABLE loans.statifier_executions ADD CONSTRAINT one_a_chart UNIQUE (tenant_id, content_hash)",
			[]string{"index: " + executions + `index "one_a_chart" is unique btree ("tenant_id", "content_hash"), and is not the store's: it refuses rows that the store may write (want it gone)`},
		},
		{"two differences in two tables", "ALTER TABLE loans.statifier_charts DROP shard; DROP INDEX loans.statifier_positions_session_id_index", []string{
			"column: " + charts + `column "shard" is missing`,
			"index: " + positions + `index "statifier_positions_session_id_index" is missing`,
		}},
	}
}

// Each difference is found, and nothing else is; and the SQL that is printed mends it.
func TestEveryPlantedDifferenceIsFoundAndMended(t *testing.T) {
	h := host(t, "loans")
	for _, p := range append(tablesPlanted(), indexesPlanted()...) {
		t.Run(p.name, func(t *testing.T) {
			conn := pgtest.New(t, schema(t, h.Store)).Conn(t)
			exec(t, conn, "SET allow_system_table_mods = on", p.sql)
			found := verified(t, conn, "", h)
			want(t, p.sql, found, p.want...)
			for _, f := range found {
				if f.Store != "loans" || len(f.SQL) == 0 || f.Note {
					t.Errorf("the finding is of store %q, has %d statements, and note is %v", f.Store, len(f.SQL), f.Note)
				}
			}
			mend(t, conn, found)
			want(t, "mended", verified(t, conn, "", h))
		})
	}
}

// An id that the server counts goes on from the greatest that is there.
func TestAnIDThatIsNotCountedIsFoundAndMended(t *testing.T) {
	h := host(t, "serials")
	conn := pgtest.New(t, schema(t, h.Store)).Conn(t)
	exec(t, conn, "ALTER TABLE serials.statifier_charts ALTER id DROP DEFAULT",
		"INSERT INTO serials.statifier_charts (id, account, content_hash, inserted_at, updated_at) VALUES (7, 1, 'a', now(), now())")
	found := verified(t, conn, "", h)
	want(t, "no default", found, `column: "serials"."statifier_charts": column "id" is pg_catalog.int8 (want bigserial)`)
	mend(t, conn, found)
	want(t, "mended", verified(t, conn, "", h))
	var id int64
	if err := conn.QueryRow(t.Context(), "INSERT INTO serials.statifier_charts (account, content_hash, inserted_at, updated_at) VALUES (1, 'b', now(), now()) RETURNING id").Scan(&id); err != nil || id != 8 {
		t.Errorf("the next id is %d: %v, want 8", id, err)
	}
}

// What a host has added, or has otherwise and as good, is no difference.
func TestWhatAHostAddsIsNoDifference(t *testing.T) {
	h := host(t, "loans")
	for _, sql := range []string{
		"ALTER TABLE loans.statifier_charts ADD note text, ADD made int NOT NULL DEFAULT 1, ADD a int NOT NULL GENERATED ALWAYS AS IDENTITY, ADD b bigint NOT NULL GENERATED ALWAYS AS IDENTITY, ADD c bigserial",
		"ALTER TABLE loans.statifier_executions ALTER execution_id TYPE varchar(100), ALTER status TYPE varchar",
		"CREATE INDEX mine ON loans.statifier_executions (session_id); CREATE UNIQUE INDEX wide ON loans.statifier_charts (content_hash, region)",
		"ALTER TABLE loans.statifier_charts ADD note text; CREATE UNIQUE INDEX noted ON loans.statifier_charts (note)",
		"ALTER INDEX loans.statifier_executions_pkey RENAME TO runs_pkey",
		"ALTER TABLE loans.statifier_charts DROP shard, ADD shard bigint",
		"DROP INDEX loans.statifier_charts_content_hash_index; CREATE UNIQUE INDEX statifier_charts_content_hash_index ON loans.statifier_charts (content_hash) INCLUDE (retired_at)",
	} {
		conn := pgtest.New(t, schema(t, h.Store)).Conn(t)
		exec(t, conn, sql)
		want(t, sql, verified(t, conn, "", h))
	}
}

func TestAViewIsNoTable(t *testing.T) {
	h := host(t, "loans")
	conn := pgtest.New(t, schema(t, h.Store)).Conn(t)
	exec(t, conn, "ALTER TABLE loans.statifier_charts RENAME TO behind; CREATE VIEW loans.statifier_charts AS SELECT * FROM loans.behind")
	want(t, "a view", verified(t, conn, "", h),
		"table: "+charts+"is a view (want a table: behind this, row-level security and the lock of a row are another's)")
}

// What makes an index drops one of its name first, and that is not to be another table's.
func TestAnIndexOfAnotherTableIsLeftAlone(t *testing.T) {
	h := host(t, "loans")
	conn := pgtest.New(t, schema(t, h.Store)).Conn(t)
	exec(t, conn, "DROP INDEX loans.statifier_executions_ended_at_index; CREATE TABLE loans.mine (a int); CREATE INDEX statifier_executions_ended_at_index ON loans.mine (a)")
	found := verified(t, conn, "", h)
	want(t, "taken", found, "index: "+executions+`index "statifier_executions_ended_at_index" is missing, and something else in the schema has its name (want that renamed)`)
	if len(found) > 0 && len(found[0].SQL) > 0 {
		t.Errorf("there is SQL: %v", found[0].SQL)
	}
}

// Two stores on one set of tables are one, so that no SQL is printed twice.
func TestTwoStoresOnOneSetOfTablesAreVerifiedOnce(t *testing.T) {
	a, b := host(t, "plain"), host(t, "again")
	conn := pgtest.New(t, schema(t, a.Store)).Conn(t)
	exec(t, conn, "ALTER TABLE statifier_charts DROP retired_by")
	found := verified(t, conn, "", a, b)
	want(t, "both", found, `column: "public"."statifier_charts": column "retired_by" is missing`)
	mend(t, conn, found)
	want(t, "mended", verified(t, conn, "", a, b))
}

// A statement that the server refuses, and no table is at fault.
func TestAStatementThatIsNotPreparedIsFound(t *testing.T) {
	h := host(t, "loans")
	conn := pgtest.New(t, schema(t, h.Store)).Conn(t)
	exec(t, conn, "SET allow_system_table_mods = on; ALTER FUNCTION pg_catalog.pg_blocking_pids(int) RENAME TO elsewhere")
	found := verified(t, conn, "", h)
	if len(found) != 1 || found[0].Kind != verify.Statement || found[0].Object != "LockInfo" || !strings.Contains(found[0].Text, "SQLSTATE 42883") {
		t.Errorf("found %q, want LockInfo", lines(found))
	}
}
