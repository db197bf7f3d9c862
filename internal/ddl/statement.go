package ddl

import (
	"strings"

	"github.com/statigen/statigen/internal/keyspec"
)

// Statement is one statement, without the semicolon behind it.
type Statement struct {
	SQL   string
	Alone bool // runs outside every transaction, as what is done CONCURRENTLY must
}

func together(sql string) []Statement { return []Statement{{SQL: sql}} }

// create is a table with its indexes. Nobody waits for an index of a table that nobody knows yet.
func (s State) create(t Table) []Statement {
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = "  " + c.definition()
	}
	all := together("CREATE TABLE " + s.relation(t) + " (\n" + strings.Join(columns, ",\n") + "\n)")
	for _, index := range t.Indexes {
		all = append(all, Statement{SQL: s.index(t, index, "")})
	}
	return all
}

func (c Column) definition() string {
	text := keyspec.QuoteIdent(c.Name) + " " + c.Type
	if c.Collation != "" {
		text += " COLLATE " + c.Collation
	}
	if c.PrimaryKey {
		return text + " PRIMARY KEY"
	}
	if c.NotNull {
		text += " NOT NULL"
	}
	if c.Default != "" {
		text += " DEFAULT " + c.Default
	}
	return text
}

// index creates an index; how is empty or CONCURRENTLY.
func (s State) index(t Table, index Index, how string) string {
	words := []string{"CREATE"}
	if index.Unique {
		words = append(words, "UNIQUE")
	}
	words = append(words, "INDEX")
	if how != "" {
		words = append(words, how)
	}
	words = append(words, keyspec.QuoteIdent(index.Name), "ON", s.relation(t))
	if index.Method != "btree" {
		words = append(words, "USING", index.Method)
	}
	words = append(words, index.keys())
	if index.Predicate != "" {
		words = append(words, "WHERE", index.Predicate)
	}
	return strings.Join(words, " ")
}

func (i Index) keys() string {
	keys := make([]string, len(i.Keys))
	for n, key := range i.Keys {
		keys[n] = keyspec.QuoteIdent(key.Column)
		if key.Collation != "" {
			keys[n] += " COLLATE " + key.Collation
		}
		if key.Class != "" {
			keys[n] += " " + key.Class
		}
	}
	return "(" + strings.Join(keys, ", ") + ")"
}

// build creates an index beside readers and writers. A build that failed left one that is not valid, so what is there
// goes first: run again, the pair makes it whole.
func (s State) build(t Table, index Index) []Statement { return s.replace(t, index, index) }

// replace puts an index in the place of one that is there, or may be.
func (s State) replace(t Table, is, want Index) []Statement {
	return append(s.drop(t, is), Statement{s.index(t, want, "CONCURRENTLY"), true})
}

// drop drops an index, and with it the constraint that it keeps: the server lets go of none alone.
func (s State) drop(t Table, index Index) []Statement {
	if index.Constraint {
		return s.alter(t, "DROP CONSTRAINT "+keyspec.QuoteIdent(index.Name))
	}
	return []Statement{{"DROP INDEX CONCURRENTLY IF EXISTS " + keyspec.Relation(s.Schema, index.Name), true}}
}

// alter changes a table.
func (s State) alter(t Table, what string) []Statement {
	return together("ALTER TABLE " + s.relation(t) + " " + what)
}

func (s State) alterColumn(t Table, c Column, what string) []Statement {
	return s.alter(t, "ALTER COLUMN "+keyspec.QuoteIdent(c.Name)+" "+what)
}
