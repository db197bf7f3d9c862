package matrix

import (
	"fmt"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/host"
	"github.com/statigen/statigen/internal/model"
)

// The tests of this file are faults that users of other generators reported, each named after one. Where a host of the
// matrix has the names in question, every test of the templates runs on them, and the test here sees to it that the host
// keeps them. Others are generated, vetted, and installed on a server here.

// matrixHost is a store of the matrix.
func matrixHost(t *testing.T, name string) model.Store {
	t.Helper()
	for _, file := range []string{"hosts.yaml", "columns.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		stores, err := config.Parse(file, text, model.Module{Path: modulePath, Dir: "."})
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(stores, func(s model.Store) bool { return s.Name == name }); i >= 0 {
			return stores[i]
		}
	}
	t.Fatalf("no host of the matrix is called %s", name)
	return model.Store{}
}

// fields are the Go fields of the leading columns, by column.
func fields(s model.Store) map[string]string {
	all := map[string]string{}
	for _, c := range s.Leading {
		all[c.Name] = c.Field
	}
	return all
}

// works generates the stores, given as the lines of a config below stores, and demands that vet is silent and that a server
// takes each.
func works(t *testing.T, lines ...string) []model.Store {
	t.Helper()
	m := host.NewModule(t, "example.com/host", "require github.com/jackc/pgx/v5 "+host.OldestPGX+"\n")
	stores := m.Generate(t, config.FileName, "version: 1\nstores:\n  "+strings.Join(lines, "\n  ")+"\n")
	m.Silent(t, "go", "vet", "./...")
	for _, s := range stores {
		installed(t, s)
	}
	return stores
}

// refusal is what the config says of a store, given as its keys in flow style.
func refusal(t *testing.T, keys string) string {
	t.Helper()
	_, err := config.Parse("c.yaml", []byte("{version: 1, stores: {s: {out: a, "+keys+"}}}"), model.Module{Path: "example.com/host", Dir: "."})
	if err == nil {
		t.Fatalf("%s is taken", keys)
	}
	return err.Error()
}

// only is the one store of a config, given as its keys in flow style.
func only(t *testing.T, keys string) model.Store {
	t.Helper()
	stores, err := config.Parse("c.yaml", []byte("{version: 1, stores: {s: {out: a, "+keys+"}}}"), model.Module{Path: "example.com/host", Dir: "."})
	if err != nil {
		t.Fatal(err)
	}
	return stores[0]
}

// A column's name becomes a parameter's or a variable's, and the Go does not parse: https://github.com/xo/dbtpl/issues/8.
func TestB01GoKeywordsAsParameterNames(t *testing.T) {
	got := fields(matrixHost(t, "keywords"))
	words := []string{"error", "string", "any", "min", "clear"}
	for k := token.Token(0); k < 200; k++ {
		if k.IsKeyword() {
			words = append(words, k.String())
		}
	}
	if len(words) != 25+5 {
		t.Errorf("%d words, want 30: %q", len(words), words)
	}
	for _, word := range words {
		if want := strings.ToUpper(word[:1]) + word[1:]; got[word] != want {
			t.Errorf("the column %s is the field %q of the host, want %s", word, got[word], want)
		}
	}
}

// A parameter hides the package of its name: https://github.com/sqlc-dev/sqlc/pull/2332.
func TestB03AColumnShadowsAnImport(t *testing.T) {
	types := map[string]string{
		"time": "timestamptz", "context": "text", "pgx": "text", "pgtype": "text", "json": "jsonb", "uuid": "uuid", "errors": "text", "fmt": "text",
	}
	got := map[string]string{}
	for _, c := range matrixHost(t, "imports").Leading {
		got[c.Name] = c.Type.String()
	}
	var alone []string
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if got[name] != types[name] {
			t.Errorf("the host has the column %s of type %q, want %s", name, got[name], types[name])
		}
		alone = append(alone, fmt.Sprintf("s_%s: {out: s/%s, package: %s, prefix: %s, leading_columns: [{name: %s, type: %s}]}", name, name, name, name, name, types[name]))
	}
	works(t, alone...)
}

