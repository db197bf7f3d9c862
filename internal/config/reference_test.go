package config_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/config"
)

// Each example of the reference, at its place in a config that has nothing else but what must be there, is taken.
func TestEveryExampleOfTheReferenceIsTaken(t *testing.T) {
	around := map[string]string{
		"":                                 "{%s, stores: {s: {out: a}}}",
		"stores.<store>":                   "{version: 1, stores: {s: {out: a, %s}}}",
		"stores.<store>.tables":            "{version: 1, stores: {s: {out: a, tables: {%s}}}}",
		"stores.<store>.column_collations": "{version: 1, stores: {s: {out: a, column_collations: {%s}}}}",
		"stores.<store>.leading_columns[]": "{version: 1, stores: {s: {out: a, leading_columns: [{name: a, type: text, %s}]}}}",
	}
	path, seen := "", 0
	for line := range strings.SplitSeq(string(config.Reference()), "\n") {
		if section, ok := strings.CutPrefix(line, "## In `"); ok {
			path = strings.TrimSuffix(section, "`")
		}
		example := regexp.MustCompile("^- example: `((.*?): .*)`$").FindStringSubmatch(line)
		if example == nil {
			continue
		}
		seen++
		place := regexp.MustCompile(`([{ ])`+example[2]+`: \w+, `).ReplaceAllString(around[path], "$1") // it stands there already
		text := fmt.Sprintf(place, example[1])
		_, err := parse(text)
		if err != nil {
			t.Errorf("%s\n%v", text, err)
		}
		schemaAgrees(t, text, err)
	}
	if keys := strings.Count(string(config.Reference()), "\n### "); seen != keys-1 {
		t.Errorf("%d of %d keys have an example, want all but stores", seen, keys)
	}
}

// What a host begins with is taken as it is, and with every key that is a comment there, but for the short form of another.
func TestTheStarterIsTakenWithAndWithoutItsComments(t *testing.T) {
	starter := string(config.Starter("größe", "loan-store", `we "ird`))
	bare := regexp.MustCompile(`(?m)^    # ([a-z_]+: )`).ReplaceAllString(starter, "    $1")
	bare = regexp.MustCompile(`(?m)^    table: .*\n`).ReplaceAllString(bare, "")
	for _, text := range []string{strings.Replace(starter, "# package", "package", 1), bare} {
		stores, err := parse(text)
		if err != nil || stores[0].Name != "größe" || stores[0].Schema != `we "ird` {
			t.Errorf("%s\n%v", text, err)
		}
		schemaAgrees(t, text, err)
	}
	if got, want := strings.Count(bare, "\n    ")-strings.Count(bare, "\n    #"), strings.Count(wantKeys, ", "); got != want {
		t.Errorf("%d keys of a store in the starter, want %d:\n%s", got, want, bare)
	}
}
