package verify

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/model"
)

//go:embed grants.sql
var grantsSQL string

//go:embed sequences.sql
var sequencesSQL string

// privileges lists what the verbs need, by concept. A test asks a server whether the statements need just these.
func privileges() map[string][]string {
	return map[string][]string{
		"charts":     {"SELECT", "INSERT", "UPDATE"},
		"positions":  {"SELECT", "INSERT", "UPDATE", "DELETE"},
		"executions": {"SELECT", "INSERT", "UPDATE"},
		"inputs":     {"SELECT", "INSERT"},
	}
}

// grants looks for what the role lacks. A grant on some of the columns is the host's own care, and taken for one on the
// table.
func (l *look) grants(ctx context.Context) error {
	l.schemaUsage()
	for _, t := range l.at.Tables() {
		needed := privileges()[t.Concept]
		p, there := l.places[t.Concept]
		if !there {
			l.grantsOnMissing(t, needed)
			continue
		}
		if err := l.grantsOn(ctx, t, p, needed); err != nil {
			return fmt.Errorf("look at the privileges on %s: %w", l.relation(t), err)
		}
	}
	return nil
}

// schemaUsage is needed by the role, and by whoever has statements prepared.
func (l *look) schemaUsage() {
	for _, p := range l.places {
		schema := keyspec.QuoteIdent(p.Schema)
		if !p.Usable {
			l.worse(Privilege, schema, l.roleWord()+" may not use the schema (want USAGE)", "", "GRANT USAGE ON SCHEMA "+schema+" TO "+keyspec.QuoteIdent(l.role.Name))
		}
		if !p.UsableHere && l.role.Others {
			l.worse(Privilege, schema, "the role of this connection may not use the schema: no statement was tried (want USAGE, or another role in --database-url)", "",
				"GRANT USAGE ON SCHEMA "+schema+" TO CURRENT_USER")
		}
		return // all are in one
	}
	if s := l.at.Schema; s != "" && l.role.Others && !l.role.Super {
		l.worse(Privilege, keyspec.QuoteIdent(s), l.roleWord()+" may not use the schema (want USAGE)", "", "GRANT USAGE ON SCHEMA "+keyspec.QuoteIdent(s)+" TO "+keyspec.QuoteIdent(l.role.Name))
	}
}

func (l *look) roleWord() string { return "the role " + keyspec.QuoteIdent(l.role.Name) }

func (l *look) grantsOn(ctx context.Context, t model.Table, p place, needed []string) error {
	rows, _ := l.tx.Query(ctx, grantsSQL, p.OID, l.role.OID, needed)
	lacks, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	l.lacks(l.relation(t), "", lacks)
	if !slices.Contains(needed, "INSERT") {
		return nil
	}
	rows, _ = l.tx.Query(ctx, sequencesSQL, p.OID, l.role.OID)
	sequences, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, sequence := range sequences {
		l.lacks(sequence, "SEQUENCE ", []string{"USAGE"})
	}
	return err
}

func (l *look) lacks(object, kind string, privileges []string) {
	if len(privileges) > 0 {
		list := strings.Join(privileges, ", ")
		l.add(Privilege, object, l.roleWord()+" lacks "+list, "", "GRANT "+list+" ON "+kind+object+" TO "+keyspec.QuoteIdent(l.role.Name))
	}
}

// grantsOnMissing: whoever makes a table owns it, and another role has nothing on it.
func (l *look) grantsOnMissing(t model.Table, needed []string) {
	if !l.role.Others || l.role.Super {
		return
	}
	l.lacks(l.relation(t), "", needed)
	if l.at.ID == model.Bigserial && slices.Contains(needed, "INSERT") {
		l.lacks(keyspec.Relation(l.at.Schema, t.Name+"_id_seq"), "SEQUENCE ", []string{"USAGE"})
	}
}

// rowSecurity looks for tables of which the role may not see every row: the verbs refuse to work there.
func (l *look) rowSecurity(context.Context) error {
	for _, t := range l.at.Tables() {
		if l.places[t.Concept].Filtered {
			l.add(RowSecurity, l.relation(t), "hides rows from "+l.roleWord()+" by row-level security, and the verbs refuse to work (want it off, or a role with BYPASSRLS)",
				"whoever set its policies up wanted rows hidden", "ALTER TABLE "+l.relation(t)+" DISABLE ROW LEVEL SECURITY")
		}
	}
	return nil
}
