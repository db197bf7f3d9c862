package ddl

import (
	"slices"

	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/model"
)

// Changes are what makes a recorded state of the store's tables into what the config asks for, at the latest version, in
// the order in which it is done: the names that an execution has had, then the config at the recorded version, then each
// version. They are undone from the last to the first. What has a risk is among them.
func Changes(s model.Store, from State) []Difference {
	if from.Version == empty {
		return append(Compare(At(s, empty), At(s, Latest())), keeping(s))
	}
	var all []Difference
	if from.Version < Renaming {
		all = append(all, renaming(s))
	}
	all = append(all, Compare(from, At(s, from.Version))...)
	for v := from.Version + 1; v <= Latest(); v++ {
		all = append(all, changes(s, from.Version, v)...)
	}
	return all
}

// changes make version v of the one before, on the way from the first. What begins at 0 has no rows, and nobody in it who
// could be kept waiting.
func changes(s model.Store, first, v Version) []Difference {
	all := compare(At(s, v-1), At(s, v), first == empty)
	switch {
	case v == rebuilt && first == rebuilt-1:
		all = append(all, rebuilding(s))
	case v == retired:
		ofCharts := func(d Difference) bool { return d.Table == s.Relation(s.Charts) }
		others := slices.IndexFunc(all, func(d Difference) bool { return !ofCharts(d) })
		all = slices.Insert(all, others, keeping(s)) // undone before what it keeps, in one transaction with it
	}
	return all
}

func renaming(s model.Store) Difference {
	return Difference{Table: s.Relation(s.Executions), Text: "may have the names that an execution had when it was a run", Up: Rename(s)}
}

func rebuilding(s model.Store) Difference {
	name := keyspec.QuoteIdent(s.Executions.Index("metadata_gin"))
	return Difference{Table: s.Relation(s.Executions), Object: "index " + name, Text: "may be one whose build failed", Up: rebuild(s)}
}

// keeping does nothing on the way up.
func keeping(s model.Store) Difference {
	return Difference{Table: s.Relation(s.Charts), Text: "has no way back once a chart is retired", Down: refuseOverTombstones(s)}
}
