package config_test

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/model"
)

// FuzzAConfigIsTakenOrRefusedAtItsPlace feeds the loader any text. What is taken says one thing: read again it is the same, and
// so it is when everything that was understood is written out, in other words. What is refused is refused with places that an
// editor has, and with nothing that a terminal obeys.
func FuzzAConfigIsTakenOrRefusedAtItsPlace(f *testing.F) {
	for _, text := range uglyConfigs(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		stores, err := parse(text)
		if err != nil {
			placed(t, text, err)
			return
		}
		again, err := parse(text)
		if diff := cmp.Diff(stores, again); diff != "" || err != nil {
			t.Errorf("read twice it is two configs: %v\n%s", err, diff)
		}
		out, err := parse(writtenOut(stores))
		if diff := cmp.Diff(names(stores), names(out)); diff != "" || err != nil {
			t.Errorf("%s\nis another config when it is written out as\n%s\n%v\n%s", text, writtenOut(stores), err, diff)
		}
	})
}

// placed demands of each error a place in the text: at most one past the end of a line that there is.
func placed(t *testing.T, text string, err error) {
	t.Helper()
	var problems config.Errors
	if !errors.As(err, &problems) {
		t.Fatalf("the error is a %T: %v", err, err)
	}
	lines := strings.Split(text, "\n")
	for _, p := range problems {
		if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > utf8.RuneCountInString(lines[p.Line-1])+1 {
			t.Errorf("%q has no such place: %v", text, p)
		}
		if p.File != "c.yaml" || strings.TrimSpace(p.Text) == "" {
			t.Errorf("%q: an error without its file or without words: %#v", text, p)
		}
	}
	printable(t, err)
}

// names leaves out what writtenOut does: the collations, which the model has as SQL, and what a table was called before,
// which counts only where the config leaves its name out.
func names(stores []model.Store) []model.Store {
	all := append([]model.Store(nil), stores...)
	for i := range all {
		all[i].Collations, all[i].FormerRuns = nil, ""
		all[i].Leading = append([]model.Column(nil), all[i].Leading...)
		for j := range all[i].Leading {
			all[i].Leading[j].Collation = ""
		}
	}
	return all
}

// writtenOut is a config that says the same with every value given and quoted.
func writtenOut(stores []model.Store) string {
	text := "version: 1\nstores:\n"
	for _, s := range stores {
		text += "  " + quoted(s.Name) + ":\n"
		for key, value := range map[string]string{
			"package": s.Package, "out": s.Out, "prefix": s.Schema, "id": string(s.ID), "lock_key": string(s.LockKey),
			"timestamps_position":  model.TimestampsPositions()[position(s)],
			"distinct_search_path": strconv.FormatBool(s.DistinctSearchPath),
		} {
			if value != "" {
				text += "    " + key + ": " + quoted(value) + "\n"
			}
		}
		text += tablesOut(s) + leadingOut(s)
	}
	return text
}

func position(s model.Store) int {
	if s.TimestampsFirst {
		return 1
	}
	return 0
}

func tablesOut(s model.Store) string {
	text := "    tables:\n"
	for _, t := range s.Tables() {
		text += "      " + t.Concept + ": " + quoted(t.Name) + "\n"
	}
	return text
}

func leadingOut(s model.Store) string {
	if len(s.Leading) == 0 {
		return ""
	}
	text := "    leading_columns:\n"
	for _, c := range s.Leading {
		text += "    - name: " + quoted(c.Name) + "\n      type: " + quoted(c.Type.String()) + "\n      not_null: " + strconv.FormatBool(c.NotNull) + "\n"
		if c.Default != nil {
			text += "      default: " + quoted(*c.Default) + "\n"
		}
	}
	return text
}

// quoted is YAML as well as Go: the escapes of valid UTF-8 are the same.
func quoted(text string) string { return strconv.QuoteToASCII(text) }

// uglyConfigs are the hosts of the matrix, and texts that are hard on a reader of YAML, or on who places its errors.
func uglyConfigs(f *testing.F) []string {
	f.Helper()
	texts := []string{
		"", "\n", "---", "---\n", "...", "\ufeffversion: 1", "version: 1\r\nstores: {s: {out: a}}\r\n", "version: 1\rstores: x\r{",
		"version: 1\nstores: {s: {out: a}}\n--- x", "version: 1\nstores: {s: {out: a}}\n\x00", "version: 1\n\tstores: x",
		"version: 1\u2028stores: {s: {out: a, id: x}}", "version: 1\u2029\u2028\nstores: {s: {out: \"\u2028\", lock_key: x}}",
		"version: 1 # \u2028\u2028\u2028\nstores: {s: {out: a, id: x}}", "# \u0085\nversion: 2", "日本日本日本\xff", "日本: \t日本\n\t日本: x", "version: \xff1",
		"version: &a 1\nstores: *a", "stores: {s: {<<: {out: a}}}", "? version\n: 1\n? [a]\n: b", "{version: 1, stores: {s: {out: a, out: b}}}",
		"version: 1\nstores: {s: {out: a, prefix: |\n x}}", "version: 1\nstores:\n  s:\n    out: a\n    prefix: >-\n      x\n", "!!map {version: !!int 1}",
		"version: 1\nstores: {\"s\": {out: \"a\", prefix: \"\\u202e\\0\\x07\"}}", "version: 1\nstores: {s: {out: a, table: \"a\\\n b\"}}",
		"%YAML 1.2\n---\nversion: 1", "version: 1\nstores: {日本: {out: 日本, id: 日}}", "version: 1\nstores: {s: {out: '日本', prefix: '日本日本日本', id: 日}}",
		"version: 1\nstores: {s: {out: a, leading_columns: [{name: '{{charts}}', type: text, default: \"';--\\\\\"}]}}",
		"version: 1\nstores: {s.t: {out: a}, '': {out: b}, ~: {out: c}, [x]: {out: d}}", strings.Repeat("[", 300), strings.Repeat("{a: ", 300),
		"version: 1\nstores: {s: {out: ../a}, t: {out: a//b/.}, u: {out: a/B}, v: {out: /}}", leading("{name: a, type: 'varchar(9)[]', default: '{}'}"),
	}
	for _, file := range []string{"../matrix/hosts.yaml", "../matrix/columns.yaml", "../../gen/example/statigen.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}
