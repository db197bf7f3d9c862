package verify

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/sqltext"
)

//go:embed place.sql
var placeSQL string

// place is where a table was found, and as what. Its fields are the columns of place.sql.
type place struct {
	OID                uint32
	Schema             string
	Kind, Persistence  string
	Usable, UsableHere bool // the schema, by the role and by the connection's
	Filtered           bool // by row-level security, for the role
}

// place finds the store's tables, and says whether they are the store's.
func (l *look) place(ctx context.Context) (ours bool, err error) {
	s, err := l.find(ctx)
	if err != nil {
		return false, fmt.Errorf("find the tables: %w", err)
	}
	if l.store.Schema == "" {
		if ours, err := l.searched(ctx, s); err != nil || !ours {
			return false, err
		}
	}
	return l.areTables(), nil
}

// find looks the tables up as the statements do. From then on the search_path holds the server's own.
func (l *look) find(ctx context.Context) (searched []string, err error) {
	sql := "SELECT t.concept, COALESCE(t.found, 0), pg_catalog.current_schemas(false)::pg_catalog.text[] FROM " +
		sqltext.Tables(l.store) + " AS t (concept, relation, name, prefix, found)"
	oids := map[string]uint32{}
	rows, _ := l.tx.Query(ctx, sql)
	var concept string
	var oid uint32
	if _, err := pgx.ForEachRow(rows, []any{&concept, &oid, &searched}, func() error { oids[concept] = oid; return nil }); err != nil {
		return nil, err
	}
	if _, err := l.tx.Exec(ctx, "SET LOCAL search_path TO pg_catalog, pg_temp"); err != nil {
		return nil, err
	}
	for concept, oid := range oids {
		rows, _ := l.tx.Query(ctx, placeSQL, oid, l.role.OID)
		found, err := pgx.CollectRows(rows, pgx.RowToStructByName[place])
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			l.places[concept] = found[0]
		}
	}
	return searched, nil
}

// relation is a table as SQL that mends writes it.
func (l *look) relation(t model.Table) string { return l.at.Relation(t) }

// areTables looks at what stands under the tables' names.
func (l *look) areTables() bool {
	ours := true
	for _, t := range l.at.Tables() {
		ours = l.isTable(t) && ours
	}
	return ours
}

func (l *look) isTable(t model.Table) bool {
	p, there := l.places[t.Concept]
	switch {
	case !there:
	case p.Kind != "r" && p.Kind != "p":
		l.add(Table, l.relation(t), "is "+kindWord(p.Kind)+" (want a table: behind this, row-level security and the lock of a row are another's)", "")
		return false
	case p.Persistence == "u":
		l.add(Table, l.relation(t), "is unlogged, and a crash empties it (want a logged table)",
			"the table is written anew while nobody can read it", "ALTER TABLE "+l.relation(t)+" SET LOGGED")
	}
	return true
}

func kindWord(relkind string) string {
	switch relkind {
	case "v":
		return "a view"
	case "m":
		return "a materialized view"
	case "f":
		return "a foreign table"
	}
	return fmt.Sprintf("of kind %q", relkind)
}
