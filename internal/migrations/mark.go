package migrations

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
)

// mark is the first line of a file: part n of the change's.
func (c change) mark(n, of int) string {
	return fmt.Sprintf("-- statigen migrations: store %s, change %d (%s), part %d of %d", c.store, c.number, c.sum(), n, of)
}

var markPattern = regexp.MustCompile(`(?m)^-- statigen migrations: store (\S+), change ([0-9]{1,9}) \(([0-9a-f]{16})\), part ([0-9]{1,9}) of ([0-9]{1,9})\r?$`)

// sum tells two changes of one number apart.
func (c change) sum() string {
	sum := sha256.Sum256(encoded([]any{c.format.name, c.from, c.to}))
	return hex.EncodeToString(sum[:8])
}

// there are the names, without what the format puts behind them, of the change's parts that the folder has. They are the first
// ones of it, or somebody took a file away.
func (c change) there(files map[string][]byte, parts int) (map[int]string, error) {
	names := map[int]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		m := markPattern.FindSubmatch(files[name])
		if m == nil || string(m[1]) != c.store || atoi(m[2]) < c.number {
			continue
		}
		if atoi(m[2]) != c.number || string(m[3]) != c.sum() || atoi(m[5]) != parts {
			return nil, fmt.Errorf("%s has change %d of store %s, and not the one that leads from what %s records to the config "+
				"(want the %s that was written after it, or the config with which it was; or the file gone, if it ran nowhere)",
				name, atoi(m[2]), c.store, StateName, StateName)
		}
		names[atoi(m[4])] = c.format.bare(name)
	}
	for n := range names {
		if _, before := names[n-1]; n > 1 && !before {
			return nil, fmt.Errorf("%s has part %d of change %d of store %s, and part %d is gone (want it back)", names[n], n, c.number, c.store, n-1)
		}
	}
	return names, nil
}

// atoi reads digits that the pattern has counted.
func atoi(digits []byte) int {
	n, _ := strconv.Atoi(string(digits))
	return n
}
