package ddl

import (
	"slices"

	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/sqltext"
)

// Before version 6 of the reference an execution was a run.
const (
	formerID = "run_id"
	laterID  = "execution_id"
)

// Former is the store with the name that its executions had then. If the host named that table itself, it kept the name.
func Former(s model.Store) model.Store {
	if s.FormerRuns != "" {
		s.Executions.Name = s.FormerRuns
	}
	return s
}

// formerIndexes are the old and the new names of the indexes that were named after runs.
func formerIndexes(s model.Store) [][2]string {
	former := Former(s).Executions
	return [][2]string{
		{former.DerivedIndex(formerID), s.Executions.DerivedIndex(laterID)},
		{s.Inputs.DerivedIndex(formerID + "_seq"), s.Inputs.DerivedIndex(laterID + "_seq")},
		{former.Index("metadata_gin"), s.Executions.Index("metadata_gin")},
	}
}

// Rename is version 6. Each name is changed where the old one is there and the new one is not. The primary key's and a
// sequence's old names stay, as the reference leaves them.
func Rename(s model.Store) []Statement {
	former := Former(s).Executions.Name
	lines := renameIf(s, former, s.Executions.Name, "ALTER TABLE "+keyspec.Relation(s.Schema, former))
	for _, t := range []model.Table{s.Executions, s.Inputs} {
		lines = append(lines,
			"IF EXISTS (SELECT FROM pg_catalog.pg_attribute AS a WHERE a.attrelid OPERATOR(pg_catalog.=) "+regclass(s, t.Name)+
				" AND a.attname OPERATOR(pg_catalog.=) '"+formerID+"') THEN",
			"  ALTER TABLE "+s.Relation(t)+` RENAME COLUMN "`+formerID+`" TO "`+laterID+`";`, "END IF;")
	}
	for _, names := range formerIndexes(s) {
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

// Renamed is what Rename makes of a state, and whether there is anything for it to do.
func Renamed(s model.Store, state State) (State, bool) {
	old := false
	tables := slices.Clone(state.Tables)
	for i, t := range tables {
		if t.Concept == s.Executions.Concept && t.Name != s.Executions.Name {
			tables[i].Name, old = s.Executions.Name, true
		}
		if _, was := t.Column(formerID); was && (t.Concept == s.Executions.Concept || t.Concept == s.Inputs.Concept) {
			tables[i].Columns, old = renamedColumns(t), true
		}
		tables[i].Indexes = renamedIndexes(t, formerIndexes(s))
	}
	state.Tables = tables
	return state, old
}

func renamedColumns(t Table) []Column {
	columns := slices.Clone(t.Columns)
	for i, c := range columns {
		if c.Name == formerID {
			columns[i].Name = laterID
		}
	}
	return columns
}

func renamedIndexes(t Table, names [][2]string) []Index {
	indexes := slices.Clone(t.Indexes)
	for i, index := range indexes {
		for _, n := range names {
			if index.Name == n[0] {
				indexes[i].Name = n[1]
			}
		}
		indexes[i].Keys = renamedKeys(index.Keys)
	}
	return indexes
}

func renamedKeys(keys []Key) []Key {
	keys = slices.Clone(keys)
	for i, key := range keys {
		if key.Column == formerID {
			keys[i].Column = laterID
		}
	}
	return keys
}
