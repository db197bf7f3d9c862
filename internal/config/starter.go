package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/statigen/statigen/internal/model"
)

// Starter is the config that a host begins with: one store, and every other key as a comment. Without a prefix that one is a
// comment too.
func Starter(store, out, prefix string) []byte {
	given := map[string]string{"out": out, "prefix": prefix}
	var text strings.Builder
	fmt.Fprintf(&text, "# yaml-language-server: $schema=%s\nversion: %s\nstores:\n  %s:\n", SchemaName, Version, quoted(store))
	for i, k := range (&decoder{}).storeKeys(&model.Spec{}) {
		if i > 0 {
			text.WriteString("\n")
		}
		k.start(&text, given[k.name])
	}
	return []byte(text.String())
}

// start writes a key of a store, with what is said of it above.
func (k key) start(text *strings.Builder, given string) {
	about := k.about
	if k.absent != "" {
		about += " Default: " + k.absent + "."
	}
	for _, line := range wrap(strings.ReplaceAll(about, "`", ""), 100) {
		fmt.Fprintf(text, "    # %s\n", line)
	}
	if given == "" {
		fmt.Fprintf(text, "    # %s: %s\n", k.name, k.example)
	} else {
		fmt.Fprintf(text, "    %s: %s\n", k.name, quoted(given))
	}
}

// wrap breaks a text into lines of so many bytes, but for a word that is longer.
func wrap(text string, width int) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case len(*last)+1+len(word) > width:
			lines = append(lines, word)
		default:
			*last += " " + word
		}
	}
	return lines
}

// quoted is a string as YAML: bare if it is a word, and else as Go quotes it, whose escapes YAML has too.
func quoted(text string) string {
	if regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_/-]*$`).MatchString(text) && !strings.EqualFold(text, "null") {
		return text
	}
	return strconv.Quote(text)
}
