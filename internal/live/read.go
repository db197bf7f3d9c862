// Package live reads what a store's tables are in a database, in the words of package ddl. It writes nothing.
package live

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/ddl"
	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/sqltext"
)

//go:embed columns.sql
var columnsSQL string

//go:embed indexes.sql
var indexesSQL string

// Read reads the tables of the store that are there, with every index of theirs. What only looks another way is as ddl
// has it: the predicate of the index on live executions, and a default of the same value. The transaction's search_path
// finds the tables of a store without a schema. It changes that setting, and what the server refuses ends it: whoever
// calls rolls back.
func Read(ctx context.Context, tx pgx.Tx, s model.Store) (ddl.State, error) {
	r := reader{tx: tx, wanted: ddl.At(s, ddl.Latest()), state: ddl.State{Version: ddl.Latest(), Schema: s.Schema}}
	oids, err := r.find(ctx, s)
	if err != nil {
		return r.state, fmt.Errorf("find the tables: %w", err)
	}
	// Names that the server prints are qualified unless they are its own, and no temporary table comes before its catalogs.
	if _, err := tx.Exec(ctx, "SET LOCAL search_path TO pg_catalog, pg_temp"); err != nil {
		return r.state, fmt.Errorf("read the catalogs: %w", err)
	}
	for i, t := range s.Tables() {
		if oids[i] == 0 {
			continue
		}
		if err := r.table(ctx, t, oids[i]); err != nil {
			return r.state, fmt.Errorf("read table %s: %w", s.Relation(t), err)
		}
	}
	return r.state, nil
}

type reader struct {
	tx     pgx.Tx
	wanted ddl.State
	state  ddl.State
}

// find looks the tables up as the store's own Verify does, which a role that may not use the schema can; 0 is one that is
// not there.
func (r *reader) find(ctx context.Context, s model.Store) ([]uint32, error) {
	rows, _ := r.tx.Query(ctx, "SELECT COALESCE(t.found, 0) FROM "+sqltext.Tables(s)+" AS t (concept, relation, name, prefix, found)")
	return pgx.CollectRows(rows, pgx.RowTo[uint32])
}

func (r *reader) table(ctx context.Context, t model.Table, oid uint32) error {
	table := ddl.Table{Concept: t.Concept, Name: t.Name}
	rows, _ := r.tx.Query(ctx, columnsSQL, oid)
	columns, err := pgx.CollectRows(rows, pgx.RowToStructByName[column])
	if err != nil {
		return err
	}
	for _, c := range columns {
		read, err := r.column(ctx, t, c)
		if err != nil {
			return err
		}
		table.Columns = append(table.Columns, read)
	}
	table.Indexes, err = r.indexes(ctx, oid)
	r.state.Tables = append(r.state.Tables, table)
	return err
}

// column is a row of columns.sql.
type column struct {
	Name, TypeSchema, Type, Modifier string
	CollationSchema, Collation       string
	NotNull, PrimaryKey              bool
	Counted, Generated               bool
	Default                          string
}

func (r *reader) column(ctx context.Context, t model.Table, c column) (ddl.Column, error) {
	read := ddl.Column{
		Name: c.Name, Type: qualified(c.TypeSchema, c.Type) + c.Modifier, NotNull: c.NotNull, PrimaryKey: c.PrimaryKey, Default: c.Default,
	}
	if c.Collation != "" {
		read.Collation = keyspec.Relation(c.CollationSchema, c.Collation)
	}
	if c.Counted && read.Type == "pg_catalog.int8" {
		read.Type, read.Default = ddl.Bigserial, ""
		return read, nil
	}
	if c.Generated {
		read.Default = ddl.Generated + "(" + c.Default + ")"
		return read, nil
	}
	if c.Counted && c.Default == "" {
		read.Default = ddl.Identity
		return read, nil
	}
	if table, _ := r.wanted.Table(t.Concept); c.Default != "" {
		wanted, _ := table.Column(c.Name)
		same, err := r.sameValue(ctx, c.Default, wanted.Default)
		if same {
			read.Default = wanted.Default
		}
		return read, err
	}
	return read, nil
}

// sameValue evaluates two defaults where nothing can be written. One that cannot be evaluated so is another value.
func (r *reader) sameValue(ctx context.Context, is, want string) (same bool, err error) {
	if want == "" {
		return false, nil
	}
	part, err := r.tx.Begin(ctx)
	if err != nil {
		return false, err
	}
	_, refused := part.Exec(ctx, "SET LOCAL transaction_read_only TO on")
	if refused == nil {
		refused = part.QueryRow(ctx, "SELECT ("+is+")::pg_catalog.text IS NOT DISTINCT FROM ("+want+")::pg_catalog.text").Scan(&same)
	}
	return same && refused == nil, part.Rollback(ctx)
}

// qualified writes the name of a type or of an operator class as ddl does: the server's own need no quotes.
func qualified(schema, name string) string {
	if schema == "pg_catalog" {
		return schema + "." + name
	}
	return keyspec.Relation(schema, name)
}

// index is a row of indexes.sql.
type index struct {
	Name, Method, Predicate  string
	Unique, Valid, Immediate bool
	Constraint               bool
	Columns, Collations      []string
	CollationSchemas         []string
	ClassSchemas, Classes    []string
	Options                  []int32
}

func (r *reader) indexes(ctx context.Context, oid uint32) ([]ddl.Index, error) {
	rows, _ := r.tx.Query(ctx, indexesSQL, oid)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[index])
	if err != nil {
		return nil, err
	}
	indexes := make([]ddl.Index, len(found))
	for i, f := range found {
		indexes[i] = ddl.Index{
			Name: f.Name, Unique: f.Unique, Method: f.Method, Keys: f.keys(), Predicate: predicate(f.Predicate),
			Invalid: !f.Valid, Deferrable: !f.Immediate, Constraint: f.Constraint,
		}
	}
	return indexes, nil
}

func (i index) keys() []ddl.Key {
	keys := make([]ddl.Key, len(i.Columns))
	for n, column := range i.Columns {
		keys[n].Column = column
		if i.Collations[n] != "" {
			keys[n].Collation = keyspec.Relation(i.CollationSchemas[n], i.Collations[n])
		}
		if i.Classes[n] != "" {
			keys[n].Class = qualified(i.ClassSchemas[n], i.Classes[n])
		}
		if i.Options[n] != 0 {
			keys[n].Class = strings.TrimSpace(keys[n].Class + " DESC or NULLS FIRST")
		}
	}
	return keys
}

// predicate recognizes ours, as servers print it: a status that is a varchar comes with a cast.
func predicate(text string) string {
	ours := []string{
		"(status = ANY ('{active,needs_migration}'::text[]))", "((status)::text = ANY ('{active,needs_migration}'::text[]))",
	}
	if slices.Contains(ours, text) {
		return ddl.Live
	}
	return text
}
