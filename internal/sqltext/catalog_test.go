package sqltext

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/pgtest"
)

// written is the description of the reference's tables, word for word as far as a catalog can say it: columns in order, then
// indexes. CHARTS and the like stand for the tables' names, CHARTS_ for those in the names that Ecto derives, ID for the type
// of the id, and [content_hash] for the column's collation. LEAD is where the leading columns are, EARLY and LATE are the
// places for the two timestamps. Indexes of ours are marked with a plus.
const written = `
CHARTS id ID not null
LEAD
EARLY
CHARTS content_hash text[content_hash] not null
CHARTS identity_blob bytea
CHARTS chart_blob bytea
LATE
CHARTS retired_at timestamp without time zone
CHARTS retired_by text
POSITIONS id ID not null
LEAD
EARLY
POSITIONS session_id text[session_id] not null
POSITIONS content_hash text[content_hash] not null
POSITIONS identity_blob bytea not null
POSITIONS position_blob bytea not null
LATE
EXECUTIONS id ID not null
LEAD
EARLY
EXECUTIONS execution_id text[execution_id] not null
EXECUTIONS status text[status] not null
EXECUTIONS content_hash text[content_hash] not null
EXECUTIONS identity_blob bytea not null
EXECUTIONS position_blob bytea
EXECUTIONS failure text[failure]
EXECUTIONS session_id text[session_id]
LATE
EXECUTIONS metadata jsonb
EXECUTIONS outcome_blob bytea
EXECUTIONS ended_at timestamp without time zone
INPUTS id ID not null
LEAD
EARLY
INPUTS execution_id text[execution_id] not null
INPUTS seq bigint not null
INPUTS door text[door] not null
INPUTS input_blob bytea
LATE
CHARTS: primary key CHARTS_pkey btree (id IDOPS)
CHARTS: unique CHARTS_content_hash_index btree (content_hash text_ops)
POSITIONS: primary key POSITIONS_pkey btree (id IDOPS)
POSITIONS: unique POSITIONS_session_id_index btree (session_id text_ops)
+ POSITIONS: plain POSITIONS_content_hash_index btree (content_hash text_ops)
EXECUTIONS: primary key EXECUTIONS_pkey btree (id IDOPS)
EXECUTIONS: unique EXECUTIONS_execution_id_index btree (execution_id text_ops)
EXECUTIONS: plain EXECUTIONS_metadata_gin_index gin (metadata jsonb_path_ops)
EXECUTIONS: plain EXECUTIONS_content_hash_index btree (content_hash text_ops)
EXECUTIONS: plain EXECUTIONS_ended_at_index btree (ended_at timestamp_ops)
+ EXECUTIONS: plain EXECUTIONS_live_content_hash_index btree (content_hash text_ops) of some rows
INPUTS: primary key INPUTS_pkey btree (id IDOPS)
INPUTS: unique INPUTS_execution_id_seq_index btree (execution_id text_ops, seq int8_ops)
`

const bothTimestamps = "T inserted_at timestamp without time zone not null\nT updated_at timestamp without time zone not null\n"

// option is a config's way to shape the tables, and how the description reads with it.
type option struct {
	name, yaml string
	schema     string // "" is public
	id, ops    string // "" is text
	lead       string
	early      bool
	collations map[string]string
	tables     map[string]string // by the word in the description
}

func options() []option {
	return []option{
		{name: "no option", yaml: "{out: store}"},
		{name: "id uxid", yaml: "{out: store, id: uxid}"},
		{name: "id uuid", yaml: "{out: store, id: uuid}", id: "uuid", ops: "uuid_ops"},
		{name: "id bigserial", yaml: "{out: store, id: bigserial}", id: "bigint counted", ops: "int8_ops"},
		{
			name: "leading_columns", yaml: "{out: store, leading_columns: [{name: tenant_id, type: uuid, not_null: true}, " +
				"{name: region, type: varchar(7), collation: C, not_null: true, default: eu}, {name: tags, type: 'text[]'}]}",
			lead: "T tenant_id uuid not null\nT region character varying(7)/C not null default 'eu'::character varying\nT tags text[]\n",
		},
		{name: "timestamps_position trailing", yaml: "{out: store, timestamps_position: trailing}"},
		{name: "timestamps_position leading", yaml: "{out: store, timestamps_position: leading}", early: true},
		{
			name: "both in front", yaml: "{out: store, timestamps_position: leading, leading_columns: [{name: tenant_id, type: uuid}]}", early: true,
			lead: "T tenant_id uuid\n",
		},
		{
			name: "column_collations", yaml: "{out: store, column_collations: {content_hash: C, session_id: POSIX, execution_id: C, status: POSIX, failure: C, door: POSIX}}",
			collations: map[string]string{"content_hash": "C", "session_id": "POSIX", "execution_id": "C", "status": "POSIX", "failure": "C", "door": "POSIX"},
		},
		{name: "prefix", yaml: "{out: store, prefix: loans}", schema: "loans"},
		{name: "table_prefix", yaml: "{out: store, table_prefix: wf_}", tables: map[string]string{
			"CHARTS": "wf_charts", "POSITIONS": "wf_positions", "EXECUTIONS": "wf_executions", "INPUTS": "wf_inputs",
		}},
		{name: "tables", yaml: "{out: store, tables: {charts: The Charts, executions: runs.v2}}", tables: map[string]string{
			"CHARTS": "The Charts", "EXECUTIONS": "runs.v2",
		}},
		{name: "lock_key content_hash", yaml: "{out: store, lock_key: content_hash}"},
		{name: "lock_key both", yaml: "{out: store, lock_key: both}"},
	}
}

