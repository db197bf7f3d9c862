package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statigen/statigen/internal/config"
)

func TestThePublishedSchemaIsCurrent(t *testing.T) { published(t, config.SchemaName, config.Schema()) }

func TestThePublishedReferenceIsCurrent(t *testing.T) { published(t, "config.md", config.Reference()) }

func published(t *testing.T, name string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join("../../docs", name))
	if err != nil {
		t.Fatalf("%v; run make generate", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/%s is not current (-generated +committed); run make generate:\n%s", name, diff)
	}
}

// The first line of each config of ours leads an editor to the schema.
func TestEveryConfigOfOursNamesItsSchema(t *testing.T) {
	configs, err := filepath.Glob("../matrix/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(configs, "../../gen/example/statigen.yaml") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		schema, found := strings.CutPrefix(first, "# yaml-language-server: $schema=")
		if _, err := os.Stat(filepath.Join(filepath.Dir(name), schema)); !found || err != nil {
			t.Errorf("%s begins with %q, want the way to docs/%s (%v)", name, first, config.SchemaName, err)
		}
	}
}
