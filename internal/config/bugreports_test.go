package config_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/model"
)

// The tests of this file are faults that users of other generators reported, each named after one. A config either says
// just one thing, or is refused at the place of the fault; what is let by is generated, compiled and run in the matrix.

// leading is a config with the columns, in flow style, at line 2 from column 1.
func leading(columns string) string {
	return "version: 1\nstores: {s: {out: a, leading_columns: [\n" + columns + "\n]}}\n"
}

func parse(text string) ([]model.Store, error) { return config.Parse("c.yaml", []byte(text), host()) }

// refused demands one problem, at its place.
func refused(t *testing.T, text, want string) {
	t.Helper()
	_, err := parse(text)
	schemaAgrees(t, text, err)
	var problems config.Errors
	if !errors.As(err, &problems) {
		t.Errorf("%s\nis taken, want\n%s", text, want)
		return
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("%s\nerrors (-want +got):\n%s", text, diff)
	}
}

// A lossy mapping of names makes one field of two columns, or of a column and one of the schema's own, and the host's
// build fails far from the cause: https://github.com/sqlc-dev/sqlc/issues/3351.
func TestB05TwoNamesBecomeOneGoIdentifier(t *testing.T) {
	for columns, want := range map[string]string{
		"{name: user_id, type: text}, {name: user__id, type: text}":                 `37: the Go field "UserID" of column "user__id" is also that of column "user_id" (want another name)`,
		"{name: a-b, type: text}, {name: a_b, type: text}":                          `33: the Go field "AB" of column "a_b" is also that of column "a-b" (want another name)`,
		"{name: 'a', type: text}, {name: 'a', type: text}":                          `33: the name "a" of column "a" is also that of column "a" (want another name)`,
		"{name: a, type: text}, {name: A, type: text}":                              `31: the Go field "A" of column "A" is also that of column "a" (want another name)`,
		"{name: '-', type: text}, {name: '日', type: text}, {name: '+', type: text}": `58: the Go field "Col" of column "+" is also that of column "-" (want another name)`,
		"{name: id_, type: text}":                                                   `8: the Go field "ID" of column "id_" is also that of the schema's own column "id" (want another name)`,
		"{name: ID, type: text}":                                                    `8: the Go field "ID" of column "ID" is also that of the schema's own column "id" (want another name)`,
		"{name: insertedAt, type: text}":                                            `8: the Go field "InsertedAt" of column "insertedAt" is also that of the schema's own column "inserted_at" (want another name)`,
		"{name: row_id, type: text}":                                                `8: the Go field "RowID" of column "row_id" is also that of a field of the generated records (want another name)`,
		"{name: leading, type: text}":                                               `8: the Go field "Leading" of column "leading" is also that of a field of the generated records (want another name)`,
		"{name: seq, type: bigint}":                                                 `8: the name "seq" of column "seq" is also that of the schema's own column (want another name)`,
		"{name: ctid, type: text}":                                                  `8: the name "ctid" of column "ctid" is also that of a system column of Postgres (want another name)`,
	} {
		last := strings.Count(columns, "{") - 1
		refused(t, leading(columns), strings.Replace("c.yaml:3:"+want, ": ", fmt.Sprintf(": stores.s.leading_columns.%d.name: ", last), 1))
	}
	// Two fields that differ in letters, however little, are two fields.
	stores, err := parse(leading("{name: user_id, type: text}, {name: userId, type: text}, {name: createdAt, type: text}"))
	if err != nil {
		t.Fatal(err)
	}
	if got := fields(stores[0]); got != "UserID UserId CreatedAt" {
		t.Errorf("fields %s", got)
	}
}

func fields(s model.Store) string {
	var names []string
	for _, c := range s.Leading {
		names = append(names, c.Field)
	}
	return strings.Join(names, " ")
}