// A name loses its quotes on the way into a query, which fails at run time only: https://github.com/sqlc-dev/sqlc/issues/203.
func TestB04SQLReservedWordsLoseTheirQuotes(t *testing.T) {
	host := matrixHost(t, "sqlwords")
	for _, word := range []string{"user", "order", "group", "end", "window", "offset", "default", "table", "position"} {
		if fields(host)[word] == "" {
			t.Errorf("the host has no column %s", word)
		}
	}
	if fields(matrixHost(t, "keywords"))["type"] == "" {
		t.Error("the host has no column type")
	}
	installed(t, host)
}

// Text is spliced into Go that cannot hold it: https://github.com/sqlc-dev/sqlc/issues/1587.
func TestB07CharactersThatNoIdentifierOrCommentHolds(t *testing.T) {
	want := map[string]string{
		"é量 x-y": "É量XY", "a.b": "AB", "a`b": "AB", "a,omitempty": "AOmitempty", "$1": "Col1", "日本": "Col日本", "*/": "Col", "//go:build ignore": "GoBuildIgnore",
	}
	var lines []string
	for i, name := range slices.Sorted(maps.Keys(want)) {
		lines = append(lines, fmt.Sprintf(`s%d: {out: s%d, prefix: %q, leading_columns: [{name: %q, type: text, default: "\n*/`+"`"+`\n//go:build ignore\r\n-- name: X :one\n"}]}`, i, i, name, name))
	}
	for _, s := range works(t, lines...) {
		if c := s.Leading[0]; c.Field != want[c.Name] {
			t.Errorf("the column %q is the field %s, want %s", c.Name, c.Field, want[c.Name])
		}
	}
}

// Names that differ in letters, however little, are two fields. Those that become one are refused:
// TestB05TwoNamesBecomeOneGoIdentifier of package config.
func TestB05NamesThatDifferLittleAreTwoFields(t *testing.T) {
	got := fields(matrixHost(t, "signs"))
	for name, want := range map[string]string{"user_id": "UserID", "userId": "UserId", "createdAt": "CreatedAt"} {
		if got[name] != want {
			t.Errorf("the column %s is the field %q of the host, want %s", name, got[name], want)
		}
	}
}

// The go command passes over a file for its name: https://github.com/aarondl/sqlboiler/issues/1067.
func TestB09GeneratedFilesThatTheGoCommandPassesOver(t *testing.T) {
	store := matrixHost(t, "suffixes")
	want := []string{"charts_windows", "pos_arm", "runs_test", "log_js"}
	for i, table := range store.Tables() {
		if table.Name != want[i] {
			t.Errorf("the host has the table %s, want %s", table.Name, want[i])
		}
	}
	m := host.NewModule(t, modulePath, "require github.com/jackc/pgx/v5 "+host.OldestPGX+"\n")
	m.Generate(t, config.FileName, `{version: 1, stores: {s: {out: store, tables: {charts: charts_windows, executions: runs_test, inputs: log_js, positions: pos_arm}},
		t: {out: _t/../wf, table_prefix: _wf_}}}`)
	for _, goos := range []string{"linux", "windows", "js"} {
		goarch := map[string]string{"js": "wasm"}[goos]
		out := m.Run(t, []string{"GOOS=" + goos, "GOARCH=" + goarch}, "go", "list", "-f", "{{.IgnoredGoFiles}} {{.TestGoFiles}} {{.XTestGoFiles}}", "./...")
		if strings.TrimRight(strings.ReplaceAll(out, "[] [] []\n", ""), "\n") != "" {
			t.Errorf("on %s the go command passes over\n%s", goos, out)
		}
	}
}

