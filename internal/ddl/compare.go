package ddl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/sqltext"
)

// Difference is one thing in which a state is not as it is wanted.
type Difference struct {
	Table  string // as SQL writes it
	Object string // of the table: a column or an index; "" for the table itself
	Text   string // what is the matter, and what is wanted
	// Extra is what the state has beyond the wanted one.
	Extra bool
	// Risk says why the change is not made unasked; "" is no risk.
	Risk     string
	Up, Down []Statement // the change, and the way back
}

func (d Difference) String() string {
	if d.Object == "" {
		return d.Table + " " + d.Text
	}
	return d.Table + ": " + d.Object + " " + d.Text
}

// comparison holds a state against the wanted one.
type comparison struct {
	from, to State
	fresh    bool // no row is there yet
	found    []Difference
}

// Compare lists what must change for from to become to, in the order in which it is done. What from has beyond it is
// told as well. The columns' order in a table makes no difference.
func Compare(from, to State) []Difference { return compare(from, to, false) }

func compare(from, to State, fresh bool) []Difference {
	c := &comparison{from: from, to: to, fresh: fresh}
	if moved := len(from.Tables) > 0 && from.Schema != to.Schema; moved {
		c.moved()
		c.from.Schema = to.Schema
	}
	for _, want := range to.Tables {
		is, there := from.Table(want.Concept)
		if !there {
			c.add(want, "", "is missing", "", c.create(want), together("DROP TABLE "+to.relation(want)))
			continue
		}
		c.table(is, want)
	}
	return c.found
}

// create is a table with its indexes, and before the first the schema. The way back leaves that: it may hold more.
func (c *comparison) create(t Table) []Statement {
	all := c.to.create(t)
	if len(c.from.Tables) == 0 && len(c.found) == 0 && c.to.Schema != "" {
		all = append(together("CREATE SCHEMA IF NOT EXISTS "+keyspec.QuoteIdent(c.to.Schema)), all...)
	}
	return all
}

func (c *comparison) add(t Table, object, text, risk string, up, down []Statement) {
	c.found = append(c.found, Difference{Table: c.to.relation(t), Object: object, Text: text, Risk: risk, Up: up, Down: down})
}

// beyond adds what is not wanted.
func (c *comparison) beyond(t Table, object, text, risk string, up, down []Statement) {
	c.add(t, object, text, risk, up, down)
	c.found[len(c.found)-1].Extra = true
}

func (c *comparison) table(is, want Table) {
	if is.Name != want.Name {
		c.renamed(is, want)
		is.Name = want.Name
	}
	for _, column := range want.Columns {
		c.column(is, want, column)
	}
	for _, column := range is.Columns {
		if _, wanted := want.Column(column.Name); !wanted {
			c.extra(want, column)
		}
	}
	c.indexes(is, want)
}

const newKey = "the store string is the lock's key: until every replica and every other writer has the new one, a retirement does not exclude them"

func (c *comparison) moved() {
	for i, t := range c.from.Tables {
		up := together("ALTER TABLE " + c.from.relation(t) + " SET SCHEMA " + keyspec.QuoteIdent(c.to.Schema))
		if i == 0 {
			up = append(together("CREATE SCHEMA IF NOT EXISTS "+keyspec.QuoteIdent(c.to.Schema)), up...)
		}
		down := together("ALTER TABLE " + c.to.relation(t) + " SET SCHEMA " + keyspec.QuoteIdent(c.from.Schema))
		if c.from.Schema == "" || c.to.Schema == "" {
			up, down = nil, nil // which schema that is, the search_path says
		}
		c.found = append(c.found, Difference{
			Table: c.from.relation(t), Text: fmt.Sprintf("is in %s (want %s)", schemaWord(c.from.Schema), schemaWord(c.to.Schema)),
			Risk: newKey, Up: up, Down: down,
		})
	}
}

func schemaWord(schema string) string {
	if schema == "" {
		return "no schema of the config's"
	}
	return "the schema " + keyspec.QuoteIdent(schema)
}

func (c *comparison) renamed(is, want Table) {
	risk := "whatever else uses the table knows it by its name"
	if want.Concept == "charts" {
		risk = newKey
	}
	c.add(is, "", "has another name (want "+c.to.relation(want)+")", risk,
		c.to.alter(is, "RENAME TO "+keyspec.QuoteIdent(want.Name)), c.to.alter(want, "RENAME TO "+keyspec.QuoteIdent(is.Name)))
}

