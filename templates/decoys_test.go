package store_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

const (
	// decoyPath is the search_path of sessions that must not notice the decoys.
	decoyPath = "decoy, pg_catalog, public"
	// decoyDDLPath is the one under which the tables are created: those of a store without a prefix go where it begins.
	decoyDDLPath = "public, decoy, pg_catalog"
)

// decoys is a schema with something of the same name for all that a store's SQL names: functions and operators that raise,
// types that hold no value, relations without rows, and a collation and an operator class that do the server's work.
func decoys(t *testing.T) string {
	t.Helper()
	functions, operators, types := namesInSQL(t)
	var relations strings.Builder
	for _, name := range []string{"pg_locks", "pg_stat_activity", "pg_database"} {
		fmt.Fprintf(&relations, "CREATE TABLE decoy.%s AS TABLE pg_catalog.%[1]s WITH NO DATA;\n", name)
	}
	return strings.NewReplacer(
		"FUNCTIONS", sqlArray(functions), "OPERATORS", sqlArray(operators), "TYPES", sqlArray(types), "RELATIONS", relations.String(),
	).Replace(decoySQL)
}

const decoySQL = `
CREATE SCHEMA decoy;
GRANT USAGE ON SCHEMA decoy TO PUBLIC;
CREATE FUNCTION public.hashtext(varchar) RETURNS int4 LANGUAGE sql AS 'SELECT 2';
RELATIONS
CREATE COLLATION decoy."C" (PROVIDER = libc, LOCALE = 'C');
CREATE COLLATION decoy."POSIX" (PROVIDER = libc, LOCALE = 'C');
CREATE COLLATION decoy.ucs_basic (PROVIDER = libc, LOCALE = 'C');
CREATE OPERATOR CLASS decoy.jsonb_path_ops FOR TYPE jsonb USING gin AS
	OPERATOR 7 pg_catalog.@>, FUNCTION 2 gin_extract_jsonb_path(jsonb, internal, internal),
	FUNCTION 3 gin_extract_jsonb_query_path(jsonb, internal, int2, internal, internal, internal, internal),
	FUNCTION 4 gin_consistent_jsonb_path(internal, int2, jsonb, int4, internal, internal, internal, internal), STORAGE int4;
DO $do$
DECLARE d record;
BEGIN
	PERFORM set_config('search_path', 'pg_catalog', true);
	FOR d IN SELECT p.oid, p.proname, p.prorettype, p.proretset, (
			SELECT string_agg(CASE WHEN p.provariadic <> 0 AND i = p.pronargs THEN 'VARIADIC ' ELSE '' END
				|| CASE WHEN a <> '"any"'::regtype THEN format_type(a, NULL) WHEN p.provariadic <> 0 THEN 'anyarray' ELSE 'anyelement' END, ', ' ORDER BY i)
			FROM unnest(p.proargtypes) WITH ORDINALITY AS u (a, i)) AS arguments
		FROM pg_proc AS p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY (FUNCTIONS)
	LOOP
		EXECUTE format('CREATE FUNCTION decoy.%I(%s) RETURNS %s %s LANGUAGE plpgsql AS %L', d.proname, d.arguments,
			CASE WHEN d.proretset THEN 'SETOF' ELSE '' END, format_type(d.prorettype, NULL), format('BEGIN RAISE EXCEPTION %L; END', 'decoy function ' || d.proname));
	END LOOP;
	FOR d IN SELECT o.oid, o.oprname, o.oprresult, o.oprleft, o.oprright
		FROM pg_operator AS o WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprname = ANY (OPERATORS) AND o.oprright <> 'record'::regtype
	LOOP
		EXECUTE format('CREATE FUNCTION decoy.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L', 'operator ' || d.oid,
			concat_ws(', ', format_type(nullif(d.oprleft, 0), NULL), format_type(d.oprright, NULL)), format_type(d.oprresult, NULL),
			format('BEGIN RAISE EXCEPTION %L; END', 'decoy operator ' || d.oprname));
		EXECUTE format('CREATE OPERATOR decoy.%s (FUNCTION = decoy.%I, %s RIGHTARG = %s)', d.oprname, 'operator ' || d.oid,
			'LEFTARG = ' || format_type(nullif(d.oprleft, 0), NULL) || ',', format_type(d.oprright, NULL));
	END LOOP;
	FOR d IN SELECT typname, oid FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typname = ANY (TYPES)
	LOOP
		EXECUTE format('CREATE DOMAIN decoy.%I AS %s CONSTRAINT decoy CHECK (false)', d.typname, format_type(d.oid, NULL));
	END LOOP;
END $do$;
SET search_path = ` + decoyDDLPath + `;
`

