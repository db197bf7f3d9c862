package config_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/statigen/statigen/internal/config"
)

// visible are the decoder's words for what a schema sees too: keys, kinds, words and names, each by itself.
var visible = regexp.MustCompile(`: (unknown (key|version|id scheme|lock key|position|value|column type) |want (keys and values|a list)|` +
	`want a plain or quoted string, not (a list|a mapping|null)|an empty string|no (version|stores|folder|name|type) \(want|` +
	`.* is no name of a store|the schema "|the table name "sg_|"[^"]*" (is not a relative path|cannot be the name .* import$)|` +
	`the name .*(control, format|has [0-9]{3,} bytes)|[0-9]+ columns \(want|a default of|an empty name)`)

// schemaAgrees demands that the schema takes what the decoder takes, in every reading of YAML, and refuses what it refuses if
// the fault is one that a schema can see. A text that is no YAML is no matter of the schema's.
func schemaAgrees(t *testing.T, text string, err error) {
	t.Helper()
	node, ok := document(text)
	switch {
	case !ok:
	case err == nil:
		for name, scalar := range readings() {
			if refusal := schemaSays(t, instance(node, scalar)); refusal != nil {
				t.Errorf("the decoder takes, and the schema, with scalars read %s, refuses:\n%s\n%v", name, text, refusal)
			}
		}
	case visible.MatchString(err.Error()) && schemaSays(t, instance(node, letters)) == nil:
		t.Errorf("the schema takes, and the decoder refuses:\n%s\n%v", text, err)
	}
}

func schemaSays(t *testing.T, instance any) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("statigen.json", doc); err != nil {
		t.Fatal(err)
	}
	return compiler.MustCompile("statigen.json").Validate(instance)
}

func document(text string) (*yaml.Node, bool) {
	loader, err := yaml.NewLoader(strings.NewReader(text))
	if err != nil {
		return nil, false
	}
	var doc yaml.Node
	err = loader.Load(&doc)
	return &doc, err == nil
}

// instance is what a tool that validates YAML by a JSON Schema holds against it.
func instance(n *yaml.Node, scalar func(*yaml.Node) any) any {
	switch n.Kind {
	case yaml.DocumentNode:
		return instance(n.Content[0], scalar)
	case yaml.AliasNode:
		return instance(n.Alias, scalar)
	case yaml.MappingNode:
		all := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			all[n.Content[i].Value] = instance(n.Content[i+1], scalar)
		}
		return all
	case yaml.SequenceNode:
		all := []any{}
		for _, item := range n.Content {
			all = append(all, instance(item, scalar))
		}
		return all
	}
	return scalar(n)
}

// readings are how tools read a scalar: yaml-language-server as YAML 1.2 or, by a setting, as 1.1.
func readings() map[string]func(*yaml.Node) any {
	return map[string]func(*yaml.Node) any{"by their letters": letters, "as in YAML 1.2": core, "as in YAML 1.1": older}
}

func letters(n *yaml.Node) any {
	if n.Tag == "!!null" {
		return nil
	}
	return n.Value
}

func core(n *yaml.Node) any {
	number, err := strconv.ParseFloat(strings.ReplaceAll(n.Value, "_", ""), 64)
	switch {
	case n.Tag == "!!bool":
		return strings.EqualFold(n.Value, "true")
	case (n.Tag == "!!int" || n.Tag == "!!float") && err == nil && !math.IsInf(number, 0) && !math.IsNaN(number):
		return number
	case n.Tag == "!!int" || n.Tag == "!!float":
		return 1e300 // hexadecimal, infinite and the like: numbers, whichever
	}
	return letters(n)
}

func older(n *yaml.Node) any {
	if n.Style == 0 && slices.Contains([]string{"y", "yes", "on"}, strings.ToLower(n.Value)) {
		return true
	}
	if n.Style == 0 && slices.Contains([]string{"n", "no", "off"}, strings.ToLower(n.Value)) {
		return false
	}
	return core(n)
}

func TestTheSchemaTakesEveryConfigThatTheDecoderTakes(t *testing.T) {
	files, err := filepath.Glob("../matrix/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, name := range append(files, "../../gen/example/statigen.yaml") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(string(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		schemaAgrees(t, string(text), nil)
	}
}

func TestTheSchemaAgreesWithTheDecoderOnTheConfigsOfEveryScript(t *testing.T) {
	scripts, err := filepath.Glob("../../cmd/statigen/testdata/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, script := range scripts {
		archive, err := txtar.ParseFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range archive.Files {
			if filepath.Ext(file.Name) == ".yaml" {
				_, err := parse(string(file.Data))
				schemaAgrees(t, string(file.Data), err)
			}
		}
	}
}

