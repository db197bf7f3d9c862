package ddl

import (
	"strconv"
	"strings"

	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/sqltext"
)

// block is a DO statement. Its quotes are such as do not stand in it, whatever names do.
func block(lines ...string) []Statement {
	body := "\nBEGIN\n  " + strings.Join(lines, "\n  ") + "\nEND\n"
	quotes := "$statigen$"
	for i := 2; strings.Contains(body, quotes); i++ {
		quotes = "$statigen" + strconv.Itoa(i) + "$"
	}
	return together("DO " + quotes + body + quotes)
}

// refuseOverTombstones ends a way down from version 7: without its two columns a retired chart is one that was never
// saved whole, and anybody could put an execution on it.
func refuseOverTombstones(s model.Store) []Statement {
	return block(
		"IF EXISTS (SELECT FROM "+s.Relation(s.Charts)+` WHERE "retired_at" IS NOT NULL) THEN`,
		"  RAISE EXCEPTION USING MESSAGE = "+sqltext.Literal("charts of "+s.Relation(s.Charts)+" are retired: the tables stay at version 7")+";",
		"END IF;",
	)
}

// rename is version 6: before it an execution was a run. Each name is changed where the old one is there and the new one
// is not. The primary key's and a sequence's old names stay, as the reference leaves them.
func rename(s model.Store) []Statement {
	former := model.Table{Name: s.FormerRuns}
	if former.Name == "" {
		former.Name = s.Executions.Name // the host named the table itself, and it keeps that name
	}
	lines := renameIf(s, former.Name, s.Executions.Name, "ALTER TABLE "+keyspec.Relation(s.Schema, former.Name))
	for _, t := range []model.Table{s.Executions, s.Inputs} {
		lines = append(lines,
			"IF EXISTS (SELECT FROM pg_catalog.pg_attribute AS a WHERE a.attrelid OPERATOR(pg_catalog.=) "+regclass(s, t.Name)+
				" AND a.attname OPERATOR(pg_catalog.=) 'run_id') THEN",
			"  ALTER TABLE "+s.Relation(t)+` RENAME COLUMN "run_id" TO "execution_id";`, "END IF;")
	}
	for _, names := range [][2]string{
		{former.DerivedIndex("run_id"), s.Executions.DerivedIndex("execution_id")},
		{s.Inputs.DerivedIndex("run_id_seq"), s.Inputs.DerivedIndex("execution_id_seq")},
		{former.Index("metadata_gin"), s.Executions.Index("metadata_gin")},
	} {
		lines = append(lines, renameIf(s, names[0], names[1], "ALTER INDEX "+keyspec.Relation(s.Schema, names[0]))...)
	}
	return block(lines...)
}

func renameIf(s model.Store, old, name, alter string) []string {
	if old == name {
		return nil
	}
	return []string{
		"IF " + regclass(s, old) + " IS NOT NULL AND " + regclass(s, name) + " IS NULL THEN",
		"  " + alter + " RENAME TO " + keyspec.QuoteIdent(name) + ";", "END IF;",
	}
}

// regclass looks a name up as the statements do.
func regclass(s model.Store, name string) string {
	return "pg_catalog.to_regclass(" + sqltext.Literal(keyspec.Relation(s.Schema, name)) + ")"
}
