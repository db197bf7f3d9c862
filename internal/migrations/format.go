package migrations

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/statigen/statigen/internal/ddl"
	"github.com/statigen/statigen/internal/model"
)

// format is a tool's way to have its migrations.
type format struct {
	name     string
	pattern  *regexp.Regexp // the names of its files; the first group is the number
	width    int            // of the first number
	greatest uint64         // number that the tool can read
	stamps   bool           // a number may be a time
	suffixes []string       // a part is a file for each
	split    func([]part) []part
	render   func(part) []File
}

// formats lists them in the order in which they are shown.
func formats() []format {
	upAndDown := regexp.MustCompile(`^([0-9]+)_.*\.(?:up|down)\..*$`)
	return []format{{
		name: "goose", pattern: regexp.MustCompile(`^([0-9]+)_.*\.(?:sql|go)$`), width: 5, greatest: math.MaxInt64, stamps: true,
		suffixes: []string{".sql"}, split: asTheyAre, render: goose,
	}, {
		name: "golang-migrate", pattern: upAndDown, width: 6, greatest: math.MaxInt64, stamps: true,
		suffixes: []string{".up.sql", ".down.sql"}, split: eachUnit, render: golangMigrate,
	}, {
		name: "tern", pattern: regexp.MustCompile(`^([0-9]+)_.+\.sql$`), width: 3, greatest: math.MaxInt32,
		suffixes: []string{".sql"}, split: asTheyAre, render: tern,
	}, {
		name: "sql", pattern: regexp.MustCompile(`^([0-9]+)_.*\.sql$`), width: 4, greatest: math.MaxInt64, stamps: true,
		suffixes: []string{".up.sql", ".down.sql"}, split: eachUnit, render: plainSQL,
	}}
}

func formatOf(name string) (format, error) {
	all := formats()
	if i := slices.IndexFunc(all, func(f format) bool { return f.name == name }); i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, f := range all {
		names = append(names, f.name)
	}
	return format{}, errors.New(model.Unknown("format", name, formatNames(), names...))
}

func formatNames() string { return "goose, golang-migrate, tern or sql" }

// bare is a file's name without what the format puts behind it.
func (f format) bare(name string) string {
	for _, suffix := range f.suffixes {
		if bare, found := strings.CutSuffix(name, suffix); found {
			return bare
		}
	}
	return name
}

// asTheyAre leaves together what builds an index: what is there of it goes first, so that run again it is made whole.
func asTheyAre(parts []part) []part { return parts }

// eachUnit is for tools that send a file as one message, which the server makes one transaction.
func eachUnit(parts []part) []part {
	var all []part
	for _, p := range parts {
		all = append(all, p.units()...)
	}
	return all
}

// comments are lines of SQL's comments.
func comments(lines ...string) string {
	var text strings.Builder
	for _, line := range strings.Split(strings.Join(lines, "\n"), "\n") {
		text.WriteString(strings.TrimSpace("-- "+line) + "\n")
	}
	return text.String()
}

// statements are what a part does in one way, each with its semicolon.
func statements(all []ddl.Statement) string {
	var text strings.Builder
	for _, s := range all {
		text.WriteString(s.SQL + ";\n")
	}
	if len(all) == 0 {
		text.WriteString("-- There is nothing to do.\n")
	}
	return text.String()
}

// reviewed are what somebody is to look at, as comments.
func (p part) reviewed(of func(*review) []ddl.Statement) string {
	if p.review == nil {
		return ""
	}
	text := "\n" + comments(p.review.why...)
	if all := of(p.review); len(all) > 0 {
		return text + comments("To consider:") + comments(strings.TrimSuffix(statements(all), "\n"))
	}
	return text + comments("No statement alone does that.")
}

func (p part) reviewUp() string {
	return p.reviewed(func(r *review) []ddl.Statement { return r.up })
}

func (p part) reviewDown() string {
	return p.reviewed(func(r *review) []ddl.Statement { return r.down })
}