// A column of a kind that an INSERT cannot name, or of a type that nothing knows, compiles and then fails on the server:
// https://github.com/nucleuscloud/neosync/issues/2547.
func TestB14ColumnKindsThatCannotBeWritten(t *testing.T) {
	unknown := func(got string) string {
		return `c.yaml:3:19: stores.s.leading_columns.0.type: unknown column type "` + got + `" (want ` + wantType + `)`
	}
	for column, want := range map[string]string{
		"{name: col, type: app.region_enum}":                        unknown("app.region_enum"),
		"{name: col, type: 'app.region_enum[]'}":                    unknown("app.region_enum[]"),
		"{name: col, type: app.tid}":                                unknown("app.tid"),
		"{name: col, type: tid}":                                    unknown("tid"),
		"{name: col, type: interval}":                               unknown("interval"),
		"{name: col, type: bigint generated always as identity}":    unknown("bigint generated always as identity"),
		"{name: col, type: integer generated always as (1) stored}": unknown("integer generated always as (1) stored"),
		"{name: col, type: bigserial}":                              unknown("bigserial"),
		"{name: col, type: bigint, generated: always}":              `c.yaml:3:27: stores.s.leading_columns.0: unknown key "generated" (want name, type, collation, not_null, default)`,
		"{name: col, type: numeric, default: NaN}":                  `c.yaml:3:37: stores.s.leading_columns.0.default: "NaN" is not a default for numeric (want a number, such as 12.50, at most 1000 digits on each side of the point)`,
		"{name: col, type: bigint, default: nextval('s')}":          `c.yaml:3:36: stores.s.leading_columns.0.default: "nextval('s')" is not a default for bigint (want digits, such as 42, from -9223372036854775808 to 9223372036854775807)`,
	} {
		refused(t, leading(column), want)
	}
	stores, err := parse(leading("{name: label, type: text, collation: C}, {name: amount, type: numeric}"))
	if err != nil || stores[0].Leading[0].Collation != `"pg_catalog"."C"` {
		t.Errorf("a collation and a numeric column: %v, %v", stores, err)
	}
}

// YAML reads words and numbers as it likes, each library in its own way, and lax decoders take a default where a key is
// misspelt, here other tables or another lock: https://github.com/ghodss/yaml/issues/14.
func TestB20YAMLReadsWordsAndNumbersInItsOwnWay(t *testing.T) {
	for _, word := range []string{
		"no", "off", "y", "true", "Null", "007", "1.10", "1e3", "0x1F", "0o7", "1_000", "2024-01-02", ".inf", ".NaN", "=", "12:30:45",
	} {
		for _, quoted := range []string{word, "'" + word + "'", `"` + word + `"`} {
			schemaIs(t, quoted, word)
		}
	}
}

// schemaIs demands that a prefix is kept letter for letter, but for null, which is no string unless it is quoted.
func schemaIs(t *testing.T, written, want string) {
	t.Helper()
	text := "version: 1\nstores: {s: {out: a, prefix: " + written + "}}\n"
	stores, err := parse(text)
	schemaAgrees(t, text, err)
	if written == "Null" {
		refused(t, "version: 1\nstores: {s: {out: a, prefix: Null}}\n", "c.yaml:2:30: stores.s.prefix: want a plain or quoted string, not null")
		return
	}
	if err != nil || stores[0].Schema != want {
		t.Errorf("prefix: %s is %v (%v), want %q", written, stores, err, want)
	}
}

// wantKeys are the keys of a store.
const wantKeys = "package, out, prefix, table_prefix, table, tables, id, leading_columns, timestamps_position, column_collations, distinct_search_path, lock_key"

func TestB20YAMLThatMeansTwoThingsIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"version: 1\nstores: {s: {out: a, prefix: ~}}":                  "c.yaml:2:30: stores.s.prefix: want a plain or quoted string, not null",
		"version: 1\nstores: {s: {out: a, prefix: }}":                   "c.yaml:2:30: stores.s.prefix: want a plain or quoted string, not null",
		"version: 1\nstores: {s: {out: a, prefix: !!binary aGk=}}":      "c.yaml:2:30: stores.s.prefix: a tag (want the bare value)",
		"version: 1\nstores: {s: {out: a, prefix: !!str no}}":           "c.yaml:2:30: stores.s.prefix: a tag (want the bare value)",
		"version: 1\nstores:\n  s:\n    out: a\n    prefix: |\n      x": "c.yaml:5:13: stores.s.prefix: want a plain or quoted string, not a block of text",
		"version: 1\nstores: {s: {out: a, tables: {y: a, no: b}}}": "c.yaml:2:31: stores.s.tables: unknown key \"y\" (want charts, positions, executions, inputs)\n" +
			"c.yaml:2:37: stores.s.tables: unknown key \"no\" (want charts, positions, executions, inputs)",
		"version: 1\nstores: {s: {out: a, prefix: x, prefix: y}}":   "c.yaml:2:33: stores.s: key \"prefix\" stands twice (first at line 2)",
		"version: 1\nstores: {s: {out: a, table_prefx: x}}":         "c.yaml:2:22: stores.s: unknown key \"table_prefx\" (want " + wantKeys + "; did you mean \"table_prefix\"?)",
		"version: 1\nstores: {s: {out: a, Prefix: x}}":              "c.yaml:2:22: stores.s: unknown key \"Prefix\" (want " + wantKeys + "; did you mean \"prefix\"?)",
		"version: 1\nstores: {s: {out: a, lock: {namespace: 1.5}}}": "c.yaml:2:22: stores.s: unknown key \"lock\" (want " + wantKeys + ")",
		"version: 1\nstores:\n  s:\n\tout: a":                       "c.yaml:4:1: a tab (want spaces)",
		"version: 1\nstores: {s: &a {out: a}, t: {<<: *a, out: b}}": "c.yaml:2:13: stores.s: an anchor (write the value out where it is needed)\nc.yaml:2:30: stores.t: want a plain or quoted string, not a merge key",
		"version: 1\nstores: {s: {out: &a x, prefix: *a}}":          "c.yaml:2:19: stores.s.out: an anchor (write the value out where it is needed)\nc.yaml:2:33: stores.s.prefix: an alias (write the value out)",
		"version: 1\nstores: {s: {out: a}}\n---\nversion: 1":        "c.yaml:3:1: a second document (want one)",
		"version: 1\nstores: {s: {out: a}}\n--- x":                  "c.yaml:3:1: a second document (want one)",
		"version: 1 # a\rstores: {s: {out: a}}":                     `c.yaml:1:15: '\r' ends no line (want "\n" or "\r\n"; in a quoted string, an escape)`,
		"version: 1\nstores: {日本: {prefix: \"\u2028\"}}":            `c.yaml:2:24: '\u2028' ends no line (want "\n" or "\r\n"; in a quoted string, an escape)`,
		"---":                                 "c.yaml:1:4: want keys and values, not null",
		"":                                    "c.yaml:1:1: an empty file (want version and stores)",
		"# nothing\n":                         "c.yaml:1:1: an empty file (want version and stores)",
		"---\n":                               "c.yaml:2:1: want keys and values, not null",
		"version: 1.5\nstores: {s: {out: a}}": `c.yaml:1:10: version: unknown version "1.5" (want 1)`,
		"version: 1.0\nstores: {s: {out: a}}": `c.yaml:1:10: version: unknown version "1.0" (want 1)`,
		"version: 010\nstores: {s: {out: a}}": `c.yaml:1:10: version: unknown version "010" (want 1)`,
		"version: 01\nstores: {s: {out: a}}":  `c.yaml:1:10: version: unknown version "01" (want 1)`,
		"version: 0x1\nstores: {s: {out: a}}": `c.yaml:1:10: version: unknown version "0x1" (want 1)`,
		"version: +1\nstores: {s: {out: a}}":  `c.yaml:1:10: version: unknown version "+1" (want 1)`,
		"version: '5'\nstores: {s: {out: a}}": `c.yaml:1:10: version: unknown version "5" (want 1)`,
		"version: ~\nstores: {s: {out: a}}":   "c.yaml:1:10: version: want a plain or quoted string, not null",
		"version: 1\nstores: {s: {out: a, leading_columns: [{name: c, type: varchar(010)}]}}":           `c.yaml:2:56: stores.s.leading_columns.0.type: unknown length in "varchar(010)" (want a number from 1 to 10485760)`,
		"version: 1\nstores: {s: {out: a, leading_columns: [{name: c, type: varchar(1.5)}]}}":           `c.yaml:2:56: stores.s.leading_columns.0.type: unknown column type "varchar(1.5)" (want ` + wantType + `)`,
		"version: 1\nstores: {s: {out: a, leading_columns: [{name: c, type: bigint, default: 1_000}]}}": `c.yaml:2:73: stores.s.leading_columns.0.default: "1_000" is not a default for bigint (want digits, such as 42, from -9223372036854775808 to 9223372036854775807)`,
		"version: 1\nstores: {s: {out: a, leading_columns: [{name: c, type: text, not_null: yes}]}}":    `c.yaml:2:72: stores.s.leading_columns.0.not_null: unknown value "yes" (want true or false)`,
		"version: 1\nstores: {s: {out: a, distinct_search_path: \"on\"}}":                               `c.yaml:2:44: stores.s.distinct_search_path: unknown value "on" (want true or false)`,
	} {
		refused(t, text, want)
	}
}
