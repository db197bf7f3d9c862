package sqltext

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	pgquery "github.com/pganalyze/pg_query_go/v6"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// uglyNames mean something to YAML, to SQL, to sqlc, to our own holes, or to who reads them; some are refused.
func uglyNames() []string {
	return []string{
		"select", "user", "order", "table", "null", "no", "~", "007", "1.10", "A", "pg_x", "sg_x", "information_schema", "public", "pg_catalog", "ctid", "id",
		`"`, `""`, `a"b`, `"a"`, `a.b`, `a"."b`, `'`, `it's`, `''`, `\`, `\'`, `a\b`, `a\u0041`, "`", "--", "-- name: X :one", "/*", "*/", "/* -- */",
		"$1", "$$", "$$a$$", "@content_hash", "sqlc.narg(lead_1)", ":a", "?", "%s", "%", "{{charts}}", "{{lead_columns}}", "{{", "}}", "#", "- a", "{a: b}",
		`x"; drop table t; --`, `x'; drop table t; --`, ";", ",", " ", " a ", "a b", "\u00a0", "\u3000", "é", "e\u0301", "日本", "\U0001F600", "\U0010FFFF", "\ufffd",
		strings.Repeat("p", 63), strings.Repeat("p", 64), strings.Repeat("é", 31) + "p", strings.Repeat(`"`, 63),
		"", "a\x00b", "\xff", "a\xc3", "a\nb", "a\rb", "a\tb", "a\u0085b", "a\u2028b", "a\u202eb", "\ufeff", "\u200d", "\U000E0041", "\x7f",
	}
}

