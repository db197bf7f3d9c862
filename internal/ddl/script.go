package ddl

import (
	"fmt"
	"strings"

	"github.com/statigen/statigen/internal/model"
)

// Script is the steps as a text for psql: what belongs together in a transaction, what must stand alone outside.
func Script(s model.Store, from, to Version) string {
	var text strings.Builder
	fmt.Fprintf(&text, "-- The tables of the store %s, from version %s to %s. Run it with ON_ERROR_STOP: psql -v ON_ERROR_STOP=1 -f\n", s.StoreString(), from, to)
	for _, step := range Steps(s, from, to) {
		fmt.Fprintf(&text, "\n-- From %s to %s.", step.From, step.To)
		if step.Why != "" {
			fmt.Fprintf(&text, " Nothing to do: %s.", step.Why)
		}
		text.WriteString("\n" + Text(step.Statements))
	}
	return text.String()
}

// Text is statements as a text for psql.
func Text(statements []Statement) string {
	var text strings.Builder
	for _, unit := range Units(statements) {
		if unit.Alone {
			text.WriteString(unit.SQL + ";\n")
		} else {
			text.WriteString("BEGIN;\n" + unit.SQL + ";\nCOMMIT;\n")
		}
	}
	return text.String()
}

// Units puts the statements that stand together, one behind the other, into one: each unit is a transaction, or a
// statement that runs outside every transaction.
func Units(statements []Statement) []Statement {
	var units []Statement
	for _, group := range Groups(statements) {
		unit := group[0]
		for _, s := range group[1:] {
			unit.SQL += ";\n" + s.SQL
		}
		units = append(units, unit)
	}
	return units
}

// Groups are the statements of each unit.
func Groups(statements []Statement) [][]Statement {
	var groups [][]Statement
	for _, s := range statements {
		if last := len(groups) - 1; !s.Alone && last >= 0 && !groups[last][0].Alone {
			groups[last] = append(groups[last], s)
			continue
		}
		groups = append(groups, []Statement{s})
	}
	return groups
}