// What an editor marks, as it reads YAML, is what the decoder refuses.
func TestTheSchemaSeesWhatASchemaCanSee(t *testing.T) {
	for name, text := range map[string]string{
		"an unknown key":                  "{version: 1, stores: {s: {out: a}}, store: {}}",
		"an unknown key of a store":       "{version: 1, stores: {s: {out: a, lock_kye: both}}}",
		"an unknown key of tables":        "{version: 1, stores: {s: {out: a, tables: {chart: a}}}}",
		"an unknown key of collations":    "{version: 1, stores: {s: {out: a, column_collations: {stauts: C}}}}",
		"an unknown key of a column":      "{version: 1, stores: {s: {out: a, leading_columns: [{name: a, type: text, nullable: true}]}}}",
		"no version":                      "{stores: {s: {out: a}}}",
		"no stores":                       "{version: 1}",
		"no store":                        "{version: 1, stores: {}}",
		"no out":                          "{version: 1, stores: {s: {}}}",
		"a column without a name":         "{version: 1, stores: {s: {out: a, leading_columns: [{type: text}]}}}",
		"a column without a type":         "{version: 1, stores: {s: {out: a, leading_columns: [{name: a}]}}}",
		"another version":                 "{version: 2, stores: {s: {out: a}}}",
		"a list":                          "[]",
		"a list of stores":                "{version: 1, stores: [{out: a}]}",
		"a list for a string":             "{version: 1, stores: {s: {out: [a]}}}",
		"a mapping for a string":          "{version: 1, stores: {s: {out: a, prefix: {a: b}}}}",
		"null for a string":               "{version: 1, stores: {s: {out: a, table_prefix: ~}}}",
		"null for a store":                "{version: 1, stores: {s: }}",
		"a mapping for a list":            "{version: 1, stores: {s: {out: a, leading_columns: {name: a, type: text}}}}",
		"a string for a mapping":          "{version: 1, stores: {s: {out: a, tables: a}}}",
		"an empty string":                 "{version: 1, stores: {s: {out: a, prefix: ''}}}",
		"a word that is no id":            "{version: 1, stores: {s: {out: a, id: uid}}}",
		"a word that is no lock key":      "{version: 1, stores: {s: {out: a, lock_key: stor}}}",
		"a word that is no position":      "{version: 1, stores: {s: {out: a, timestamps_position: first}}}",
		"a word that is no boolean":       "{version: 1, stores: {s: {out: a, distinct_search_path: maybe}}}",
		"a number that is no boolean":     "{version: 1, stores: {s: {out: a, distinct_search_path: 1}}}",
		"a type that is none":             "{version: 1, stores: {s: {out: a, leading_columns: [{name: a, type: 'text[][]'}]}}}",
		"a length that is none":           "{version: 1, stores: {s: {out: a, leading_columns: [{name: a, type: varchar(0)}]}}}",
		"a name of 64 characters":         "{version: 1, stores: {s: {out: a, prefix: " + strings.Repeat("p", 64) + "}}}",
		"a name that hides a letter":      `{version: 1, stores: {s: {out: a, prefix: "a\u202e"}}}`,
		"a schema of the server's":        "{version: 1, stores: {s: {out: a, prefix: pg_x}}}",
		"the server's other schema":       "{version: 1, stores: {s: {out: a, prefix: information_schema}}}",
		"a table's name that a query has": "{version: 1, stores: {s: {out: a, table: sg_x}}}",
		"a store's name with a dot":       "{version: 1, stores: {a.b: {out: a}}}",
		"a package called main":           "{version: 1, stores: {s: {out: a, package: main}}}",
		"a package that is no word":       "{version: 1, stores: {s: {out: a, package: a-b}}}",
		"an absolute path":                "{version: 1, stores: {s: {out: /a}}}",
		"a path with backslashes":         `{version: 1, stores: {s: {out: 'a\b'}}}`,
		"a collation without a name":      "{version: 1, stores: {s: {out: a, column_collations: {door: x.}}}}",
		"a column too many":               columns(1588),
	} {
		if _, err := parse(text); err == nil {
			t.Errorf("%s: the decoder takes %s", name, text)
		}
		node, ok := document(text)
		if !ok || schemaSays(t, instance(node, core)) == nil {
			t.Errorf("%s: the schema takes %s", name, text)
		}
	}
}

func TestTheSchemaReadsNoScalarInAWayOfItsOwn(t *testing.T) {
	for _, text := range []string{
		"{version: '1', stores: {s: {out: a}}}",
		"{version: 1, stores: {7: {out: 007, package: a, prefix: no, table: 1.10, tables: {inputs: 0x1F}}}}",
		"{version: 1, stores: {s: {out: a, distinct_search_path: 'true', table_prefix: 0, leading_columns: [{name: 5, type: bigint, default: 5, not_null: 'false'}]}}}",
		"{version: 1, stores: {s: {out: true, package: größe, leading_columns: [{name: yes, type: boolean, default: true}, {name: .inf, type: text, default: ''}]}}}",
		"{version: 1, stores: {größe-2_: {out: ./a, column_collations: {door: my.co.ll, status: 1.5}}}}",
		"{version: 1, stores: {s: {out: a, table_prefix: sg_" + strings.Repeat("x", 99) + ", tables: {charts: a, positions: b, executions: c, inputs: d}}}}",
		columns(1587),
	} {
		_, err := parse(text)
		if err != nil {
			t.Errorf("the decoder refuses %s\n%v", text, err)
		}
		schemaAgrees(t, text, err)
	}
}