// FuzzTheSQLOfAConfigIsTheOneThatWasMeant holds what Postgres's own parser reads in the SQL of a config against what it reads in the
// SQL of the same store under plain names: the trees differ in nothing but the names, and in those as the config has them.
func FuzzTheSQLOfAConfigIsTheOneThatWasMeant(f *testing.F) {
	for _, file := range []string{"../matrix/hosts.yaml", "../matrix/columns.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	// A default may hold what no name may, and only then are there escapes in its literal.
	f.Add(configOf("loans", "statifier_", "charts", "tenant", "\\n\t\\\n\r\u202e\U000E0041'"))
	for pair := range slices.Chunk(uglyNames(), 2) {
		one, other := pair[0], pair[len(pair)-1]
		f.Add(configOf(one, other, other, one, other))
	}
	f.Fuzz(func(t *testing.T, text string) {
		stores, err := config.Parse("c.yaml", []byte(text), module())
		if err != nil {
			return // internal/config has a target for these
		}
		for _, s := range stores {
			plain, names := twin(s)
			want, got := trees(t, plain, names), trees(t, s, strings.NewReplacer())
			if !reflect.DeepEqual(want, got) { // a diff of such trees takes long
				t.Errorf("%s\nis meant otherwise (-meant +read):\n%s", text, cmp.Diff(want, got))
			}
		}
	})
}

func module() model.Module { return model.Module{Path: "example.com/host", Dir: "."} }

// twin is the store under plain names and with plain defaults, and what turns these into the store's own: in quotes first, as
// they stand in the store string, and longer ones before those that they begin with.
func twin(s model.Store) (model.Store, *strings.Replacer) {
	plain := s
	var quoted, indexes, bare []string
	rename := func(into *string, mark, name string) {
		*into = mark
		quoted = append(quoted, `"`+mark+`"`, pgx.Identifier{name}.Sanitize())
		bare = append(bare, mark, name)
	}
	if s.Schema != "" {
		rename(&plain.Schema, "zzschema", s.Schema)
	}
	for i, table := range []*model.Table{&plain.Charts, &plain.Positions, &plain.Executions, &plain.Inputs} {
		rename(&table.Name, "zztable"+strconv.Itoa(i), s.Tables()[i].Name)
	}
	for concept, names := range plain.Indexes() {
		for i, name := range names {
			indexes = append(indexes, name, s.Indexes()[concept][i])
		}
	}
	plain.Leading = slices.Clone(s.Leading)
	for i := range plain.Leading {
		rename(&plain.Leading[i].Name, fmt.Sprintf("zzcolumn%04d", i), s.Leading[i].Name)
		if c := s.Leading[i]; c.Default != nil {
			note := fmt.Sprintf("zznote%04d", i)
			plain.Leading[i].Default = &note
			bare = append(bare, note, *c.Default)
		}
	}
	return plain, strings.NewReplacer(slices.Concat(quoted, indexes, bare)...)
}

// trees are what the parser reads in all emitted SQL, by file, under other names.
func trees(t *testing.T, s model.Store, names *strings.Replacer) map[string]any {
	t.Helper()
	all := map[string]any{}
	for file, text := range emitted(t, s) {
		tree, err := pgquery.ParseToJSON(text)
		if err != nil {
			t.Fatalf("%s: %v\n%s", file, err, text)
		}
		var node any
		if err := json.Unmarshal([]byte(tree), &node); err != nil {
			t.Fatal(err)
		}
		all[file] = renamed(node, names)
	}
	return all
}

// renamed drops where in the text a node was, too.
func renamed(node any, names *strings.Replacer) any {
	switch node := node.(type) {
	case string:
		return names.Replace(node)
	case []any:
		for i, item := range node {
			node[i] = renamed(item, names)
		}
	case map[string]any:
		for _, place := range []string{"location", "stmt_len", "stmt_location"} {
			delete(node, place)
		}
		for key, child := range node {
			node[key] = renamed(child, names)
		}
	}
	return node
}

// configOf is a config with these names. The escapes of valid UTF-8 are the same in YAML and in Go.
func configOf(schema, prefix, charts, column, note string) string {
	quoted := func(name string) string {
		if utf8.ValidString(name) {
			return strconv.QuoteToASCII(name)
		}
		return `"` + name + `"`
	}
	text := "version: 1\nstores:\n  s:\n    out: a\n    table_prefix: " + quoted(prefix) + "\n    tables: {charts: " + quoted(charts) + "}\n" +
		"    leading_columns: [{name: " + quoted(column) + ", type: text, not_null: true, default: " + quoted(note) + "}]\n"
	if schema != "" {
		text += "    prefix: " + quoted(schema) + "\n"
	}
	return text
}

// FuzzNamesReachTheCatalogs takes names from YAML to a server: what the config takes is in pg_catalog byte for byte once the
// schema has run, statements that are emitted find it there, and the lock that one takes has the key that keyspec computes and that
// the server computes from the real name. What the config refuses has a fault.
func FuzzNamesReachTheCatalogs(f *testing.F) {
	conn := pgtest.New(f, "").Conn(f)
	f.Add("loans", "statifier_", "charts", "tenant", "\\n\t\\\n\r\u202e\U000E0041'")
	for i, name := range uglyNames() {
		other := uglyNames()[(i+7)%len(uglyNames())]
		f.Add("loans", "statifier_", name, other, name)
		f.Add(name, other, "charts", "tenant", other)
	}
	f.Fuzz(func(t *testing.T, schema, prefix, charts, column, note string) {
		stores, err := config.Parse("c.yaml", []byte(configOf(schema, prefix, charts, column, note)), module())
		if err != nil {
			if strings.Contains(err.Error(), "leading_columns.0.name") || !usable(schema, prefix, charts, column, note) {
				return
			}
			t.Fatalf("schema %q, prefix %q, charts %q and default %q are refused: %v", schema, prefix, charts, note, err)
		}
		tx, err := conn.Begin(t.Context())
		must(t, err)
		defer func() { must(t, tx.Rollback(t.Context())) }()
		c := catalog{t, tx, stores[0], emitted(t, stores[0])}
		_, err = tx.Exec(t.Context(), c.emitted["schema.sql"], pgx.QueryExecModeSimpleProtocol)
		must(t, err)
		c.holds(schema, prefix, charts, column)
		c.statementsFind(note)
		c.lockIsThatOf(schema, charts)
	})
}

// usable says whether there is nothing against these: a second opinion, for ordinary names.
func usable(schema, prefix, charts, column, note string) bool {
	shown := func(name string, room int) bool {
		hidden := func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }
		return utf8.ValidString(name) && len(name) <= room && strings.IndexFunc(name, hidden) < 0 && !strings.HasPrefix(name, "sg_") && !strings.HasPrefix(name, "pg_")
	}
	like := func(concept string) bool { return strings.Contains(charts, concept) }
	return shown(schema, 63) && schema != "information_schema" && shown(prefix, 63-len("executions_live_content_hash_index")) &&
		charts != "" && shown(charts, 63-len("_content_hash_index")) && !slices.ContainsFunc(model.Concepts()[1:], like) &&
		utf8.ValidString(column) && utf8.ValidString(note) && !strings.Contains(note, "\x00") && len(note) <= 8192
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// catalog is a database in which the store's schema has run, in a transaction that is rolled back.
type catalog struct {
	t       *testing.T
	tx      pgx.Tx
	s       model.Store
	emitted map[string]string
}

func (c catalog) texts(sql string, args ...any) []string {
	c.t.Helper()
	rows, _ := c.tx.Query(c.t.Context(), sql, args...) // CollectRows has the error
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		c.t.Fatalf("%v\n%s", err, sql)
	}
	return texts
}

