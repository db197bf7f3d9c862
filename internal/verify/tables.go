package verify

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/ddl"
	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/live"
	"github.com/statigen/statigen/internal/model"
)

//go:embed taken.sql
var takenSQL string

// tables holds the tables against those of schema.sql.
func (l *look) tables(ctx context.Context) error {
	state, err := l.read(ctx)
	if err != nil {
		return err
	}
	state, old := ddl.Renamed(l.at, state)
	want := ddl.At(l.at, ddl.Latest())
	accepted := accept(state, want)
	lacks := lacking(accepted, want)
	taken, err := l.takenNames(ctx)
	if err != nil {
		return err
	}
	if at := l.versions(lacks, want, old); len(at) > 0 && len(taken) == 0 {
		l.outdated(at, old)
	} else {
		l.differs(lacks, old, taken)
	}
	if err := l.primaryKeys(ctx, state); err != nil {
		return err
	}
	l.beyond(accepted, want)
	return nil
}

// read reads what is there. If the executions are not, they may have the name that they had as runs.
func (l *look) read(ctx context.Context) (ddl.State, error) {
	if len(l.places) == 0 && l.at.Schema == "" {
		return ddl.State{Tables: []ddl.Table{}}, nil
	}
	state, err := live.Read(ctx, l.tx, l.at)
	if _, there := state.Table("executions"); err != nil || there {
		return state, err
	}
	former, err := live.Read(ctx, l.tx, ddl.Former(l.at))
	if t, there := former.Table("executions"); there {
		if _, was := t.Column("run_id"); was {
			return former, err
		}
	}
	return state, err
}

// takenNames are the indexes, as differences name them, whose names something else has: what makes an index drops the one
// that is there first, and that is another table's.
func (l *look) takenNames(ctx context.Context) ([]string, error) {
	var names, objects []string
	for _, t := range l.at.Tables() {
		names = append(names, l.at.Indexes()[t.Concept]...)
	}
	oids := []uint32{}
	for _, p := range l.places {
		oids = append(oids, p.OID)
	}
	rows, _ := l.tx.Query(ctx, takenSQL, l.at.Schema, names, oids)
	taken, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, name := range taken {
		objects = append(objects, "index "+keyspec.QuoteIdent(name))
	}
	return objects, err
}

// accept is the state without what differs and is as good: a varchar in the place of a text, whose length is a bound of
// the host's own. The generated Verify accepts it as well. What the primary key is, is judged by itself.
func accept(state, want ddl.State) ddl.State {
	tables := slices.Clone(state.Tables)
	for i, t := range tables {
		wanted, _ := want.Table(t.Concept)
		columns := slices.Clone(t.Columns)
		for n, c := range columns {
			w, known := wanted.Column(c.Name)
			if known && w.Type == "pg_catalog.text" && strings.HasPrefix(c.Type, "pg_catalog.varchar") {
				columns[n].Type = w.Type
			}
			columns[n].PrimaryKey = w.PrimaryKey
		}
		tables[i].Columns = columns
	}
	state.Tables = tables
	return state
}

// lacking are the differences but for what the state has beyond the wanted one.
func lacking(state, want ddl.State) []ddl.Difference {
	return slices.DeleteFunc(ddl.Compare(state, want), func(d ddl.Difference) bool { return d.Extra })
}

// versions are the older ones that lack the very same, the oldest first. Some look alike, but the sixth has no old names.
func (l *look) versions(lacks []ddl.Difference, want ddl.State, old bool) []ddl.Version {
	var all []ddl.Version
	same := func(a, b ddl.Difference) bool { return a.String() == b.String() }
	for v := range ddl.Latest() {
		if old && v == ddl.Renaming {
			break
		}
		if slices.EqualFunc(lacks, lacking(ddl.At(l.at, v), want), same) {
			all = append(all, v)
		}
	}
	return all
}

// outdated tells of tables that are at an older version in all.
func (l *look) outdated(at []ddl.Version, old bool) {
	words := make([]string, len(at))
	for i, v := range at {
		words[i] = v.String()
	}
	text := fmt.Sprintf("and the tables that belong to it are at version %s", strings.Join(words, " or "))
	last := at[len(at)-1]
	if last == 0 {
		text = "and the tables that belong to it are not there"
	}
	if old {
		text += ", with the names that executions had before version 6"
	}
	l.worse(Version, l.at.StoreString(), fmt.Sprintf("%s (want version %s, by the statements of: statigen ddl --store %s --from %s)", text, ddl.Latest(), l.store.Name, last), "")
	f := &l.found[len(l.found)-1]
	for _, step := range ddl.Steps(l.at, last, ddl.Latest()) {
		f.SQL = append(f.SQL, step.Statements...)
	}
}

// differs tells each difference.
func (l *look) differs(lacks []ddl.Difference, old bool, taken []string) {
	if old {
		l.worse(Version, l.at.StoreString(), "and the tables that belong to it have names that executions had before version 6 of the reference", "")
		l.found[len(l.found)-1].SQL = ddl.Rename(l.at)
	}
	for _, d := range lacks {
		if slices.Contains(taken, d.Object) {
			l.difference(d, d.Text+", and something else in the schema has its name (want that renamed)", "", nil)
			continue
		}
		l.difference(d, d.Text, d.Risk, d.Up)
	}
}

func (l *look) difference(d ddl.Difference, text, risk string, sql []ddl.Statement) {
	kind := Table
	switch word, _, _ := strings.Cut(d.Object, " "); word {
	case "column":
		kind = Column
	case "index":
		kind = Index
	}
	l.worse(kind, d.Table, strings.TrimSpace(d.Object+" "+text), risk)
	l.found[len(l.found)-1].SQL = l.fitting(d.Table, sql)
}

// fitting are the statements as the table can have them: the server builds no index of a partitioned one concurrently.
func (l *look) fitting(relation string, sql []ddl.Statement) []ddl.Statement {
	if !slices.ContainsFunc(l.at.Tables(), func(t model.Table) bool { return l.relation(t) == relation && l.places[t.Concept].Kind == "p" }) {
		return sql
	}
	together := slices.Clone(sql)
	for i, s := range together {
		if s.Alone {
			together[i] = ddl.Statement{SQL: strings.Replace(s.SQL, " CONCURRENTLY", "", 1)}
		}
	}
	return together
}