func (c *comparison) column(is, want Table, column Column) {
	got, there := is.Column(column.Name)
	if !there {
		c.missing(want, column)
		return
	}
	object := "column " + keyspec.QuoteIdent(column.Name)
	if got.Type != column.Type || got.Collation != column.Collation {
		c.add(want, object, fmt.Sprintf("is %s (want %s)", got.typ(), column.typ()), got.typeRisk(column), c.retyped(want, got, column), c.retyped(want, column, got))
		got.Default = column.Default
	}
	if got.Default != column.Default {
		c.add(want, object, fmt.Sprintf("has %s (want %s)", got.defaultWord(), column.defaultWord()), "", c.defaulted(want, got, column), c.defaulted(want, column, got))
	}
	if got.PrimaryKey != column.PrimaryKey {
		c.primaryKey(want, object, column)
	} else if got.NotNull != column.NotNull {
		c.nullability(want, object, column)
	}
}

func (c Column) typ() string {
	if c.Collation == "" {
		return c.Type
	}
	return c.Type + " COLLATE " + c.Collation
}

func (c Column) defaultWord() string {
	if c.Default == "" {
		return "no default"
	}
	return "the default " + c.Default
}

// typeRisk: a varchar that grows, or becomes a text, is only written down anew.
func (c Column) typeRisk(want Column) string {
	longer := strings.HasPrefix(c.Type, varchar) && (want.Type == textType || strings.HasPrefix(want.Type, varchar) && length(want.Type) > length(c.Type))
	if longer && c.Collation == want.Collation {
		return ""
	}
	return "every row is converted while nobody can read the table, or an index built anew, and a value may not fit"
}

const varchar = "pg_catalog.varchar("

func length(typ string) (n int) {
	_, _ = fmt.Sscanf(typ, varchar+"%d)", &n)
	return n
}

// retyped changes a type. The value that a column has by itself is one of the old type, and may be none of the new.
func (c *comparison) retyped(t Table, from, to Column) []Statement {
	if from.Type == to.Type {
		return c.typed(t, to)
	}
	all := append(c.undefaulted(t, from), c.typed(t, to)...)
	if to.Default != "" {
		all = append(all, c.to.alterColumn(t, to, "SET DEFAULT "+to.Default)...)
	}
	return all
}

func (c *comparison) typed(t Table, column Column) []Statement {
	collate := ""
	if column.Collation != "" {
		collate = " COLLATE " + column.Collation
	}
	if column.Type == Bigserial {
		return c.counted(t, column)
	}
	return c.to.alterColumn(t, column, "TYPE "+column.Type+collate+" USING "+keyspec.QuoteIdent(column.Name)+"::"+column.Type)
}

// counted makes an id that the server counts, from the greatest that is there.
func (c *comparison) counted(t Table, column Column) []Statement {
	name := keyspec.QuoteIdent(column.Name)
	all := c.to.alterColumn(t, column, "TYPE pg_catalog.int8 USING "+name+"::pg_catalog.int8")
	all = append(all, c.to.alterColumn(t, column, "ADD GENERATED BY DEFAULT AS IDENTITY")...)
	// By the column and not by its sequence: one that it had before may still be called its own.
	return append(all, block("EXECUTE pg_catalog.concat("+sqltext.Literal("ALTER TABLE "+c.to.relation(t)+" ALTER COLUMN "+name+" RESTART WITH ")+
		", (SELECT COALESCE(pg_catalog.max("+name+"), 0) OPERATOR(pg_catalog.+) 1 FROM "+c.to.relation(t)+"));")...)
}

func (c *comparison) defaulted(t Table, from, to Column) []Statement {
	if to.Default == "" {
		return c.undefaulted(t, from)
	}
	return c.to.alterColumn(t, to, "SET DEFAULT "+to.Default)
}

// undefaulted takes away the value that a column has by itself, whichever way.
func (c *comparison) undefaulted(t Table, column Column) []Statement {
	switch {
	case strings.HasPrefix(column.Default, Generated):
		return c.to.alterColumn(t, column, "DROP EXPRESSION")
	case column.Default == Identity:
		return c.to.alterColumn(t, column, "DROP IDENTITY")
	case column.Type == Bigserial: // an identity, or a default that reads a sequence
		return append(c.to.alterColumn(t, column, "DROP IDENTITY IF EXISTS"), c.to.alterColumn(t, column, "DROP DEFAULT")...)
	case column.Default == "":
		return nil
	}
	return c.to.alterColumn(t, column, "DROP DEFAULT")
}

