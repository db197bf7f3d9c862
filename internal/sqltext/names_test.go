package sqltext

import (
	"os"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/model"
)

// everyStore is the default one and the hosts of the matrix.
func everyStore(t *testing.T) []model.Store {
	t.Helper()
	all := []model.Store{store(t, model.Spec{})}
	for _, file := range []string{"../matrix/hosts.yaml", "../matrix/columns.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		stores, err := config.Parse(file, text, model.Module{Path: "example.com/host", Dir: "."})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, stores...)
	}
	return all
}

// emitted is all SQL of a store, by file.
func emitted(t *testing.T, s model.Store) map[string]string {
	t.Helper()
	queries, err := Queries(s)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := Schema(s)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"schema.sql": string(schema)}
	for name, text := range queries {
		all[name] = string(text)
	}
	return all
}

func relationsOf(s model.Store) []string {
	var all []string
	for _, table := range s.Tables() {
		all = append(all, s.Relation(table))
	}
	return all
}

// A name that the search_path resolves is another thing in another session, and another hashtext is another lock:
// https://github.com/riverqueue/river/issues/503, https://github.com/dam-agents/dam/pull/3134. The tables of a store
// without a prefix are the one exception. That the names mean the same under a decoy is TestA02DecoysInTheSearchPath's.
func TestA02NothingIsLeftToTheSearchPath(t *testing.T) {
	for _, s := range everyStore(t) {
		seen := 0
		for file, text := range emitted(t, s) {
			found, names, err := leftToThePath(text, relationsOf(s)...)
			if err != nil {
				t.Fatalf("%s: %s: %v", s.Name, file, err)
			}
			for _, f := range found {
				t.Errorf("%s: %s leaves to the search_path: %s", s.Name, file, f)
			}
			seen += names
		}
		if seen < 300 {
			t.Errorf("%s: found %d names in all emitted SQL, want at least 300", s.Name, seen)
		}
	}
}

// Whichever one schema is dropped, the scan notices. timestamp alone is a word that the parser qualifies itself.
func TestA02ADroppedSchemaIsNoticed(t *testing.T) {
	const schema = "pg_catalog."
	s := store(t, model.Spec{Prefix: "loans"})
	dropped := 0
	for file, text := range emitted(t, s) {
		for at := strings.Index(text, schema); at >= 0; at = next(text, schema, at) {
			after := text[at+len(schema):]
			if strings.HasPrefix(after, "timestamp") {
				continue
			}
			dropped++
			if found, _, err := leftToThePath(text[:at]+after, relationsOf(s)...); err != nil || len(found) == 0 {
				t.Errorf("%s: nothing noticed (%v) at %.60q", file, err, after)
			}
		}
	}
	if dropped < 300 {
		t.Errorf("dropped %d schemas, want at least 300", dropped)
	}
}

func next(text, word string, at int) int {
	further := strings.Index(text[at+1:], word)
	if further < 0 {
		return -1
	}
	return at + 1 + further
}

func TestA02WhatTheScanReports(t *testing.T) {
	for sql, want := range map[string]string{
		`SELECT hashtext(@a::pg_catalog.text)`:                        "function hashtext",
		`SELECT decoy.hashtext(@a::pg_catalog.text)`:                  "function decoy.hashtext",
		`SELECT @a::text`:                                             "type text",
		`SELECT sqlc.narg(a)::text`:                                   "type text",
		`SELECT @ 1`:                                                  "operator @",
		`SELECT c.x::text FROM "charts" AS c`:                         "type text",
		`SELECT c.x::pg_catalog.regclass FROM "charts" AS c`:          "what a regclass looks up at run time",
		`SELECT 1 = 2`:                                                "operator =",
		`SELECT 'a' OPERATOR(||) 'b'`:                                 "operator ||",
		`SELECT 1 IN (1, 2)`:                                          "operator =",
		`SELECT 1 IN (SELECT 1)`:                                      "operator = of IN with a subquery",
		`SELECT 1 = ANY (SELECT 1)`:                                   "operator =",
		`SELECT 1 OPERATOR(pg_catalog.=) ANY (SELECT 1)`:              "",
		`SELECT 1 BETWEEN 1 AND 2`:                                    "operator BETWEEN",
		`SELECT NULLIF(1, 2)`:                                         "operator =",
		`SELECT 1 IS DISTINCT FROM 2`:                                 "operator =",
		`SELECT 'a' LIKE 'b'`:                                         "operator ~~",
		`SELECT CASE 1 WHEN 2 THEN 3 END`:                             "operator = of CASE with an operand",
		`SELECT CASE WHEN true THEN 3 END`:                            "",
		`SELECT c.x FROM "charts" AS c JOIN "charts" AS d USING (x)`:  "operator = of JOIN USING",
		`SELECT c.x FROM "charts" AS c NATURAL JOIN "charts" AS d`:    "operator = of JOIN USING",
		`SELECT c.x FROM "charts" AS c ORDER BY c.x USING <`:          "operator <",
		`SELECT DISTINCT c.x FROM "charts" AS c ORDER BY c.x`:         "",
		`SELECT c.* FROM "charts" AS c`:                               "the columns of *",
		`SELECT 1 FROM pg_locks`:                                      `relation "pg_locks"`,
		`WITH w AS (SELECT 1 AS x) SELECT w.x FROM w`:                 "",
		`SELECT 'a' COLLATE "C"`:                                      "collation C",
		`SELECT 'a' COLLATE "loans"."C"`:                              "",
		`SELECT pg_catalog.now() AT TIME ZONE 'UTC'`:                  "",
		`CREATE INDEX i ON "charts" USING gin (x jsonb_path_ops)`:     "operator class jsonb_path_ops",
		`CREATE TABLE "charts" (x bigserial, y timestamp)`:            "",
		`SELECT CURRENT_TIMESTAMP`:                                    "a SQLValueFunction, which nobody has judged",
		`SELECT pg_catalog.row_security_active('c'::pg_catalog.text)`: `relation in [{"TypeCast":{`,
	} {
		found, _, err := leftToThePath(sql, `"charts"`)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if got := strings.Join(found, "; "); got != want && (want == "" || !strings.HasPrefix(got, want)) {
			t.Errorf("%s\nreported %q, want %q", sql, got, want)
		}
	}
}
