package migrations

import (
	"fmt"
	"strings"

	"github.com/statigen/statigen/internal/ddl"
)

// Refusal says which changes are not made unasked.
type Refusal struct {
	Store       string
	Differences []ddl.Difference
	Safe        int // changes that were to be made beside them
}

// refuse looks for a risk.
func refuse(store string, differences []ddl.Difference, considered bool) error {
	refusal := &Refusal{Store: store}
	for _, d := range differences {
		if d.Risk == "" {
			refusal.Safe++
		} else {
			refusal.Differences = append(refusal.Differences, d)
		}
	}
	if considered || len(refusal.Differences) == 0 {
		return nil
	}
	return refusal
}

// Error has a paragraph for each.
func (r *Refusal) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "store %s: %d of %d changes of the tables want somebody to consider them, and nothing is written "+
		"(want the config as it was, or --considered, which writes them for you to finish by hand)",
		r.Store, len(r.Differences), len(r.Differences)+r.Safe)
	for _, d := range r.Differences {
		fmt.Fprintf(&text, "\n%s\n  why not unasked: %s\n  to consider:", d, d.Risk)
		for _, s := range d.Up {
			text.WriteString("\n    " + strings.ReplaceAll(s.SQL, "\n", "\n    ") + ";")
		}
		if len(d.Up) == 0 {
			text.WriteString(" no statement alone does that")
		}
	}
	return text.String()
}