// The server cuts a name at 63 bytes with no more than a notice: https://github.com/prisma/prisma/issues/9415.
func TestB10NamesLongerThan63Bytes(t *testing.T) {
	each := regexp.MustCompile(`^c\.yaml:1:\d+: stores\.s\.table_prefix: the (index )?name ".+" has \d+ bytes \(want at most 63\)$`)
	for _, prefix := range []string{
		strings.Repeat("a", 30), strings.Repeat("a", 40), strings.Repeat("a", 50), strings.Repeat("a", 52), strings.Repeat("a", 55),
		strings.Repeat("a", 60), strings.Repeat("é", 20),
	} {
		for line := range strings.SplitSeq(refusal(t, "table_prefix: "+prefix), "\n") {
			if !each.MatchString(line) {
				t.Errorf("prefix %s: %s", prefix, line)
			}
		}
	}
	longest := works(t, "s: {out: s, table_prefix: "+strings.Repeat("a", 29)+"}", "t: {out: t, table_prefix: "+strings.Repeat("é", 14)+"a}")
	for _, s := range longest {
		if index := s.Executions.Index("live_content_hash"); len(index) != 63 {
			t.Errorf("the longest name %s has %d bytes, want 63", index, len(index))
		}
	}
	installed(t, matrixHost(t, "long"))
}

// A schema's name ends its quotes and goes on as SQL, or is folded, or split at a dot:
// https://github.com/voxpelli/node-connect-pg-simple/issues/151.
func TestB11SchemaNamesThatNeedQuoting(t *testing.T) {
	names := []string{"my-schema", "MySchema", "select", "a.b", `a"b`, `x"; drop table t; --`, "日本", `"app"`, `\`, "it's", "a b", "$$"}
	for _, name := range names {
		s := only(t, fmt.Sprintf("prefix: %q", name))
		if s.Schema != name {
			t.Errorf("the schema %q is called %q", name, s.Schema)
		}
		installed(t, s) // no Go depends on the schema: TestAnotherPrefixChangesTextAlone
	}
	if got, want := refusal(t, `prefix: ""`), "c.yaml:1:43: stores.s.prefix: an empty string (leave the key out for the default)"; got != want {
		t.Errorf("an empty schema: %s, want %s", got, want)
	}
}

// The kinds of columns that are let by, numeric with a NaN in it among them, are written and read back by the tests of the
// templates. The others are refused: TestB14ColumnKindsThatCannotBeWritten of package config.
func TestB14ColumnKindsThatCanBeWritten(t *testing.T) {
	if got := fields(matrixHost(t, "required"))["the_numeric"]; got != "TheNumeric" {
		t.Errorf("the numeric column is the field %q of the host", got)
	}
	if s := matrixHost(t, "collated"); s.Leading[0].Collation != `"pg_catalog"."C"` {
		t.Errorf("the host's column %s has the collation %s", s.Leading[0].Name, s.Leading[0].Collation)
	}
}

// The package's name is guessed from what the folder is called: https://github.com/99designs/gqlgen/issues/2710. What lies in
// it is TestB19PackageAndModuleDetection's.
func TestB19FoldersThatAreNoPackages(t *testing.T) {
	for keys, want := range map[string]string{
		"my-store": `"my-store" cannot be the name of a Go package that others import; set package`,
		"type":     `"type" cannot be the name of a Go package that others import; set package`,
		"main":     `"main" cannot be the name of a Go package that others import; set package`,
		"x_test":   `"x_test" cannot be the name of a Go package that others import; set package`,
		"a b/c":    `"a b/c" cannot be part of an import path: invalid char ' '`,
		"../c":     `"../c" is not a folder below the module's root`,
		"/tmp/c":   `"/tmp/c" is not a relative path with forward slashes`,
		`a\c`:      `"a\\c" is not a relative path with forward slashes`,
		"vendor/c": `"vendor/c": the go command passes over a folder named "vendor"`,
	} {
		_, err := config.Parse("c.yaml", []byte("{version: 1, stores: {s: {out: '"+keys+"'}}}"), model.Module{Path: "example.com/host", Dir: "."})
		if want = "c.yaml:1:32: stores.s.out: " + want; err == nil || err.Error() != want {
			t.Errorf("out: %s: %v, want %s", keys, err, want)
		}
	}
	nowhere := host.Folder{Dir: t.TempDir()}
	nowhere.Write(t, config.FileName, "{version: 1, stores: {s: {out: store}}}")
	if _, err := config.Load(filepath.Join(nowhere.Dir, config.FileName)); err == nil || !strings.Contains(err.Error(), "no go.mod in "+nowhere.Dir+" or above it") {
		t.Errorf("without a go.mod: %v", err)
	}
}
