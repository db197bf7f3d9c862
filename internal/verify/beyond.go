package verify

import (
	"fmt"
	"slices"

	"github.com/statigen/statigen/internal/ddl"
	"github.com/statigen/statigen/internal/keyspec"
)

// beyond looks at what a host has added. It is welcome to it, unless the store's rows are refused.
func (l *look) beyond(state, want ddl.State) {
	for _, d := range ddl.Compare(state, want) {
		if !d.Extra {
			continue
		}
		for _, t := range state.Tables {
			wanted, _ := want.Table(t.Concept)
			if l.at.Relation(l.table(t.Concept)) == d.Table {
				l.extraColumn(d, t)
				l.extraIndex(d, t, wanted)
			}
		}
	}
}

func (l *look) extraColumn(d ddl.Difference, t ddl.Table) {
	for _, c := range t.Columns {
		if d.Object == "column "+keyspec.QuoteIdent(c.Name) && c.Demanded() {
			l.difference(d, "is NOT NULL without a default, and the store does not know it: no row can be written (want a default, or NULL allowed)",
				"whoever made the column wanted a value in every row",
				[]ddl.Statement{{SQL: "ALTER TABLE " + d.Table + " ALTER COLUMN " + keyspec.QuoteIdent(c.Name) + " DROP NOT NULL"}})
		}
	}
}

func (l *look) extraIndex(d ddl.Difference, t, wanted ddl.Table) {
	for _, index := range t.Indexes {
		if d.Object != "index "+keyspec.QuoteIdent(index.Name) || !index.Unique {
			continue
		}
		switch {
		case index.Deferrable && slices.ContainsFunc(wanted.Indexes, func(w ddl.Index) bool { return w.Unique && covers(index, w) && covers(w, index) }):
			l.difference(d, fmt.Sprintf("is %s, and ON CONFLICT on its columns fails (want it gone)", index), "whoever made it may need it", d.Up)
		case refuses(index, wanted):
			l.difference(d, fmt.Sprintf("is %s, and is not the store's: it refuses rows that the store may write (want it gone)", index), "whoever made it may rely on it", d.Up)
		}
	}
}

// refuses says whether a unique index may refuse a row that the store's own indexes let in. One with a column that the
// store does not know is the host's affair.
func refuses(index ddl.Index, wanted ddl.Table) bool {
	unique := append([]ddl.Index{{Unique: true, Keys: []ddl.Key{{Column: "id"}}}}, wanted.Indexes...)
	if slices.ContainsFunc(unique, func(w ddl.Index) bool { return w.Unique && covers(index, w) }) {
		return false
	}
	return !slices.ContainsFunc(index.Keys, func(k ddl.Key) bool { _, known := wanted.Column(k.Column); return !known })
}

// covers says whether an index has all the columns of another.
func covers(index, other ddl.Index) bool {
	return !slices.ContainsFunc(other.Keys, func(k ddl.Key) bool {
		return !slices.ContainsFunc(index.Keys, func(i ddl.Key) bool { return i.Column == k.Column })
	})
}