// expected is the description under the option.
func (o option) expected() string {
	text := strings.TrimPrefix(written, "\n")
	stamps := map[bool]string{true: bothTimestamps}
	text = strings.NewReplacer("LEAD\n", o.lead, "EARLY\n", stamps[o.early], "LATE\n", stamps[!o.early], "\n+ ", "\n").Replace(text)
	text = o.described(text)
	id, ops := o.id, o.ops
	if id == "" {
		id, ops = "text", "text_ops"
	}
	text = strings.NewReplacer(" ID not null", " "+id+" not null", "IDOPS", ops).Replace(text)
	return regexp.MustCompile(`\[[a-z_]+\]`).ReplaceAllStringFunc(text, func(column string) string {
		if c := o.collations[strings.Trim(column, "[]")]; c != "" {
			return "/" + c
		}
		return ""
	})
}

// described gives every line its table, and every table its name. In the names of two kinds of index Ecto puts an underscore
// for what is no word's character.
func (o option) described(text string) string {
	var out strings.Builder
	table := ""
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(line, " ")
		if word == "T" {
			word = table
		}
		table = word
		concept := strings.TrimSuffix(word, ":")
		name := o.tables[concept]
		if name == "" {
			name = "statifier_" + strings.ToLower(concept)
		}
		raw, derived := name, regexp.MustCompile(`[^A-Za-z0-9_]`).ReplaceAllString(name, "_")
		if strings.HasPrefix(rest, "unique ") {
			raw = derived
		}
		fmt.Fprintf(&out, "%s %s", strings.Replace(word, concept, name, 1), strings.Replace(rest, concept+"_", raw+"_", 1))
	}
	return out.String()
}

const (
	columnsMade = `SELECT a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
		|| CASE WHEN a.attcollation <> t.typcollation THEN '/' || l.collname ELSE '' END
		|| CASE WHEN pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%' THEN ' counted' ELSE '' END
		|| CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
		|| CASE WHEN pg_get_expr(d.adbin, d.adrelid) NOT LIKE 'nextval(%' THEN ' default ' || pg_get_expr(d.adbin, d.adrelid) ELSE '' END
		FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
		LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE a.attrelid = $1::regclass AND a.attnum > 0 ORDER BY a.attnum`
	// The object ids are in the order in which the server made the indexes.
	indexesMade = `SELECT CASE WHEN i.indisprimary THEN 'primary key ' WHEN i.indisunique THEN 'unique ' ELSE 'plain ' END || x.relname || ' ' || m.amname
		|| ' (' || (SELECT string_agg(a.attname || ' ' || o.opcname, ', ' ORDER BY k) FROM generate_subscripts(i.indkey, 1) AS k
			JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k] JOIN pg_opclass AS o ON o.oid = i.indclass[k]) || ')'
		|| CASE WHEN i.indpred IS NOT NULL THEN ' of some rows' ELSE '' END
		FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid JOIN pg_am AS m ON m.oid = x.relam
		WHERE i.indrelid = $1::regclass AND i.indisvalid AND i.indimmediate ORDER BY i.indexrelid`
	// What the description says that no table has.
	otherThingsMade = `SELECT 'constraint ' || conname FROM pg_constraint WHERE conrelid = $1::regclass AND contype NOT IN ('p', 'n')
		UNION ALL SELECT 'trigger ' || tgname FROM pg_trigger WHERE tgrelid = $1::regclass
		UNION ALL SELECT 'comment ' || description FROM pg_description WHERE classoid = 'pg_class'::regclass AND objoid = $1::regclass`
)

// found is what the catalogs say, in the description's words.
func (o option) found(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	schema := o.schema
	if schema == "" {
		schema = "public"
	}
	var columns, indexes, rest strings.Builder
	for _, concept := range []string{"CHARTS", "POSITIONS", "EXECUTIONS", "INPUTS"} {
		name := o.tables[concept]
		if name == "" {
			name = "statifier_" + strings.ToLower(concept)
		}
		for _, part := range []struct {
			to        *strings.Builder
			sql, word string
		}{{&columns, columnsMade, name}, {&indexes, indexesMade, name + ":"}, {&rest, otherThingsMade, name}} {
			rows, err := conn.Query(t.Context(), part.sql, `"`+schema+`"."`+name+`"`)
			if err != nil {
				t.Fatal(err)
			}
			lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range lines {
				fmt.Fprintf(part.to, "%s %s\n", part.word, line)
			}
		}
	}
	return columns.String() + indexes.String() + rest.String()
}

// schema.sql makes the reference's tables, column by column and index by index, under every option.
func TestTheCatalogIsTheReferencesUnderEveryOption(t *testing.T) {
	for _, o := range options() {
		t.Run(o.name, func(t *testing.T) {
			stores, err := config.Parse("statigen.yaml", []byte("{version: 1, stores: {s: "+o.yaml+"}}"), model.Module{Path: "example.com/host", Dir: "."})
			if err != nil {
				t.Fatal(err)
			}
			schema, err := Schema(stores[0])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(o.expected(), o.found(t, pgtest.New(t, string(schema)).Conn(t))); diff != "" {
				t.Errorf("catalog (-described +made):\n%s", diff)
			}
		})
	}
}