func (c *comparison) nullability(t Table, object string, column Column) {
	loose, strict := c.to.alterColumn(t, column, "DROP NOT NULL"), c.to.alterColumn(t, column, "SET NOT NULL")
	if column.NotNull {
		c.add(t, object, "may be NULL (want NOT NULL)", "every row is looked at while nobody can read the table, and one may hold NULL", strict, loose)
		return
	}
	c.add(t, object, "is NOT NULL (want it to take NULL)", "", loose, strict)
}

func (c *comparison) primaryKey(t Table, object string, column Column) {
	if column.PrimaryKey {
		c.add(t, object, "is no primary key (want one)", "every row is looked at while nobody can write to the table, and two may have one id",
			c.to.alter(t, "ADD PRIMARY KEY ("+keyspec.QuoteIdent(column.Name)+")"), nil)
		return
	}
	c.add(t, object, "is the primary key (want none)", "whatever refers to the table needs it", nil, nil)
}

func (c *comparison) missing(t Table, column Column) {
	name := keyspec.QuoteIdent(column.Name)
	down := c.to.alter(t, "DROP COLUMN "+name)
	if !column.NotNull || column.Default != "" {
		c.add(t, "column "+name, "is missing", "", c.to.alter(t, "ADD COLUMN "+column.definition()), down)
		return
	}
	loose := column
	loose.NotNull = false
	up := append(c.to.alter(t, "ADD COLUMN "+loose.definition()), c.to.alterColumn(t, column, "SET NOT NULL")...)
	c.add(t, "column "+name, "is missing", "it is NOT NULL without a default: fill it in the rows that are there before the last of these", up, down)
}

// extra is a column that is not wanted. It may hold what somebody needs.
func (c *comparison) extra(t Table, column Column) {
	name := keyspec.QuoteIdent(column.Name)
	text := "is not the store's"
	if column.Demanded() {
		text += ", and is NOT NULL without a default: no row can be written"
	}
	c.beyond(t, "column "+name, text, "what the column holds is lost", c.to.alter(t, "DROP COLUMN "+name), c.to.alter(t, "ADD COLUMN "+column.definition()))
}

func (c *comparison) indexes(is, want Table) {
	for _, index := range want.Indexes {
		c.index(is, want, index)
	}
	for _, index := range is.Indexes {
		known := func(i Index) bool { return i.Name == index.Name || i.sameAs(index) }
		if !slices.ContainsFunc(want.Indexes, known) {
			c.beyond(want, "index "+keyspec.QuoteIdent(index.Name), "is not wanted", "", c.to.drop(want, index), c.to.build(want, index))
		}
	}
}

func (c *comparison) index(is, want Table, index Index) {
	object := "index " + keyspec.QuoteIdent(index.Name)
	if i := slices.IndexFunc(is.Indexes, func(i Index) bool { return i.Name == index.Name }); i >= 0 {
		if got := is.Indexes[i]; !got.sameAs(index) {
			c.add(want, object, fmt.Sprintf("is %s (want %s)", got, index), "", c.to.replace(want, got, index), c.to.replace(want, index, got))
		}
		return
	}
	if i := slices.IndexFunc(is.Indexes, index.sameAs); i >= 0 {
		c.misnamed(want, object, is.Indexes[i], index)
		return
	}
	up := c.to.build(want, index)
	if c.fresh {
		up = together(c.to.index(want, index, ""))
	}
	c.add(want, object, "is missing", "", up, c.to.drop(want, index))
}

func (c *comparison) misnamed(t Table, object string, is, want Index) {
	rename := func(from, to string) []Statement {
		return together("ALTER INDEX " + keyspec.Relation(c.to.Schema, from) + " RENAME TO " + keyspec.QuoteIdent(to))
	}
	c.add(t, object, "has the name "+keyspec.QuoteIdent(is.Name), "", rename(is.Name, want.Name), rename(want.Name, is.Name))
}

// sameAs says whether two indexes are one but for their names.
func (i Index) sameAs(o Index) bool {
	return i.Deferrable == o.Deferrable && i.Unique == o.Unique && i.Method == o.Method && i.Predicate == o.Predicate && !i.Invalid && !o.Invalid && slices.Equal(i.Keys, o.Keys)
}

// String is what an index is.
func (i Index) String() string {
	text := i.Method + " " + i.keys()
	if i.Unique {
		text = "unique " + text
	}
	if i.Predicate != "" {
		text += " WHERE " + i.Predicate
	}
	if i.Deferrable {
		text = "deferrable " + text
	}
	if i.Invalid {
		text = "not valid"
	}
	return text
}
