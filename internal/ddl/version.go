package ddl

import (
	"fmt"
	"slices"
	"strings"
)

// Version is how far a store's tables are. The reference counts its migrations from 1 and keeps no record of them in the
// database; 0 is no tables at all. What statigen adds comes behind a point: 8.1 is the reference's eighth version and our
// first step on it, so that a ninth of the reference's has a number left.
type Version int

// The versions in which something is done that the states before and after do not show, or not all of it.
const (
	empty   Version = 0
	rebuilt Version = 4 // the index on the metadata, without keeping writers out
	// Renaming is where runs became executions.
	Renaming Version = 6
	retired  Version = 7 // tombstones
)

func versions() []string {
	return []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "8.1"}
}

// Latest is the version of schema.sql.
func Latest() Version { return Version(len(versions()) - 1) }

func (v Version) String() string { return versions()[v] }

// ParseVersion reads a version, or the word empty for 0.
func ParseVersion(text string) (Version, error) {
	if text == "empty" {
		return empty, nil
	}
	i := slices.Index(versions(), text)
	if i < 0 {
		return 0, fmt.Errorf("unknown version of the tables %q (want empty, %s)", text, strings.Join(versions()[1:], ", "))
	}
	return Version(i), nil
}

// MarshalText writes the version as it is shown.
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a version.
func (v *Version) UnmarshalText(text []byte) (err error) {
	*v, err = ParseVersion(string(text))
	return err
}