// namesInSQL are the words of a store's SQL that may name something of the server's, qualified or not, and the operators
// that SQL's own syntax may look up.
func namesInSQL(t *testing.T) (functions, operators, types []string) {
	t.Helper()
	all := store.Schema + strings.Join(slices.Collect(maps.Values(emittedSQL(t))), "\n")
	find := func(pattern string, more ...string) []string {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(all, -1) {
			more = append(more, m[1])
		}
		slices.Sort(more)
		return slices.Compact(more)
	}
	return find(`\b([a-z0-9_]+)\(`), find(`OPERATOR\(pg_catalog\.([^)]+)\)`, "=", "<>", "<", ">", "<=", ">=", "~~", "||", "+", "-", "@>", "->", "->>"),
		find(`(?:::|" )(?:pg_catalog\.)?([a-z0-9]+)`)
}

func sqlArray(words []string) string { return "'{" + strings.Join(words, ",") + "}'::text[]" }

// newDecoyHost creates a store's tables with the decoys in the search_path. If they have a schema of their own, there are
// decoys of them as well, to be left empty.
func newDecoyHost(t *testing.T) (h *host, decoyTables []string) {
	t.Helper()
	plain := newHost(t)
	sql := decoys(t) + store.Schema + ";\n"
	for _, table := range []string{plain.charts, plain.positions, plain.executions, plain.inputs} {
		if parts := regexp.MustCompile(`"(?:[^"]|"")*"`).FindAllString(table, -1); len(parts) == 2 {
			decoyTables = append(decoyTables, "decoy."+parts[1])
			sql += "CREATE TABLE decoy." + parts[1] + " (LIKE " + table + ");\n"
		}
	}
	return newHostBy(t, sql), decoyTables
}

// Whatever stands in the search_path, the statements mean the same and the locks are the same:
// https://github.com/riverqueue/river/issues/503, https://github.com/dam-agents/dam/pull/3134. That nothing emitted is
// without its schema is TestA02NothingIsLeftToTheSearchPath's of package sqltext.
func TestA02DecoysInTheSearchPath(t *testing.T) {
	h, decoyTables := newDecoyHost(t)
	t.Run("the decoys work", func(t *testing.T) { decoysWork(t, h) })
	t.Run("the schema is built of none", func(t *testing.T) { builtOfNoDecoy(t, h) })
	t.Run("every verb answers as without", func(t *testing.T) {
		chartsLife(t, h.store(t, pgtest.Setting("search_path", decoyPath)))
	})
	t.Run("no statement meets one", func(t *testing.T) { meetsNoDecoy(t, h) })
	t.Run("the locks are the same", func(t *testing.T) { locksAsWithoutDecoys(t, h) })
	for _, table := range decoyTables {
		if n := query[int](t, h, "SELECT count(*) FROM "+table); n != 0 {
			t.Errorf("%d rows went into %s", n, table)
		}
	}
}

// decoysWork fails unless each kind of them is what a bare name means, and every name has one.
func decoysWork(t *testing.T, h *host) {
	conn := h.Conn(t, pgtest.Setting("search_path", decoyPath))
	for sql, want := range map[string]string{
		`SELECT hashtext('a')`:                                "decoy function hashtext",
		`SELECT current_setting('lock_timeout')`:              "decoy function current_setting",
		`SELECT 'a'::pg_catalog.text || 'b'::pg_catalog.text`: "decoy operator ||",
		`SELECT 'a'::pg_catalog.text = 'b'::pg_catalog.text`:  "decoy operator =",
		`SELECT 'a'::pg_catalog.text IN ('b')`:                "decoy operator =",
		`SELECT CASE 1 WHEN 2 THEN 3 END`:                     "decoy operator =",
		`SELECT 'a'::text`:                                    `constraint "decoy"`,
		`SELECT count(*) FROM pg_catalog.pg_database`:         "count is not an aggregate function",
	} {
		if _, err := conn.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}
	var seen int
	must(t, conn.QueryRow(t.Context(), `SELECT pg_catalog.count(*) FROM pg_locks`).Scan(&seen))
	if seen != 0 {
		t.Errorf("pg_locks has %d rows, and its decoy none", seen)
	}
	var collation string
	must(t, conn.QueryRow(t.Context(), `SELECT pg_catalog.pg_collation_for('a' COLLATE "C")`).Scan(&collation))
	if collation != `"C"` {
		t.Errorf(`the collation "C" is %s, want the first of its name`, collation)
	}
	functions, operators, types := namesInSQL(t)
	everyNameHasADecoy(t, h, "SELECT DISTINCT proname::text FROM pg_proc WHERE pronamespace = $1::regnamespace AND proname = ANY ($2)", functions)
	everyNameHasADecoy(t, h, "SELECT DISTINCT oprname::text FROM pg_operator WHERE oprnamespace = $1::regnamespace AND oprname = ANY ($2)", operators)
	everyNameHasADecoy(t, h, "SELECT typname::text FROM pg_type WHERE typnamespace = $1::regnamespace AND typname = ANY ($2)", types)
}