// holds demands the names as they were given: the tables, the indexes, and behind the id the leading column.
func (c catalog) holds(schema, prefix, charts, column string) {
	c.t.Helper()
	if schema == "" {
		schema = "public"
	}
	want := []string{charts, prefix + "positions", prefix + "executions", prefix + "inputs"}
	for _, names := range c.s.Indexes() {
		want = append(want, names...)
	}
	slices.Sort(want)
	got := c.texts(`SELECT relname::text FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1::text) AND relkind IN ('r', 'i')
		ORDER BY relname::text COLLATE "C"`, schema)
	if diff := cmp.Diff(want, got); diff != "" {
		c.t.Errorf("the catalog has other names in %q (-given +catalog):\n%s", schema, diff)
	}
	columns := c.texts(`SELECT attname::text FROM pg_attribute JOIN pg_class r ON r.oid = attrelid
		WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1::text) AND relkind = 'r' AND attnum = 2`, schema)
	if !slices.Equal(columns, []string{column, column, column, column}) {
		c.t.Errorf("the catalog has the columns %q, want four times %q", columns, column)
	}
}

// statementsFind runs emitted statements on the tables: one that writes the default, one that looks every name up in the
// catalogs, and the one in which most names stand is prepared.
func (c catalog) statementsFind(note string) {
	c.t.Helper()
	_, err := c.tx.Exec(c.t.Context(), c.statement("charts.sql", "SaveChart", map[string]string{
		"id": "'chart_1'", "lead_1": "NULL", "content_hash": "'" + someHash + "'", "identity_blob": `'\x00'`, "chart_blob": `'\x01'`,
	}))
	must(c.t, err)
	charts := pgx.Identifier{c.s.Schema, c.s.Charts.Name}
	if c.s.Schema == "" {
		charts = charts[1:]
	}
	column := pgx.Identifier{c.s.Leading[0].Name}.Sanitize()
	if got := c.texts("SELECT " + column + " FROM " + charts.Sanitize()); !slices.Equal(got, []string{note}) {
		c.t.Errorf("the default of %q is stored as %q", note, got)
	}
	if got := c.texts("SELECT f.kind FROM (" + c.statement("verify.sql", "TablesFound", nil) + ") AS f"); !slices.Equal(got, []string{"r", "r", "r", "r"}) {
		c.t.Errorf("found %q, want four tables", got)
	}
	_, err = c.tx.Prepare(c.t.Context(), "", c.statement("retire.sql", "RetireChart", map[string]string{"content_hash": "$1", "retired_by": "$2", "most": "$3"}))
	must(c.t, err)
}

const someHash = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// lockIsThatOf takes the lock by the emitted statement, and asks the server for its key by the names that it really has.
func (c catalog) lockIsThatOf(schema, charts string) {
	c.t.Helper()
	want := strconv.Itoa(int(keyspec.ChartKeys(keyspec.Store, keyspec.StoreString(schema, charts), someHash)[0]))
	took := strings.Replace(c.statement("locks.sql", "LockChartShared", map[string]string{"content_hash": "'" + someHash + "'"}), "SELECT ", "SELECT ''::text FROM (SELECT ", 1)
	c.texts(took + ") AS l OFFSET 0")
	taken := c.texts(`SELECT objid::bigint::bit(32)::int::text FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND classid = 1397769032`)
	computed := c.texts(`SELECT hashtext(CASE WHEN $1 = '' THEN '' ELSE '"' || replace(nspname, '"', '""') || '".' END || '"' || replace(relname, '"', '""') || '" ' || $3)::text
		FROM pg_class r JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = coalesce(nullif($1, ''), 'public') AND relname = $2::text`, schema, charts, someHash)
	if !slices.Equal(taken, []string{want}) || !slices.Equal(computed, []string{want}) {
		c.t.Errorf("keyspec has the key %s, the emitted statement locked %s, and the server computes %s", want, taken, computed)
	}
}

// statement is an emitted one with words for its parameters. Only the lexer knows what is one, and what is part of a name.
func (c catalog) statement(file, name string, words map[string]string) string {
	c.t.Helper()
	statements, err := pgquery.SplitWithScanner(c.emitted[file], true)
	must(c.t, err)
	i := slices.IndexFunc(statements, func(s string) bool { return strings.Contains(s, "-- name: "+name+" :") })
	if i < 0 {
		c.t.Fatalf("%s has no %s", file, name)
	}
	return filledIn(c.t, statements[i], words)
}

func filledIn(t *testing.T, sql string, words map[string]string) string {
	t.Helper()
	scanned, err := pgquery.Scan(sql)
	must(t, err)
	tokens := scanned.Tokens
	text := func(i int) string { return sql[tokens[i].Start:tokens[i].End] }
	var out strings.Builder
	for i := 0; i < len(tokens); i++ {
		word := text(i)
		switch {
		case strings.HasPrefix(word, "--"):
			continue
		case word == "@":
			i++
			word = words[text(i)]
		case word == "sqlc" && text(i+2) == "narg":
			word = words[text(i+4)]
			i += 5
		}
		out.WriteString(word + " ")
	}
	return out.String()
}
