package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/model"
)

func host() model.Module { return model.Module{Path: "example.com/host", Dir: "."} }

func TestTheSmallestConfigGetsEveryDefault(t *testing.T) {
	stores, err := config.Parse("statigen.yaml", []byte(`{version: 1, stores: {s: {out: store}}}`), host())
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Store{{
		Name: "s", Package: "store", Out: "store", Import: "example.com/host/store",
		Charts:     model.Table{Concept: "charts", Name: "statifier_charts"},
		Positions:  model.Table{Concept: "positions", Name: "statifier_positions"},
		Executions: model.Table{Concept: "executions", Name: "statifier_executions"},
		Inputs:     model.Table{Concept: "inputs", Name: "statifier_inputs"},
		FormerRuns: "statifier_runs",
		ID:         model.UXID, LockKey: keyspec.Store,
	}}
	if diff := cmp.Diff(want, stores); diff != "" {
		t.Errorf("stores (-want +got):\n%s", diff)
	}
}

func TestEveryKeyReachesTheModel(t *testing.T) {
	text := `
version: 1
stores:
  loans:
    package: loanstore
    out: gen/loan-store
    prefix: no
    table_prefix: ""
    tables: {charts: "007", inputs: 1.10}
    id: uuid
    leading_columns:
      - {name: tenant-id, type: uuid}
      - {name: region, type: text, collation: C, not_null: true, default: ""}
      - {name: 7th, type: bigint, default: 42}
      - {name: labels, type: "varchar(10485760)[]"}
    timestamps_position: leading
    column_collations: {execution_id: C, door: my.coll}
    distinct_search_path: true
    lock_key: both
`
	stores, err := config.Parse("statigen.yaml", []byte(text), model.Module{Path: "example.com/host", Dir: "app"})
	schemaAgrees(t, text, err)
	if err != nil {
		t.Fatal(err)
	}
	empty, answer := "", "42"
	want := []model.Store{{
		Name: "loans", Package: "loanstore", Out: "app/gen/loan-store", Import: "example.com/host/app/gen/loan-store",
		Schema:     "no",
		Charts:     model.Table{Concept: "charts", Name: "007"},
		Positions:  model.Table{Concept: "positions", Name: "positions"},
		Executions: model.Table{Concept: "executions", Name: "executions"},
		Inputs:     model.Table{Concept: "inputs", Name: "1.10"},
		FormerRuns: "runs",
		ID:         model.UUID,
		Leading: []model.Column{
			{Name: "tenant-id", Field: "TenantID", Type: model.Type{Base: model.UUIDType}, Position: 1},
			{Name: "region", Field: "Region", Type: model.Type{Base: model.TextType}, Collation: `"pg_catalog"."C"`, NotNull: true, Default: &empty, Position: 2},
			{Name: "7th", Field: "Col7th", Type: model.Type{Base: model.BigintType}, Default: &answer, Position: 3},
			{Name: "labels", Field: "Labels", Type: model.Type{Base: model.VarcharType, Length: 10485760, Array: true}, Position: 4},
		},
		LockKey:            keyspec.Both,
		TimestampsFirst:    true,
		Collations:         map[string]string{"execution_id": `"pg_catalog"."C"`, "door": `"my"."coll"`},
		DistinctSearchPath: true,
	}}
	if diff := cmp.Diff(want, stores); diff != "" {
		t.Errorf("stores (-want +got):\n%s", diff)
	}
}

// columns is a config with so many leading columns.
func columns(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("{name: c%d, type: text}", i)
	}
	return "{version: 1, stores: {s: {out: a, leading_columns: [" + strings.Join(list, ", ") + "]}}}"
}

const wantType = "text, varchar(n), uuid, smallint, integer, bigint, boolean, numeric, date, timestamp, timestamptz, jsonb or bytea, and [] behind it for an array"