func everyNameHasADecoy(t *testing.T, h *host, catalog string, names []string) {
	t.Helper()
	catalog = "SELECT array_agg(name ORDER BY name) FROM (" + catalog + ") AS n (name)"
	theirs, ours := query[[]string](t, h, catalog, "pg_catalog", names), query[[]string](t, h, catalog, "decoy", names)
	if len(theirs) < 5 || !slices.Equal(theirs, ours) {
		t.Errorf("there are decoys of\n%q, want of\n%q", ours, theirs)
	}
}

// builtOfNoDecoy looks for anything in the schema's tables that depends on a decoy.
func builtOfNoDecoy(t *testing.T, h *host) {
	const dependencies = `SELECT coalesce(string_agg(pg_describe_object(classid, objid, objsubid) || ' on ' || pg_describe_object(refclassid, refobjid, refobjsubid), ', '), '')
		FROM pg_depend WHERE deptype <> 'p' AND (pg_identify_object(refclassid, refobjid, refobjsubid)).schema = 'decoy'
			AND (pg_identify_object(classid, objid, objsubid)).identity NOT LIKE '%decoy%'
			AND (pg_identify_object(classid, objid, objsubid)).schema IS DISTINCT FROM 'pg_toast'`
	if got := query[string](t, h, dependencies); got != "" {
		t.Errorf("what depends on a decoy: %s", got)
	}
	h.Exec(t, "SET search_path = "+decoyDDLPath+"; CREATE TABLE public.sample (j pg_catalog.jsonb); CREATE INDEX ON public.sample USING gin (j jsonb_path_ops)")
	if got := query[string](t, h, dependencies); !strings.Contains(got, "operator class decoy.jsonb_path_ops") {
		t.Errorf("an index that does depend on one is not found: %q", got)
	}
}

// meetsNoDecoy calls every verb in every way: a decoy that is met raises.
func meetsNoDecoy(t *testing.T, h *host) {
	free := h.store(t)
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeSimpleProtocol} {
		pool := h.Pool(t, pgtest.ExecMode(mode), pgtest.Setting("search_path", decoyPath))
		for name, m := range methods() {
			for how, c := range m.calls {
				call := func(s *store.Store) string {
					f := newFixture(t, free)
					f.s = s
					if err := c.do(t.Context(), f); sqlState(err) != "" {
						t.Errorf("%s %s: %v", name, how, err)
					}
					return ""
				}
				call(store.New(pool, store.WithLockTimeout(time.Minute)))
				for _, level := range levels {
					inHostTx(t, pool, level, call)
				}
			}
		}
	}
}

// locksAsWithoutDecoys lets a session that has decoys in its way meet one that has none.
func locksAsWithoutDecoys(t *testing.T, h *host) {
	free := h.store(t)
	ctx := t.Context()
	hash := mustSave(t, free)
	s, tx := h.begin(t, "", pgtest.Setting("search_path", decoyPath))
	e := mustCreate(t, s, hash)
	if got, want := h.locksOf(t, tx), sortLocks(append(chartLocks(hash, "ShareLock"), executionLock(e.ExecutionID))); !slices.Equal(sortLocks(got), want) {
		t.Errorf("locks %+v, want %+v", got, want)
	}
	other, otherTx := h.begin(t, "")
	answered := make(chan error, 1)
	go func() { answered <- second(other.RetireChart(ctx, hash, by("ops"))) }()
	h.AwaitBlocked(t, pid(otherTx))
	info, err := h.store(t, pgtest.Setting("search_path", decoyPath)).LockInfo(ctx, hash)
	must(t, err)
	if len(info.Sessions) < 2 {
		t.Errorf("seen at the lock: %+v, want who holds it and who waits", info.Sessions)
	}
	must(t, tx.Commit(ctx))
	wantAs[*store.PinnedError](t, <-answered)
	must(t, otherTx.Rollback(ctx))
}
