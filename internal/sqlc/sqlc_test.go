package sqlc_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/sqlc"
)

func TestMain(m *testing.M) {
	sqlc.Child()
	os.Exit(m.Run())
}

func input(schema, query string) sqlc.Input {
	return sqlc.Input{Name: "s", Schema: []byte(schema), Queries: map[string][]byte{"q.sql": []byte(query)}}
}

func TestVersionIsTheOneInGoMod(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := "github.com/sqlc-dev/sqlc " + sqlc.Version + "\n"; !strings.Contains(string(text), want) {
		t.Errorf("go.mod does not hold %q", want)
	}
}

func TestEachInputBecomesAPackageOfItsOwn(t *testing.T) {
	got, err := sqlc.Compile(t.Context(), []sqlc.Input{
		input("CREATE TABLE a (id int8 NOT NULL);", "-- name: A :one\nSELECT a.id FROM a AS a;\n"),
		input("CREATE TABLE b (name text);", "-- name: B :one\nSELECT b.name FROM b AS b;\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || !strings.Contains(string(got[0]["q.sql.go"]), "(int64, error)") || !strings.Contains(string(got[1]["q.sql.go"]), "(*string, error)") {
		t.Errorf("compiled %v", got)
	}
}

func TestAComplaintNamesTheFileAndTheLine(t *testing.T) {
	_, err := sqlc.Compile(t.Context(), []sqlc.Input{input("CREATE TABLE a (id int8);", "-- name: A :one\nSELECT a.nope\nFROM a AS a;\n")})
	var refusal *sqlc.Refusal
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Complaints, "\nstore s: queries/q.sql:2:") || !strings.Contains(refusal.Complaints, `column "nope" does not exist`) {
		t.Errorf("got error %v, want a refusal at queries/q.sql:2", err)
	}
	if err != nil && strings.Contains(err.Error(), os.TempDir()) {
		t.Errorf("the error shows a temporary folder: %v", err)
	}
}

// sqlc takes a line that looks like a comment for one, inside a name and inside a constant too.
func TestSQLThatComesBackChangedIsRefused(t *testing.T) {
	for name, query := range map[string]string{
		"a line lost from a name":     "-- name: A :one\nSELECT a.id FROM \"b\n-- c\nd\" AS a;\n",
		"a line lost from a constant": "-- name: A :one\nSELECT a.id FROM a AS a WHERE a.name = 'x\n-- y\nz';\n",
	} {
		_, err := sqlc.Compile(t.Context(), []sqlc.Input{input("CREATE TABLE a (id int8, name text); CREATE TABLE \"b\n-- c\nd\" (id int8);", query)})
		var refusal *sqlc.Refusal
		if !errors.As(err, &refusal) || !strings.Contains(refusal.Complaints, "query A came back changed") {
			t.Errorf("%s: got error %v, want a refusal of query A", name, err)
		}
	}
}

func TestParametersQuotesAndCommentsAreNoChange(t *testing.T) {
	_, err := sqlc.Compile(t.Context(), []sqlc.Input{input(`CREATE TABLE "a@b $1" (id int8, "x -- y" text);`,
		"-- name: A :one\n-- A is a comment.\nSELECT a.id -- one\nFROM \"a@b $1\" AS a\n"+
			"WHERE a.\"x -- y\" = E'it\\'s\\n' AND a.id = @id::int8 AND a.id = sqlc.narg(other)::int8 AND a.\"x -- y\" = '`@x';\n")})
	if err != nil {
		t.Error(err)
	}
}

func TestTheCallersSettingsOfSQLCDoNotReachIt(t *testing.T) {
	t.Setenv("SQLC_AUTH_TOKEN", "not a token")
	if _, err := sqlc.Compile(t.Context(), []sqlc.Input{input("CREATE TABLE a (id int8);", "-- name: A :one\nSELECT a.id FROM a AS a;\n")}); err != nil {
		t.Error(err)
	}
}

func TestACancelledRunSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := sqlc.Compile(ctx, []sqlc.Input{input("", "-- name: A :one\nSELECT 1;\n")})
	if err == nil || strings.Contains(err.Error(), "refuses") {
		t.Errorf("got error %v, want the cancellation", err)
	}
}
