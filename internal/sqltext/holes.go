package sqltext

import (
	"strconv"
	"strings"

	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/model"
)

// liveStatuses are those of executions that pin their chart.
const liveStatuses = "'{active,needs_migration}'::pg_catalog.text[]"

// holes returns the word for every hole.
func holes(s model.Store) map[string]string {
	words := map[string]string{
		"create_schema": "",
		"id_type":       s.ID.ColumnType(),
		"id_value_type": s.ID.ValueType(),
		"id_zero":       s.ID.Zero() + "::" + s.ID.ValueType(),
		"id_column":     "",
		"id_value":      "",

		// One reading of the clock for all columns of a statement. OFFSET 0 keeps it from being inlined.
		"now": "(SELECT pg_catalog.timezone('UTC', pg_catalog.clock_timestamp()) AS now OFFSET 0)",

		"read_committed": "pg_catalog.current_setting('transaction_isolation') OPERATOR(pg_catalog.=) " +
			"ANY ('{read committed,read uncommitted}'::pg_catalog.text[])",

		// c is the child's row, p its parent's. A parent that does not exist pins nothing.
		"child_pins_chart": `c."metadata" OPERATOR(pg_catalog.@>) pg_catalog.jsonb_build_object('statifier_persistence', ` +
			`pg_catalog.jsonb_build_object('content_hash', @content_hash::pg_catalog.text))`,
		"live_parent_of_child": `p."execution_id" OPERATOR(pg_catalog.=) ` +
			`(c."metadata" OPERATOR(pg_catalog.->) 'statifier_persistence' OPERATOR(pg_catalog.->>) 'parent_execution_id') ` +
			`AND p."status" OPERATOR(pg_catalog.=) ANY (` + liveStatuses + `)`,

		"live_statuses": liveStatuses,
	}
	if s.Schema != "" {
		words["create_schema"] = "CREATE SCHEMA IF NOT EXISTS " + keyspec.QuoteIdent(s.Schema) + ";"
	}
	if s.ID.FromClient() {
		words["id_column"] = `"id", `
		words["id_value"] = "@id::" + s.ID.ValueType() + ", "
	}
	relations(s, words)
	locks(s, words)
	leading(s, words)
	timestamps(s, words)
	for _, column := range model.CollatedColumns() {
		words[column+"_type"] = "pg_catalog.text" + collate(s.Collations[column])
	}
	return words
}

func relations(s model.Store, words map[string]string) {
	for _, t := range s.Tables() {
		words[t.Concept] = s.Relation(t)
	}
	for hole, name := range map[string]string{
		"charts_content_hash_index":          s.Charts.DerivedIndex("content_hash"),
		"positions_session_id_index":         s.Positions.DerivedIndex("session_id"),
		"positions_content_hash_index":       s.Positions.Index("content_hash"),
		"executions_execution_id_index":      s.Executions.DerivedIndex("execution_id"),
		"executions_metadata_gin_index":      s.Executions.Index("metadata_gin"),
		"executions_content_hash_index":      s.Executions.Index("content_hash"),
		"executions_ended_at_index":          s.Executions.Index("ended_at"),
		"executions_live_content_hash_index": s.Executions.Index("live_content_hash"),
		"inputs_execution_id_seq_index":      s.Inputs.DerivedIndex("execution_id_seq"),
	} {
		words[hole] = keyspec.QuoteIdent(name)
	}
	words["tables"] = Tables(s)
	words["charts_filtered"] = filtered(s, s.Charts)
	words["filtered_charts"] = filteredNames(s, s.Charts)
	words["filtered_executions"] = filteredNames(s, s.Executions)
	words["filtered_tables"] = filteredNames(s, s.Charts, s.Positions, s.Executions)
}

// Tables is a relation of the store's tables: the concept, the name as SQL writes it and as the catalogs have it, the
// schema ("" leaves it to the search_path) and the oid, NULL where there is none.
func Tables(s model.Store) string {
	rows := make([]string, len(s.Tables()))
	for i, t := range s.Tables() {
		rows[i] = "SELECT " + Literal(t.Concept) + ", " + Literal(s.Relation(t)) + ", " +
			Literal(t.Name) + "::pg_catalog.name, " + Literal(s.Schema) + ", " + found(s, t)
	}
	return "(" + strings.Join(rows, " UNION ALL ") + ")"
}

// found looks a table up as the statements do, but in the catalogs where a schema is given.
func found(s model.Store, t model.Table) string {
	if s.Schema == "" {
		return "pg_catalog.to_regclass(" + Literal(s.Relation(t)) + ")::pg_catalog.oid"
	}
	return "(SELECT r.oid FROM pg_catalog.pg_class AS r JOIN pg_catalog.pg_namespace AS q ON q.oid OPERATOR(pg_catalog.=) r.relnamespace " +
		"WHERE q.nspname OPERATOR(pg_catalog.=) " + Literal(s.Schema) + " AND r.relname OPERATOR(pg_catalog.=) " + Literal(t.Name) + ")"
}

// filtered asks whether row-level security hides rows of the table from this role.
func filtered(s model.Store, t model.Table) string {
	return "pg_catalog.row_security_active(" + Literal(s.Relation(t)) + "::pg_catalog.text)"
}

