package sqltext

import (
	"bytes"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/statigen/statigen"
	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/model"
)

func store(t *testing.T, spec model.Spec) model.Store {
	t.Helper()
	spec.Name, spec.Out = "s", "store"
	s, problems := model.New(model.Module{Path: "example.com/host", Dir: "."}, spec)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return s
}

func TestAHoleWithoutAWordIsAnError(t *testing.T) {
	texts := fstest.MapFS{"queries/q.sql": {Data: []byte("SELECT {{chrats}};")}}
	_, err := render(texts, "queries", store(t, model.Spec{}))
	if err == nil || !strings.Contains(err.Error(), `queries/q.sql: no word for the hole "chrats"`) {
		t.Errorf("got error %v", err)
	}
}

func TestEveryWordHasAHole(t *testing.T) {
	var all strings.Builder
	for _, folder := range []string{"schema", "queries"} {
		entries, err := fs.ReadDir(statigen.Texts, folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			text, err := fs.ReadFile(statigen.Texts, folder+"/"+e.Name())
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	for hole := range holes(store(t, model.Spec{})) {
		if !strings.Contains(all.String(), "{{"+hole+"}}") {
			t.Errorf("nothing uses the hole %q", hole)
		}
	}
}

// A complaint of sqlc's about line 7 is about line 7 of our file.
func TestLineNumbersAreKept(t *testing.T) {
	note := "x"
	s := store(t, model.Spec{Prefix: "loans", Leading: []model.ColumnSpec{{Name: "a", Type: "text", Default: &note}, {Name: "b", Type: "uuid"}}})
	queries, err := Queries(s)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range queries {
		src, err := fs.ReadFile(statigen.Texts, "queries/"+name)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := bytes.Count(text, []byte("\n")), bytes.Count(src, []byte("\n")); got != want {
			t.Errorf("%s has %d lines, want %d", name, got, want)
		}
	}
}

func TestTheStoreStringIsALiteralInEveryChartLock(t *testing.T) {
	s := store(t, model.Spec{Prefix: `o'\"`})
	queries, err := Queries(s)
	if err != nil {
		t.Fatal(err)
	}
	calls := regexp.MustCompile(`pg_catalog\.pg_(try_)?advisory_xact_lock(_shared)?\(1397769032, [^;]*?\$?@content_hash`).FindAllString(string(queries["locks.sql"]), -1)
	if len(calls) != 5 {
		t.Fatalf("found %d chart lock calls, want 5:\n%s", len(calls), queries["locks.sql"])
	}
	const want = `pg_catalog.hashtext(E'"o''\\"""."statifier_charts" ' OPERATOR(pg_catalog.||) @content_hash`
	for _, call := range calls {
		if !strings.Contains(strings.ReplaceAll(call, "h.hash", "@content_hash"), want) {
			t.Errorf("the lock call\n%s\nhas not the key\n%s", call, want)
		}
	}
	if want := `"o'\"""."statifier_charts"`; s.StoreString() != want {
		t.Errorf("store string %s, want %s", s.StoreString(), want)
	}
}

func TestBothKeysAreTakenTheSmallerFirst(t *testing.T) {
	keys := lockKeys(store(t, model.Spec{LockKey: string(keyspec.Both)}), "$1")
	if len(keys) != 2 || !strings.HasPrefix(keys[0], "LEAST(") || !strings.HasPrefix(keys[1], "GREATEST(") {
		t.Errorf("keys %q", keys)
	}
}

// columnsOf lists the columns of each table in the schema's order.
func columnsOf(t *testing.T, s model.Store) []string {
	t.Helper()
	schema, err := Schema(s)
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for _, table := range regexp.MustCompile(`(?ms)^CREATE TABLE [^\n]* \(\n(.*?)^\);`).FindAllSubmatch(schema, -1) {
		var names []string
		for _, name := range regexp.MustCompile(`(?m)(?:^  |, )"([a-z_]+)" `).FindAllSubmatch(table[1], -1) {
			names = append(names, string(name[1]))
		}
		tables = append(tables, strings.Join(names, " "))
	}
	return tables
}

// The model derives from its list how many leading columns there is room for, and what their names may not be.
func TestTheModelKnowsEveryColumnOfTheSchema(t *testing.T) {
	own := model.OwnColumns()
	for i, columns := range columnsOf(t, store(t, model.Spec{})) {
		want := strings.Join(own[model.Concepts()[i]], " ")
		if columns != want {
			t.Errorf("schema.sql gives %s the columns\n%s\nand the model\n%s", model.Concepts()[i], columns, want)
		}
	}
}

func TestTimestampsStandWhereTheReferenceHasThem(t *testing.T) {
	leading := []model.ColumnSpec{{Name: "tenant", Type: "uuid"}}
	for position, want := range map[string][]string{
		"trailing": {
			"id tenant content_hash identity_blob chart_blob inserted_at updated_at retired_at retired_by",
			"id tenant session_id content_hash identity_blob position_blob inserted_at updated_at",
			"id tenant execution_id status content_hash identity_blob position_blob failure session_id inserted_at updated_at metadata outcome_blob ended_at",
			"id tenant execution_id seq door input_blob inserted_at updated_at",
		},
		"leading": {
			"id tenant inserted_at updated_at content_hash identity_blob chart_blob retired_at retired_by",
			"id tenant inserted_at updated_at session_id content_hash identity_blob position_blob",
			"id tenant inserted_at updated_at execution_id status content_hash identity_blob position_blob failure session_id metadata outcome_blob ended_at",
			"id tenant inserted_at updated_at execution_id seq door input_blob",
		},
	} {
		got := columnsOf(t, store(t, model.Spec{Leading: leading, TimestampsPosition: position}))
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: columns\n%s\nwant\n%s", position, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestACollationIsThatOfItsColumnInEveryTable(t *testing.T) {
	for column, tables := range map[string]int{"content_hash": 3, "session_id": 2, "execution_id": 2, "status": 1, "failure": 1, "door": 1} {
		schema, err := Schema(store(t, model.Spec{Collations: map[string]string{column: "my.coll"}}))
		if err != nil {
			t.Fatal(err)
		}
		const collate = ` COLLATE "my"."coll"`
		definition := `"` + column + `" pg_catalog.text` + collate
		if got, all := strings.Count(string(schema), definition), strings.Count(string(schema), collate); got != tables || all != tables {
			t.Errorf("%s has its collation in %d tables, and something has it in %d places, want %d:\n%s", column, got, all, tables, schema)
		}
	}
}

// A column's collation may call two texts equal. A lock is made of parameters alone.
func TestNoLockIsMadeOfAColumn(t *testing.T) {
	queries, err := Queries(store(t, model.Spec{Collations: map[string]string{"content_hash": "my.coll", "execution_id": "my.coll"}}))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range queries {
		calls := strings.Count(string(text), ".hashtext")
		// h is what a parameter of several hashes was taken apart into.
		ofParameters := regexp.MustCompile(`\.hashtext(\(('[^']*' OPERATOR\(pg_catalog\.\|\|\) )?(@content_hash::pg_catalog\.text|h\.hash)\)|extended\(@execution_id::pg_catalog\.text, 0\))`)
		if got := len(ofParameters.FindAll(text, -1)); got != calls {
			t.Errorf("%s hashes %d times, and a parameter %d times", name, calls, got)
		}
	}
}