func TestEveryProblemIsReportedAtItsLine(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a bad byte":      {"version: 1\nstores: \xff{}", "c.yaml:2:9: the byte 0xff is no text (want UTF-8 without control characters)"},
		"a control byte":  {"version: 1\nstores: \"\x01\"", "c.yaml:2:10: the byte 0x01 is no text (want UTF-8 without control characters)"},
		"empty file":      {``, `c.yaml:1:1: an empty file (want version and stores)`},
		"no keys":         {`{}`, "c.yaml:1:1: no version (want version: 1)\nc.yaml:1:1: no stores (want at least one)"},
		"a list":          {`[]`, "c.yaml:1:1: want keys and values, not a list"},
		"other version":   {`{version: 2, stores: {s: {out: a}}}`, `c.yaml:1:11: version: unknown version "2" (want 1)`},
		"second document": {"{version: 1, stores: {s: {out: a}}}\n---\n{}", `c.yaml:2:1: a second document (want one)`},
		"unknown key": {
			"version: 1\nstores:\n  s:\n    out: a\n    table_prefx: x\n",
			`c.yaml:5:5: stores.s: unknown key "table_prefx" (want package, out, prefix, table_prefix, table, tables, id, leading_columns, timestamps_position, column_collations, distinct_search_path, lock_key; did you mean "table_prefix"?)`,
		},
		"a key twice": {"version: 1\nstores:\n  s:\n    out: a\n    out: b\n", `c.yaml:5:5: stores.s: key "out" stands twice (first at line 4)`},
		"anchor":      {`{version: 1, stores: {s: &a {out: a}}}`, `c.yaml:1:26: stores.s: an anchor (write the value out where it is needed)`},
		"null":        {`{version: 1, stores: {s: {out: a, prefix: ~}}}`, `c.yaml:1:43: stores.s.prefix: want a plain or quoted string, not null`},
		"tag":         {`{version: 1, stores: {s: {out: a, prefix: !!binary aGk=}}}`, `c.yaml:1:43: stores.s.prefix: a tag (want the bare value)`},
		"empty":       {`{version: 1, stores: {s: {out: a, prefix: ""}}}`, `c.yaml:1:43: stores.s.prefix: an empty string (leave the key out for the default)`},
		"wrong values, all at once": {
			"version: 1\nstores:\n  s:\n    out: a\n    id: uid\n    lock_key: stor\n    leading_columns:\n      - {name: status, type: texts, not_null: yes}\n",
			"c.yaml:5:9: stores.s.id: unknown id scheme \"uid\" (want uxid, uuid or bigserial; did you mean \"uxid\" or \"uuid\"?)\n" +
				"c.yaml:6:15: stores.s.lock_key: unknown lock key \"stor\" (want store, content_hash or both; did you mean \"store\"?)\n" +
				"c.yaml:8:16: stores.s.leading_columns.0.name: the name \"status\" of column \"status\" is also that of the schema's own column (want another name)\n" +
				"c.yaml:8:30: stores.s.leading_columns.0.type: unknown column type \"texts\" (want " + wantType + "; did you mean \"text\"?)\n" +
				"c.yaml:8:47: stores.s.leading_columns.0.not_null: unknown value \"yes\" (want true or false)",
		},
		"a tab": {"version: 1\nstores:\n\ts: {out: a}\n", "c.yaml:3:1: a tab (want spaces)"},
		"names of stores": {
			`{version: 1, stores: {"": {out: a}, a.id: {out: b}, a: {out: c, id: x}, "\e[31m\u202E": {out: d, id: y}, größe-2_: {out: e, table_prefix: e_}}}`,
			`c.yaml:1:23: stores: "" is no name of a store (want letters, digits, - and _, at most 63 bytes)` + "\n" +
				`c.yaml:1:37: stores: "a.id" is no name of a store (want letters, digits, - and _, at most 63 bytes)` + "\n" +
				`c.yaml:1:69: stores.a.id: unknown id scheme "x" (want uxid, uuid or bigserial)` + "\n" +
				`c.yaml:1:73: stores: "\x1b[31m\u202e" is no name of a store (want letters, digits, - and _, at most 63 bytes)` + "\n" +
				`c.yaml:1:102: stores."\x1b[31m\u202e".id: unknown id scheme "y" (want uxid, uuid or bigserial)`,
		},
		"what cannot be read is one problem": {
			"version: 1\nstores:\n  a: {out: [a]}\n  b: {out: b, leading_columns: [x, {name: ~, type: {}}, {}]}\n  c: {out: ''}\n  d: {id: uuid}\n  e: {out: e}\n",
			"c.yaml:3:12: stores.a.out: want a plain or quoted string, not a list\n" +
				"c.yaml:4:33: stores.b.leading_columns.0: want keys and values, not \"x\"\n" +
				"c.yaml:4:43: stores.b.leading_columns.1.name: want a plain or quoted string, not null\n" +
				"c.yaml:4:52: stores.b.leading_columns.1.type: want a plain or quoted string, not a mapping\n" +
				"c.yaml:4:57: stores.b.leading_columns.2.name: no name (want the column's, such as tenant_id)\n" +
				"c.yaml:4:57: stores.b.leading_columns.2.type: no type (want " + wantType + ")\n" +
				"c.yaml:5:12: stores.c.out: an empty string (leave the key out for the default)\n" +
				"c.yaml:6:6: stores.d.out: no folder (want one below the module's root, such as loanstore)",
		},
		"a table of the server's": {
			`{version: 1, stores: {s: {out: a, table: pg_class}, t: {out: b, prefix: p, table: pg_class}}}`,
			`c.yaml:1:42: stores.s.tables.charts: the table name "pg_class" begins with "pg_", and the server's own tables come first in every search_path (want another name, or a prefix)` + "\n" +
				`c.yaml:1:73: stores.t.prefix: store s without a prefix and store t with prefix "p" both have a table "pg_class", which are one if the search_path of the first leads there (want other names, one prefix, or distinct_search_path: true in store s)`,
		},
		"long words": {
			"{version: 1, stores: {s: {out: " + strings.Repeat("o", 256) + ", id: " + strings.Repeat("i", 300) + ", prefix: " + strings.Repeat("p", 300) + "}}}",
			`c.yaml:1:32: stores.s.out: the folder name "` + strings.Repeat("o", 100) + `" has 256 bytes (want at most 255)` + "\n" +
				`c.yaml:1:294: stores.s.id: unknown id scheme "` + strings.Repeat("i", 100) + `" (want uxid, uuid or bigserial)` + "\n" +
				`c.yaml:1:604: stores.s.prefix: the name "` + strings.Repeat("p", 100) + `" has 300 bytes (want at most 63)`,
		},
		"a schema of the server's": {
			"version: 1\nstores:\n  a: {out: a, prefix: pg_catalog}\n  b: {out: b, prefix: pg_toast}\n  c: {out: c, prefix: information_schema}\n" +
				"  d: {out: d, prefix: pg_temp_1}\n  e: {out: e, prefix: PG_catalog}\n  f: {out: f, prefix: pg}\n",
			"c.yaml:3:23: stores.a.prefix: the schema \"pg_catalog\" begins with \"pg_\", which Postgres keeps for itself (want another name)\n" +
				"c.yaml:4:23: stores.b.prefix: the schema \"pg_toast\" begins with \"pg_\", which Postgres keeps for itself (want another name)\n" +
				"c.yaml:5:23: stores.c.prefix: the schema \"information_schema\" is the server's own (want another name)\n" +
				"c.yaml:6:23: stores.d.prefix: the schema \"pg_temp_1\" begins with \"pg_\", which Postgres keeps for itself (want another name)",
		},
		"as many columns as there is room for": {columns(1587), ``},
		"one column too many": {
			columns(1588),
			`c.yaml:1:52: stores.s.leading_columns: 1588 columns (want at most 1587: a table of Postgres holds 1600, and the store's have up to 13 of their own)`,
		},
		"a long default": {
			"{version: 1, stores: {s: {out: a, leading_columns: [{name: a, type: text, default: " + strings.Repeat("x", 8193) + "}]}}}",
			`c.yaml:1:84: stores.s.leading_columns.0.default: a default of 8193 bytes (want at most 8192)`,
		},
		"values nearly right": {
			"version: 1\nstores:\n  s:\n    out: a\n    id: UUID\n    lock_key: contenthash\n    timestamps_position: Leading\n" +
				"    distinct_search_path: True\n    tables: {chart: x}\n    column_collations: {stauts: C}\n" +
				"    leading_columns: [{name: a, type: 'TEXT[]'}, {name: b, type: timestamptx, not_nul: true}]\n",
			"c.yaml:5:9: stores.s.id: unknown id scheme \"UUID\" (want uxid, uuid or bigserial; did you mean \"uuid\"?)\n" +
				"c.yaml:6:15: stores.s.lock_key: unknown lock key \"contenthash\" (want store, content_hash or both; did you mean \"content_hash\"?)\n" +
				"c.yaml:7:26: stores.s.timestamps_position: unknown position \"Leading\" (want trailing or leading; did you mean \"leading\"?)\n" +
				"c.yaml:8:27: stores.s.distinct_search_path: unknown value \"True\" (want true or false; did you mean \"true\"?)\n" +
				"c.yaml:9:14: stores.s.tables: unknown key \"chart\" (want charts, positions, executions, inputs; did you mean \"charts\"?)\n" +
				"c.yaml:10:25: stores.s.column_collations: unknown key \"stauts\" (want content_hash, session_id, execution_id, status, failure, door; did you mean \"status\"?)\n" +
				"c.yaml:11:39: stores.s.leading_columns.0.type: unknown column type \"TEXT[]\" (want " + wantType + "; did you mean \"text[]\"?)\n" +
				"c.yaml:11:66: stores.s.leading_columns.1.type: unknown column type \"timestamptx\" (want " + wantType + "; did you mean \"timestamptz\"?)\n" +
				"c.yaml:11:79: stores.s.leading_columns.1: unknown key \"not_nul\" (want name, type, collation, not_null, default; did you mean \"not_null\"?)",
		},
		"values far from right": {
			"{version: 1, stores: {s: {out: a, id: x, lock_key: " + strings.Repeat("k", 20) + "}}}",
			"c.yaml:1:39: stores.s.id: unknown id scheme \"x\" (want uxid, uuid or bigserial)\n" +
				"c.yaml:1:52: stores.s.lock_key: unknown lock key \"kkkkkkkkkkkkkkkkkkkk\" (want store, content_hash or both)",
		},
		"no out":               {`{version: 1, stores: {s: {}}}`, `c.yaml:1:26: stores.s.out: no folder (want one below the module's root, such as loanstore)`},
		"out above the root":   {`{version: 1, stores: {s: {out: ../a}}}`, `c.yaml:1:32: stores.s.out: "../a" is not a folder below the module's root`},
		"out is the root":      {`{version: 1, stores: {s: {out: ., package: a}}}`, `c.yaml:1:32: stores.s.out: "." is not a folder below the module's root`},
		"out is absolute":      {`{version: 1, stores: {s: {out: /a}}}`, `c.yaml:1:32: stores.s.out: "/a" is not a relative path with forward slashes`},
		"out in testdata":      {`{version: 1, stores: {s: {out: testdata/a}}}`, `c.yaml:1:32: stores.s.out: "testdata/a": the go command passes over a folder named "testdata"`},
		"out is no package":    {`{version: 1, stores: {s: {out: loan-store}}}`, `c.yaml:1:32: stores.s.out: "loan-store" cannot be the name of a Go package that others import; set package`},
		"package main":         {`{version: 1, stores: {s: {out: a, package: main}}}`, `c.yaml:1:44: stores.s.package: "main" cannot be the name of a Go package that others import`},
		"one folder twice":     {`{version: 1, stores: {s: {out: a}, t: {out: ./a}}}`, `c.yaml:1:45: stores.t.out: the folder "a" is, or overlaps, the folder "a" of store s`},
		"a folder in another":  {`{version: 1, stores: {s: {out: a}, t: {out: a/internal/db}}}`, `c.yaml:1:45: stores.t.out: the folder "a/internal/db" is, or overlaps, the folder "a" of store s`},
		"folders but for case": {`{version: 1, stores: {s: {out: a}, t: {out: A}}}`, `c.yaml:1:45: stores.t.out: the folder "A" is, or overlaps, the folder "a" of store s`},
		"public beside nothing": {
			`{version: 1, stores: {s: {out: a}, t: {out: b, prefix: public}}}`,
			`c.yaml:1:56: stores.t.prefix: store s without a prefix and store t with prefix "public" both have a table "statifier_charts", which are one if the search_path of the first leads there (want other names, one prefix, or distinct_search_path: true in store s)`,
		},
		"public beside nothing, said to be apart": {`{version: 1, stores: {s: {out: a, distinct_search_path: true}, t: {out: b, prefix: public}}}`, ``},
		"one set of tables, alike":                {`{version: 1, stores: {s: {out: a}, t: {out: b}}}`, ``},
		"one set of tables, two keys": {
			`{version: 1, stores: {s: {out: a}, t: {out: b, lock_key: both}}}`,
			`c.yaml:1:58: stores.t.lock_key: differs from the lock key of store s, which is on the same tables`,
		},
		"one set of tables, other columns": {
			`{version: 1, stores: {s: {out: a, id: uuid}, t: {out: b, leading_columns: [{name: x, type: text}]}}}`,
			"c.yaml:1:49: stores.t.id: differs from the id scheme of store s, which is on the same tables\n" +
				`c.yaml:1:75: stores.t.leading_columns: differs from the leading columns of store s, which is on the same tables`,
		},
		"some tables in common": {
			`{version: 1, stores: {s: {out: a}, t: {out: b, table_prefix: x_, tables: {inputs: statifier_inputs}}}}`,
			`c.yaml:1:74: stores.t.tables: shares "statifier_inputs", "statifier_inputs_execution_id_seq_index", "statifier_inputs_pkey" with store s (want all four tables shared, or none)`,
		},
		"one index name": {
			`{version: 1, stores: {s: {out: a, table_prefix: x-}, t: {out: b, table_prefix: x_}}}`,
			`c.yaml:1:57: stores.t.tables: shares "x_charts_content_hash_index", "x_executions_execution_id_index", "x_inputs_execution_id_seq_index", "x_positions_session_id_index" with store s (want all four tables shared, or none)`,
		},
		"charts named twice": {`{version: 1, stores: {s: {out: a, table: x, tables: {charts: y}}}}`, `c.yaml:1:62: stores.s.tables.charts: the charts table is named twice (table is short for tables.charts)`},
		"a CTE's name":       {`{version: 1, stores: {s: {out: a, table: sg_x}}}`, `c.yaml:1:42: stores.s.tables.charts: the table name "sg_x" begins with "sg_", which the queries keep for themselves`},
		"one Go name twice": {
			`{version: 1, stores: {s: {out: a, leading_columns: [{name: user_id, type: text}, {name: user-id, type: text}]}}}`,
			`c.yaml:1:89: stores.s.leading_columns.1.name: the Go field "UserID" of column "user-id" is also that of column "user_id" (want another name)`,
		},
		"a default of another type": {
			`{version: 1, stores: {s: {out: a, leading_columns: [{name: a, type: bigint, default: 010}]}}}`,
			`c.yaml:1:86: stores.s.leading_columns.0.default: "010" is not a default for bigint (want digits, such as 42, from -9223372036854775808 to 9223372036854775807)`,
		},
		"types that are none": {
			"version: 1\nstores:\n  s:\n    out: a\n    leading_columns:\n" +
				"      - {name: a, type: varchar}\n      - {name: b, type: varchar(0)}\n      - {name: c, type: varchar(10485761)}\n" +
				"      - {name: d, type: 'text[][]'}\n      - {name: e, type: text(3)}\n      - {name: f, type: 'text); DROP TABLE x'}\n" +
				"      - {name: g, type: varchar(01)}\n      - {name: h, type: timestamp with time zone, default: x}\n      - {name: i}\n",
			"c.yaml:6:25: stores.s.leading_columns.0.type: unknown column type \"varchar\" (want " + wantType + ")\n" +
				"c.yaml:7:25: stores.s.leading_columns.1.type: unknown length in \"varchar(0)\" (want a number from 1 to 10485760)\n" +
				"c.yaml:8:25: stores.s.leading_columns.2.type: unknown length in \"varchar(10485761)\" (want a number from 1 to 10485760)\n" +
				"c.yaml:9:25: stores.s.leading_columns.3.type: unknown column type \"text[][]\" (want " + wantType + "; did you mean \"text[]\"?)\n" +
				"c.yaml:10:25: stores.s.leading_columns.4.type: unknown column type \"text(3)\" (want " + wantType + ")\n" +
				"c.yaml:11:25: stores.s.leading_columns.5.type: unknown column type \"text); DROP TABLE x\" (want " + wantType + ")\n" +
				"c.yaml:12:25: stores.s.leading_columns.6.type: unknown length in \"varchar(01)\" (want a number from 1 to 10485760)\n" +
				"c.yaml:13:25: stores.s.leading_columns.7.type: unknown column type \"timestamp with time zone\" (want " + wantType + ")\n" +
				"c.yaml:14:9: stores.s.leading_columns.8.type: no type (want " + wantType + ")",
		},
		"a collation of what has none": {
			`{version: 1, stores: {s: {out: a, leading_columns: [{name: a, type: 'uuid[]', collation: C}]}}}`,
			`c.yaml:1:90: stores.s.leading_columns.0.collation: a uuid[] column has no collation (leave the key out; text, varchar(n) and arrays of them have one)`,
		},
		"another place for timestamps": {
			`{version: 1, stores: {s: {out: a, timestamps_position: first}}}`,
			`c.yaml:1:56: stores.s.timestamps_position: unknown position "first" (want trailing or leading)`,
		},
		"collations": {
			`{version: 1, stores: {s: {out: a, column_collations: {retired_by: C, door: "x.", status: ""}}}}`,
			`c.yaml:1:55: stores.s.column_collations: unknown key "retired_by" (want content_hash, session_id, execution_id, status, failure, door)` + "\n" +
				`c.yaml:1:76: stores.s.column_collations.door: an empty name (want a collation of pg_catalog's, such as C, or schema.name)` + "\n" +
				`c.yaml:1:90: stores.s.column_collations.status: an empty string (leave the key out for the default)`,
		},
		"collations that are no mapping": {
			`{version: 1, stores: {s: {out: a, column_collations: C}}}`,
			`c.yaml:1:54: stores.s.column_collations: want keys and values, not "C"`,
		},
		"distinct_search_path that is neither": {
			`{version: 1, stores: {s: {out: a, distinct_search_path: on}}}`,
			`c.yaml:1:57: stores.s.distinct_search_path: unknown value "on" (want true or false)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := config.Parse("c.yaml", []byte(c.text), host())
			schemaAgrees(t, c.text, err)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}
