package migrations

import (
	"fmt"
	"strconv"
	"time"
)

// numbers go on after the greatest in the folder.
type numbers struct {
	last  uint64
	width int
	time  time.Time // of the last, if it is one
}

// stamp is how tools write the time of a migration.
const stamp = "20060102150405"

// numbering reads the numbers of the format's files. Names of other files say nothing. A folder whose greatest number is a
// time goes on with times, and others do not begin with them: a number that is one more is the same on every machine.
func (f format) numbering(names []string, now time.Time) (*numbers, error) {
	n := &numbers{width: f.width}
	for _, name := range names {
		m := f.pattern.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		number, err := strconv.ParseUint(m[1], 10, 64)
		if err != nil || number > f.greatest-maxParts {
			return nil, fmt.Errorf("%s has a number after which there are none for %s", name, f.name)
		}
		if number >= n.last {
			n.last, n.width = number, len(m[1])
		}
	}
	n.stamped(f, now)
	return n, nil
}

// maxParts is more than a change has.
const maxParts = 1 << 16

// stamped makes the next number a time, if the last is one.
func (n *numbers) stamped(f format, now time.Time) {
	last, err := time.Parse(stamp, fmt.Sprintf("%0*d", n.width, n.last))
	if err != nil || !f.stamps {
		return
	}
	n.time = last
	if before := now.UTC().Add(-time.Second).Truncate(time.Second); before.After(last) {
		n.time = before
	}
}

func (n *numbers) next() string {
	if !n.time.IsZero() {
		n.time = n.time.Add(time.Second)
		return n.time.Format(stamp)
	}
	n.last++
	return fmt.Sprintf("%0*d", n.width, n.last)
}
