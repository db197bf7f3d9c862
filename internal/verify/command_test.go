package verify_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statigen/statigen/internal/cli"
	"github.com/statigen/statigen/internal/pgtest"
)

func portOf(port uint16) string { return strconv.Itoa(int(port)) }

// command runs statigen in a host's folder.
func command(t *testing.T, config string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/host\n", "statigen.yaml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var out, said bytes.Buffer
	code = cli.Main(append([]string{"verify"}, args...), &out, &said)
	return code, out.String(), said.String()
}

const twoStores = `version: 1
stores:
  loans: {out: loanstore, prefix: loans}
  cards: {out: cardstore, prefix: cards}
`

func TestTheCommandPrintsWhatPsqlTakes(t *testing.T) {
	stores := parse(t, "statigen.yaml", twoStores)
	db := pgtest.New(t, schema(t, stores[0])+schema(t, stores[1]))
	if code, stdout, stderr := command(t, twoStores, "--database-url", db.URL()); code != 0 || stdout+stderr != "" {
		t.Errorf("a good database: exit code %d, printed %q and %q", code, stdout, stderr)
	}
	db.Exec(t, `ALTER TABLE loans.statifier_charts DROP retired_by; ALTER TABLE loans.statifier_executions ALTER status DROP NOT NULL;
		ALTER TABLE loans.statifier_inputs ADD "a
; DROP TABLE x; --" text NOT NULL; DROP TABLE cards.statifier_inputs`)
	_, all, _ := command(t, twoStores, "--database-url", db.URL())
	code, stdout, stderr := command(t, twoStores, "--database-url", db.URL(), "--store", "loans")
	if code != 1 || stderr != "" || !strings.HasPrefix(all, stdout) || !strings.Contains(all, "-- cards: ") {
		t.Errorf("exit code %d, said %q; of both stores:\n%s", code, stderr, all)
	}
	golden := `-- loans: "loans"."statifier_charts": column "retired_by" is missing
ALTER TABLE "loans"."statifier_charts" ADD COLUMN "retired_by" pg_catalog.text;

-- loans: "loans"."statifier_executions": column "status" may be NULL (want NOT NULL)
-- Look before you run it: every row is looked at while nobody can read the table, and one may hold NULL.
-- ALTER TABLE "loans"."statifier_executions" ALTER COLUMN "status" SET NOT NULL;

-- loans: "loans"."statifier_inputs": column "a\n; DROP TABLE x; --" is NOT NULL without a default, and the store does not know it: no row can be written (want a default, or NULL allowed)
-- Look before you run it: whoever made the column wanted a value in every row.
-- ALTER TABLE "loans"."statifier_inputs" ALTER COLUMN "a
-- ; DROP TABLE x; --" DROP NOT NULL;

`
	if diff := cmp.Diff(golden, stdout); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
	db.Exec(t, all)
	_, left, _ := command(t, twoStores, "--database-url", db.URL())
	if strings.Contains(left, "retired_by") || strings.Contains(left, "cards") || strings.Count(left, "Look before") != 2 {
		t.Errorf("after all that is no comment was run, it finds:\n%s", left)
	}
}

func TestTheCommandPrintsJSON(t *testing.T) {
	stores := parse(t, "statigen.yaml", twoStores)
	db := pgtest.New(t, schema(t, stores[0]))
	if code, stdout, _ := command(t, twoStores, "--json", "--store", "loans", "--database-url", db.URL()); code != 0 || stdout != "[]\n" {
		t.Errorf("a good database: exit code %d, printed %s", code, stdout)
	}
	db.Exec(t, "ALTER TABLE loans.statifier_charts DROP retired_by; ALTER TABLE loans.statifier_executions ALTER status DROP NOT NULL;"+
		"DROP INDEX loans.statifier_executions_ended_at_index")
	code, stdout, _ := command(t, twoStores, "--json", "--store", "loans", "--database-url", db.URL())
	golden := `[
  {
    "kind": "column",
    "store": "loans",
    "object": "\"loans\".\"statifier_charts\"",
    "text": "column \"retired_by\" is missing",
    "sql": [
      "ALTER TABLE \"loans\".\"statifier_charts\" ADD COLUMN \"retired_by\" pg_catalog.text"
    ]
  },
  {
    "kind": "column",
    "store": "loans",
    "object": "\"loans\".\"statifier_executions\"",
    "text": "column \"status\" may be NULL (want NOT NULL)",
    "risk": "every row is looked at while nobody can read the table, and one may hold NULL",
    "sql": [
      "ALTER TABLE \"loans\".\"statifier_executions\" ALTER COLUMN \"status\" SET NOT NULL"
    ]
  },
  {
    "kind": "index",
    "store": "loans",
    "object": "\"loans\".\"statifier_executions\"",
    "text": "index \"statifier_executions_ended_at_index\" is missing",
    "sql": [
      "DROP INDEX CONCURRENTLY IF EXISTS \"loans\".\"statifier_executions_ended_at_index\"",
      "CREATE INDEX CONCURRENTLY \"statifier_executions_ended_at_index\" ON \"loans\".\"statifier_executions\" (\"ended_at\")"
    ]
  }
]
`
	if diff := cmp.Diff(golden, stdout); code != 1 || diff != "" {
		t.Errorf("exit code %d, printed (-want +got):\n%s", code, diff)
	}
}

func TestTheCommandsMistakes(t *testing.T) {
	db := pgtest.New(t, "")
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"a store that is none": {[]string{"--store", "loan"}, `--store: unknown store "loan"`},
		"a role that is none":  {[]string{"--role", "no such", "--database-url", db.URL()}, `the server has no role "no such"`},
		"no server":            {[]string{"--database-url", "postgres://me:hunter2secret@127.0.0.1:1/db"}, "statigen: connect to the database: "},
		"no URL":               {[]string{"--database-url", "me:hunter2secret@127.0.0.1"}, "statigen: --database-url cannot be read"},
		"an argument":          {[]string{"loans"}, `unexpected argument "loans"`},
	} {
		code, stdout, stderr := command(t, twoStores, c.args...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, c.says) || strings.Contains(stderr, "hunter2secret") {
			t.Errorf("%s: exit code %d, printed %q, said %q, want %q", name, code, stdout, stderr, c.says)
		}
	}
}