// filteredNames lists those of the tables that row-level security filters; the empty string is none.
func filteredNames(s model.Store, tables ...model.Table) string {
	cases := make([]string, len(tables))
	for i, t := range tables {
		cases[i] = "CASE WHEN " + filtered(s, t) + " THEN " + Literal(s.Relation(t)) + " END"
	}
	return "pg_catalog.concat_ws(', ', " + strings.Join(cases, ", ") + ")"
}

// locks writes the advisory lock calls. The namespace and the store string stand in the SQL itself: no Go
// of a host computes, joins or passes them.
func locks(s model.Store, words map[string]string) {
	namespace := strconv.Itoa(int(keyspec.Namespace))
	keys := lockKeys(s, "@content_hash::pg_catalog.text")
	words["lock_charts_shared"] = "pg_catalog.pg_advisory_xact_lock_shared(" + namespace + ", k.key)"
	words["keys_of_h"] = strings.Join(lockKeys(s, "h.hash"), ", ")
	words["namespace"] = namespace
	words["probe_namespace"] = strconv.Itoa(int(keyspec.Namespace) + 1)
	calls := func(function, suffix, separator string) string {
		out := make([]string, len(keys))
		for i, key := range keys {
			out[i] = "pg_catalog." + function + "(" + namespace + ", " + key + ")" + suffix
		}
		return strings.Join(out, separator)
	}
	words["lock_chart_shared"] = calls("pg_advisory_xact_lock_shared", "", ", ")
	words["lock_chart_exclusive"] = calls("pg_advisory_xact_lock", " IS NOT NULL", " AND ")
	words["try_chart_exclusive"] = calls("pg_try_advisory_xact_lock", "", " AND ")
	objids := make([]string, len(keys))
	for i, key := range keys {
		objids[i] = key + "::pg_catalog.oid" // int4 to oid keeps the bits, as pg_locks shows them
	}
	words["chart_lock_keys"] = strings.Join(keys, ", ")
	words["chart_lock_objids"] = strings.Join(objids, ", ")
}

// lockKeys are the second keys of a content hash in the order in which they are taken. With two, the smaller one is first
// in every session; should they be equal, the second call takes nothing new.
func lockKeys(s model.Store, hash string) []string {
	byHash := "pg_catalog.hashtext(" + hash + ")"
	byStore := "pg_catalog.hashtext(" + Literal(keyspec.Text(s.StoreString(), "")) + " OPERATOR(pg_catalog.||) " + hash + ")"
	switch s.LockKey {
	case keyspec.ContentHash:
		return []string{byHash}
	case keyspec.Both:
		return []string{"LEAST(" + byHash + ", " + byStore + ")", "GREATEST(" + byHash + ", " + byStore + ")"}
	}
	return []string{byStore}
}

// leading writes the host's columns. Whatever their names are, results and parameters know them as lead_1,
// lead_2, …
func leading(s model.Store, words map[string]string) {
	var definitions, columns, values, aliases list
	of := map[string]*list{"c": {}, "e": {}, "i": {}, "p": {}}
	for _, c := range s.Leading {
		name := keyspec.QuoteIdent(c.Name)
		definitions.add(", " + definition(c))
		columns.add(name + ", ")
		values.add(value(c) + ", ")
		aliases.add("s." + c.Alias() + ", ")
		for table, columns := range of {
			columns.add(table + "." + name + " AS " + c.Alias() + ", ")
		}
	}
	words["lead_definitions"] = definitions.String()
	words["lead_columns"] = columns.String()
	words["lead_values"] = values.String()
	words["lead_aliases_of_s"] = aliases.String()
	for table, columns := range of {
		words["lead_of_"+table] = columns.String()
	}
}

func definition(c model.Column) string {
	text := keyspec.QuoteIdent(c.Name) + " " + c.Type.ColumnSQL() + collate(c.Collation)
	if c.NotNull {
		text += " NOT NULL"
	}
	if c.Default != nil {
		text += " DEFAULT " + Default(c)
	}
	return text
}

// Default is a column's default as an expression.
func Default(c model.Column) string { return Literal(*c.Default) + "::" + c.Type.ValueSQL() }

func collate(collation string) string {
	if collation == "" {
		return ""
	}
	return " COLLATE " + collation
}

// timestamps writes the two columns into one of the places where they may stand.
func timestamps(s model.Store, words map[string]string) {
	const both = `, "inserted_at" pg_catalog.timestamp NOT NULL, "updated_at" pg_catalog.timestamp NOT NULL`
	words["timestamps_leading"], words["timestamps_trailing"] = "", both
	if s.TimestampsFirst {
		words["timestamps_leading"], words["timestamps_trailing"] = both, ""
	}
}

// value is what an INSERT writes: the parameter or, where it is NULL, the default. INSERT … SELECT has no
// DEFAULT keyword, so the default's text stands here again.
func value(c model.Column) string {
	cast := "::" + c.Type.ValueSQL()
	if !c.Optional() {
		return "@" + c.Alias() + cast
	}
	parameter := "sqlc.narg(" + c.Alias() + ")" + cast
	if c.Default == nil {
		return parameter
	}
	return "COALESCE(" + parameter + ", " + Literal(*c.Default) + cast + ")"
}
