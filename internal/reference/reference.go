// Package reference is for tests: what the reference's own migrations do to a database. It was written from the description
// of its tables, and knows nothing of package ddl, which is held against it.
package reference

import (
	"fmt"
	"strings"

	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/model"
)

// Migration is what the migration to a version does, as the reference's adapter words it.
func Migration(s model.Store, version int) []string {
	r := referenced{s}
	switch version {
	case 1:
		return r.v01("execution")
	case 2:
		return []string{"ALTER TABLE " + r.name(s.Executions.Name) + ` ADD COLUMN "metadata" jsonb`}
	case 3:
		return r.v03(s.Executions.Name)
	case 4:
		return []string{
			"DROP INDEX CONCURRENTLY IF EXISTS " + r.name(s.Executions.Name+"_metadata_gin_index"),
			"CREATE INDEX CONCURRENTLY " + r.raw(s.Executions.Name, "_metadata_gin_index") + " USING gin (metadata jsonb_path_ops)",
		}
	case 5:
		return r.v05("execution_id")
	case 7:
		charts := "ALTER TABLE " + r.name(s.Charts.Name)
		return []string{
			"CREATE INDEX " + r.raw(s.Executions.Name, "_content_hash_index") + ` ("content_hash")`,
			charts + ` ADD COLUMN "retired_at" timestamp, ADD COLUMN "retired_by" text`,
			charts + ` ALTER COLUMN "identity_blob" TYPE bytea, ALTER COLUMN "identity_blob" DROP NOT NULL`,
			charts + ` ALTER COLUMN "chart_blob" TYPE bytea, ALTER COLUMN "chart_blob" DROP NOT NULL`,
		}
	case 8:
		return []string{
			"ALTER TABLE " + r.name(s.Executions.Name) + ` ADD COLUMN "ended_at" timestamp`,
			"CREATE INDEX " + r.raw(s.Executions.Name, "_ended_at_index") + ` ("ended_at")`,
		}
	}
	return nil // 6 is for tables that have the old names
}

// BeforeRenaming is the same for a library before 0.12, for which an execution was a run.
func BeforeRenaming(s model.Store, version int) []string {
	r := referenced{s}
	if s.FormerRuns != "" {
		r.s.Executions.Name = s.FormerRuns
	}
	switch version {
	case 1:
		return r.v01("run")
	case 5:
		return r.v05("run_id")
	}
	return Migration(r.s, version)
}

type referenced struct{ s model.Store }

func (r referenced) name(name string) string {
	if r.s.Schema == "" {
		return keyspec.QuoteIdent(name)
	}
	return keyspec.QuoteIdent(r.s.Schema) + "." + keyspec.QuoteIdent(name)
}

// raw is an index whose name is spelled from the table's.
func (r referenced) raw(table, suffix string) string {
	return keyspec.QuoteIdent(table+suffix) + " ON " + r.name(table)
}

// derived is an index whose name Ecto makes: what is no word's character becomes an underscore.
func (r referenced) derived(table, columns string) string {
	name := model.Table{Name: table}.DerivedIndex(strings.ReplaceAll(columns, ", ", "_"))
	return "CREATE UNIQUE INDEX " + keyspec.QuoteIdent(name) + " ON " + r.name(table) + " (" + columns + ")"
}

func (r referenced) v01(execution string) []string {
	var all []string
	if r.s.Schema != "" {
		all = append(all, "CREATE SCHEMA IF NOT EXISTS "+keyspec.QuoteIdent(r.s.Schema))
	}
	return append(
		all,
		r.table(r.s.Charts.Name, r.text("content_hash", true), "identity_blob bytea NOT NULL", "chart_blob bytea NOT NULL"),
		r.derived(r.s.Charts.Name, "content_hash"),
		r.table(r.s.Positions.Name, r.text("session_id", true), r.text("content_hash", true), "identity_blob bytea NOT NULL", "position_blob bytea NOT NULL"),
		r.derived(r.s.Positions.Name, "session_id"),
		r.table(r.s.Executions.Name, strings.Replace(r.text("execution_id", true), "execution_id", execution+"_id", 1), r.text("status", true), r.text("content_hash", true),
			"identity_blob bytea NOT NULL", "position_blob bytea", r.text("failure", false), r.text("session_id", false)),
		r.derived(r.s.Executions.Name, execution+"_id"),
	)
}

func (r referenced) v03(executions string) []string {
	return []string{
		"ALTER TABLE " + r.name(executions) + " ADD COLUMN outcome_blob bytea",
		"CREATE INDEX " + r.raw(executions, "_metadata_gin_index") + " USING gin (metadata jsonb_path_ops)",
	}
}

func (r referenced) v05(execution string) []string {
	return []string{
		r.table(r.s.Inputs.Name, strings.Replace(r.text("execution_id", true), "execution_id", execution, 1), "seq bigint NOT NULL", r.text("door", true), "input_blob bytea"),
		r.derived(r.s.Inputs.Name, execution+", seq"),
	}
}

func (r referenced) text(column string, required bool) string {
	text := column + " text"
	if collation := r.s.Collations[column]; collation != "" {
		text += " COLLATE " + collation
	}
	if required {
		text += " NOT NULL"
	}
	return text
}

func (r referenced) table(name string, own ...string) string {
	ids := map[model.ID]string{model.UXID: "text", model.UUID: "uuid", model.Bigserial: "bigserial"}
	columns := []string{"id " + ids[r.s.ID] + " NOT NULL"}
	for _, c := range r.s.Leading {
		columns = append(columns, r.leading(c))
	}
	const stamps = "inserted_at timestamp NOT NULL, updated_at timestamp NOT NULL"
	if r.s.TimestampsFirst {
		columns = append(append(columns, stamps), own...)
	} else {
		columns = append(append(columns, own...), stamps)
	}
	return "CREATE TABLE " + r.name(name) + " (" + strings.Join(columns, ", ") + ", PRIMARY KEY (id))"
}

func (r referenced) leading(c model.Column) string {
	text := keyspec.QuoteIdent(c.Name) + " " + c.Type.String()
	if c.Collation != "" {
		text += " COLLATE " + c.Collation
	}
	if c.NotNull {
		text += " NOT NULL"
	}
	if c.Default != nil {
		text += fmt.Sprintf(" DEFAULT E'%s'", strings.NewReplacer(`'`, `''`, `\`, `\\`).Replace(*c.Default))
	}
	return text
}
