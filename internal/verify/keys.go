package verify

import (
	"context"
	_ "embed"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/ddl"
	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/model"
)

//go:embed primarykey.sql
var primaryKeySQL string

//go:embed nondeterministic.sql
var nondeterministicSQL string

// primaryKey is a row of primarykey.sql.
type primaryKey struct {
	Name    string
	Columns []string
}

// primaryKeys demands one on the id alone, by whatever name: version 6 of the reference leaves an old one. A partitioned
// table cannot have it unless it is partitioned by the id.
func (l *look) primaryKeys(ctx context.Context, state ddl.State) error {
	for _, t := range state.Tables {
		id, there := t.Column("id")
		p, placed := l.places[t.Concept]
		if !there || id.PrimaryKey || !placed || p.Kind == "p" {
			continue
		}
		rows, _ := l.tx.Query(ctx, primaryKeySQL, p.OID)
		others, err := pgx.CollectRows(rows, pgx.RowToStructByName[primaryKey])
		if err != nil {
			return fmt.Errorf("read the primary key of %s: %w", l.relation(l.table(t.Concept)), err)
		}
		l.primaryKey(l.relation(l.table(t.Concept)), others)
	}
	return l.deterministic(ctx)
}

func (l *look) primaryKey(relation string, others []primaryKey) {
	text, risk := "has no primary key", "every row is looked at while nobody can write to the table, and two may have one id"
	var sql []string
	for _, other := range others {
		text, risk = "has a primary key on "+quoted(other.Columns), risk+"; whatever refers to the other key needs it"
		sql = append(sql, "ALTER TABLE "+relation+" DROP CONSTRAINT "+keyspec.QuoteIdent(other.Name))
	}
	l.worse(PrimaryKey, relation, text+` (want one on "id")`, risk, append(sql, "ALTER TABLE "+relation+` ADD PRIMARY KEY ("id")`)...)
}

// table is the table of a concept where it lies.
func (l *look) table(concept string) model.Table {
	i := slices.IndexFunc(l.at.Tables(), func(t model.Table) bool { return t.Concept == concept })
	return l.at.Tables()[i]
}

// deterministic: under another collation two keys can be one. If the config has it so, nothing else is to be mended.
func (l *look) deterministic(ctx context.Context) error {
	for _, t := range l.at.Tables() {
		rows, _ := l.tx.Query(ctx, nondeterministicSQL, l.places[t.Concept].OID)
		columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("read the collations of %s: %w", l.relation(t), err)
		}
		for _, column := range columns {
			if isKey(column) && l.at.Collations[column] != "" {
				l.worse(Column, l.relation(t), fmt.Sprintf("column %s has the collation %s, which is not deterministic: two keys can be one (want another in column_collations)",
					keyspec.QuoteIdent(column), l.at.Collations[column]), "")
			}
		}
	}
	return nil
}

// isKey says whether a column is compared with what a lock's key was made from, or with a status.
func isKey(column string) bool {
	return slices.Contains([]string{"content_hash", "session_id", "execution_id", "status"}, column)
}
