package migrations

import (
	"slices"

	"github.com/statigen/statigen/internal/ddl"
)

// part is one migration.
type part struct {
	mark, name string
	about      []string // what it changes
	up, down   []ddl.Statement
	review     *review // what somebody is to look at first; nil is nothing
}

// review is what stands in a part as comments.
type review struct {
	why      []string
	up, down []ddl.Statement
}

// group makes parts of what can be done in one transaction, and of what cannot one each. What has a risk is kept apart.
func group(differences []ddl.Difference) []part {
	var parts []part
	for _, d := range differences {
		next := partOf(d)
		if last := len(parts) - 1; last >= 0 && parts[last].goesWith(next) {
			parts[last] = parts[last].and(next)
			continue
		}
		parts = append(parts, next)
	}
	return parts
}

func partOf(d ddl.Difference) part {
	if d.Risk == "" {
		return part{about: []string{d.String()}, up: d.Up, down: d.Down}
	}
	return part{
		about: []string{d.String()}, up: guard(), down: guard(),
		review: &review{[]string{d.String() + ": " + d.Risk}, d.Up, d.Down},
	}
}

// guard is the statement that keeps a part from running before somebody has looked at it: without it, a migration of
// comments alone would be taken for done.
func guard() []ddl.Statement {
	return []ddl.Statement{{SQL: "DO $statigen$ BEGIN RAISE EXCEPTION 'this migration is to be reviewed: write what it does, and take this statement out'; END $statigen$"}}
}

func (p part) goesWith(next part) bool {
	return (p.review == nil) == (next.review == nil) && !alone(p.up) && !alone(p.down) && !alone(next.up) && !alone(next.down)
}

func (p part) and(next part) part {
	p.about = append(p.about, next.about...)
	if p.review != nil {
		p.review.why = append(p.review.why, next.review.why...)
		p.review.up = append(p.review.up, next.review.up...)
		p.review.down = append(slices.Clone(next.review.down), p.review.down...)
		return p
	}
	p.up, p.down = append(slices.Clone(p.up), next.up...), append(slices.Clone(next.down), p.down...)
	return p
}

// alone says whether the statements run outside a transaction.
func alone(statements []ddl.Statement) bool {
	return slices.ContainsFunc(statements, func(s ddl.Statement) bool { return s.Alone })
}

// units makes parts of which each is a transaction, or a statement outside of one, up and down. What is done last on the way
// up is undone first.
func (p part) units() []part {
	up, down := ddl.Groups(p.up), ddl.Groups(p.down)
	n := max(len(up), len(down))
	if n < 2 {
		return []part{p}
	}
	parts := make([]part, n)
	for i := range parts {
		parts[i] = part{about: p.about}
		if i < len(up) {
			parts[i].up = up[i]
		}
		if n-1-i < len(down) {
			parts[i].down = down[n-1-i]
		}
	}
	return parts
}
