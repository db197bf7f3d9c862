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
	if len(calls) != 4 {
		t.Fatalf("found %d chart lock calls, want 4:\n%s", len(calls), queries["locks.sql"])
	}
	const want = `pg_catalog.hashtext(E'"o''\\"""."statifier_charts" ' OPERATOR(pg_catalog.||) @content_hash`
	for _, call := range calls {
		if !strings.Contains(call, want) {
			t.Errorf("the lock call\n%s\nhas not the key\n%s", call, want)
		}
	}
	if want := `"o'\"""."statifier_charts"`; s.StoreString() != want {
		t.Errorf("store string %s, want %s", s.StoreString(), want)
	}
}

func TestBothKeysAreTakenTheSmallerFirst(t *testing.T) {
	keys := lockKeys(store(t, model.Spec{LockKey: string(keyspec.Both)}))
	if len(keys) != 2 || !strings.HasPrefix(keys[0], "LEAST(") || !strings.HasPrefix(keys[1], "GREATEST(") {
		t.Errorf("keys %q", keys)
	}
}
