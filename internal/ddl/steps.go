package ddl

import (
	"slices"

	"github.com/statigen/statigen/internal/model"
)

// Step is what makes the tables of one version into those of another, next to it.
type Step struct {
	From, To   Version
	Statements []Statement
	Why        string // why there are none
}

// Steps are what makes the store's tables at one version into those at another, up or down.
func Steps(s model.Store, from, to Version) []Step {
	var steps []Step
	for v := from; v < to; v++ {
		steps = append(steps, up(s, from, v+1))
	}
	for v := from; v > to; v-- {
		steps = append(steps, down(s, v))
	}
	return steps
}

// up makes version v of the one before.
func up(s model.Store, first, v Version) Step {
	step := Step{From: v - 1, To: v}
	for _, d := range changes(s, first, v) {
		step.Statements = append(step.Statements, d.Up...)
	}
	switch {
	case first == empty || first >= Renaming:
	case v == first+1:
		step.Statements = append(Rename(s), step.Statements...)
	case v == Renaming:
		step.Why = "the names were changed in front of all"
	}
	return step.explained()
}

// down makes the version before of version v.
func down(s model.Store, v Version) Step {
	step := Step{From: v, To: v - 1}
	if v == retired {
		step.Statements = refuseOverTombstones(s)
	}
	for _, d := range slices.Backward(Compare(At(s, v-1), At(s, v))) {
		step.Statements = append(step.Statements, d.Down...)
	}
	if v == Renaming {
		step.Why = "the new names stay"
	}
	return step.explained()
}

func (s Step) explained() Step {
	if len(s.Statements) == 0 && s.Why == "" {
		s.Why = map[Version]string{
			rebuilt: "the index on the metadata is as it is to be", Renaming: "there are no old names",
		}[max(s.From, s.To)]
	}
	return s
}

// rebuild is version 4: version 3 built the index while it kept writers out, and a build that failed there left none.
func rebuild(s model.Store) []Statement {
	state := At(s, rebuilt)
	t, _ := state.Table("executions")
	return state.build(t, t.Indexes[len(t.Indexes)-1])
}
