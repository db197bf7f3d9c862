package migrations

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// parsed are a config's stores.
func parsed(t *testing.T, name, text string) []model.Store {
	t.Helper()
	stores, err := config.Parse(name, []byte(text), model.Module{Path: "example.com/host", Dir: "."})
	if err != nil {
		t.Fatal(err)
	}
	return stores
}

// loans is a store with the keys given.
func loans(t *testing.T, keys string) model.Store {
	t.Helper()
	return parsed(t, "statigen.yaml", "version: 1\nstores:\n  loans: {out: loanstore"+keys+"}\n")[0]
}

// folder is a folder in memory, as cli and package output keep a real one.
type folder map[string][]byte

// request asks for a store's migrations.
func (f folder) request(s model.Store, format, from string) Request {
	return Request{Store: s, Format: format, From: from, Files: maps.Clone(f), Now: time.Date(2026, 2, 28, 23, 59, 58, 5, time.UTC)}
}

// plan plans and writes; what is there already must not be planned.
func (f folder) plan(t *testing.T, r Request) []string {
	t.Helper()
	files, state, err := Plan(r)
	if err != nil {
		t.Fatal(err)
	}
	return f.write(t, files, state)
}

func (f folder) write(t *testing.T, files []File, state []byte) (names []string) {
	t.Helper()
	for _, file := range files {
		if _, there := f[file.Name]; there {
			t.Fatalf("%s is there already", file.Name)
		}
		f[file.Name] = file.Text
		names = append(names, file.Name)
	}
	if state != nil {
		f[StateName] = state
	}
	return names
}

// refused is what a request is refused with.
func (f folder) refused(t *testing.T, r Request) string {
	t.Helper()
	files, state, err := Plan(r)
	if err == nil || files != nil || state != nil {
		t.Fatalf("planned %d files: %v", len(files), err)
	}
	return err.Error()
}

func same(t *testing.T, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFilesAreNamedAndNumberedAsTheToolWants(t *testing.T) {
	for format, want := range map[string][]string{
		"goose":          {"00001_statigen_loans_7_to_8_1.sql", "00002_statigen_loans_7_to_8_1.sql"},
		"golang-migrate": {"000001_statigen_loans_7_to_8_1.up.sql", "000001_statigen_loans_7_to_8_1.down.sql", "000002_statigen_loans_7_to_8_1.up.sql"},
		"tern":           {"001_statigen_loans_7_to_8_1.sql", "002_statigen_loans_7_to_8_1.sql"},
		"sql":            {"0001_statigen_loans_7_to_8_1.up.sql", "0001_statigen_loans_7_to_8_1.down.sql", "0002_statigen_loans_7_to_8_1.up.sql"},
	} {
		f := folder{}
		same(t, want, f.plan(t, f.request(loans(t, ""), format, "7"))[:len(want)])
		f = folder{}
		if got := f.plan(t, f.request(loans(t, ""), format, "empty")); !strings.Contains(got[0], "1_statigen_loans_create.") {
			t.Errorf("the first tables are made by %s", got[0])
		}
	}
}

// The numbers go on after the greatest that the tool would read, as wide as it is.
func TestNumbersGoOn(t *testing.T) {
	for _, c := range []struct {
		format, there, want string
	}{
		{"goose", "00007_theirs.sql 00009_theirs.go 99_notes.txt x.sql", "00010"},
		{"goose", "9_theirs.sql 010_theirs.sql", "011"},
		{"goose", "999_theirs.sql", "1000"},
		{"goose", "20260228235957_theirs.sql", "20260228235958"}, // the time that the test has
		{"goose", "20260228235959_theirs.sql", "20260301000000"}, // a clock that is behind
		{"goose", "00003_theirs.sql 20250101000000_theirs.sql", "20260228235958"},
		{"golang-migrate", "000041_theirs.up.sql 000041_theirs.down.sql 000099_theirs.sql", "000042"},
		{"golang-migrate", "1772323198_theirs.up.sql", "1772323199"}, // seconds since 1970
		{"tern", "001_theirs.sql 002_theirs.sql 20250101000000.sql 009_theirs.txt", "003"},
		{"sql", "0001_theirs.up.sql", "0002"},
	} {
		f := folder{}
		for name := range strings.FieldsSeq(c.there) {
			f[name] = nil
		}
		got, _, _ := strings.Cut(f.plan(t, f.request(loans(t, ""), c.format, "empty"))[0], "_")
		if got != c.want {
			t.Errorf("%s after %s: number %s, want %s", c.format, c.there, got, c.want)
		}
	}
}

func TestANumberThatTheToolCannotFollowIsNamed(t *testing.T) {
	for format, name := range map[string]string{"tern": "2147483647_theirs.sql", "goose": "99999999999999999999_theirs.sql"} {
		f := folder{name: nil}
		want := name + " has a number after which there are none for " + format
		if got := f.refused(t, f.request(loans(t, ""), format, "empty")); got != want {
			t.Errorf("said %s, want %s", got, want)
		}
	}
}

func TestTheSameStateHasNothingToDo(t *testing.T) {
	f := folder{}
	f.plan(t, f.request(loans(t, ""), "goose", "empty"))
	files, state, err := Plan(f.request(loans(t, ""), "", ""))
	if files != nil || state != nil || err != nil {
		t.Errorf("planned %d files, state %q: %v", len(files), state, err)
	}
}

// Tables that are at the latest version are recorded without a migration.
func TestWhatIsThereIsRecordedAlone(t *testing.T) {
	f := folder{}
	same(t, nil, f.plan(t, f.request(loans(t, ""), "goose", "8.1")))
	s := loans(t, ", leading_columns: [{name: tenant, type: uuid}]")
	same(t, []string{"00001_statigen_loans_change_1.sql"}, f.plan(t, f.request(s, "", "")))
	same(t, []string{"00002_statigen_loans_change_2.sql"}, f.plan(t, f.request(loans(t, ", leading_columns: [{name: tenant, type: uuid}, {name: b, type: text, default: x}]"), "", "")))
}

// A change, the way back, and the change again are three changes.
func TestAChangeMayBeMadeAgain(t *testing.T) {
	f := folder{}
	f.plan(t, f.request(loans(t, ", leading_columns: [{name: a, type: text}]"), "goose", "8.1"))
	for i, c := range []string{", default: x", "", ", default: x"} {
		if n := len(f.plan(t, f.request(loans(t, ", leading_columns: [{name: a, type: text"+c+"}]"), "", ""))); n != 1 {
			t.Errorf("change %d has %d files", i+1, n)
		}
	}
}

// The state file holds what it was written from, and its text is what a reviewer can read.
func TestTheStateFileIsReadAsItWasWritten(t *testing.T) {
	f := folder{}
	s := loans(t, `, prefix: "<&\"é", leading_columns: [{name: region, type: text, collation: C, not_null: true, default: eu}]`)
	f.plan(t, f.request(s, "tern", "empty"))
	read, err := decode(f[StateName])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(f[StateName]), string(read.encode())); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{`"format": "tern",`, `"version": "8.1",`, `"schema": "<&\"é",`, `"collation": "\"pg_catalog\".\"C\"",`, "\n      \"changes\": 1,\n"} {
		if !strings.Contains(string(f[StateName]), want) {
			t.Errorf("no %s in\n%s", want, f[StateName])
		}
	}
}

func TestAStateFileThatIsNoneIsRefused(t *testing.T) {
	f := folder{}
	f.plan(t, f.request(loans(t, ""), "goose", "8.1"))
	whole := string(f[StateName])
	for text, says := range map[string]string{
		"":                 "EOF",
		whole + "x":        "something stands behind it",
		"<<<<<<< HEAD\n{}": "invalid character '<'",
		`{"statigen": 2}`:  "statigen.state is of a newer statigen (want that one, or newer)",
		strings.Replace(whole, `"changes"`, `"chances"`, 1):         `unknown field "chances"`,
		strings.Replace(whole, `"8.1"`, `"9"`, 1):                   `unknown version of the tables "9"`,
		strings.Replace(whole, `"8.1"`, `"0"`, 1):                   "store loans is at version 0 after 0 changes",
		strings.Replace(whole, `"goose"`, `"geese"`, 1):             `unknown format "geese" (want goose, golang-migrate, tern or sql)`,
		strings.Replace(whole, `"statigen": 1`, `"statigen": 0`, 1): "it begins with the number 0 (want 1)",
	} {
		f[StateName] = []byte(text)
		if got := f.refused(t, f.request(loans(t, ""), "", "")); !strings.Contains(got, says) {
			t.Errorf("said %s, want %s", got, says)
		}
	}
}

func TestWhatIsMissingIsAskedFor(t *testing.T) {
	f, s := folder{"00001_theirs.sql": nil}, loans(t, "")
	recorded := folder{}
	recorded.plan(t, recorded.request(s, "goose", "8.1"))
	other := parsed(t, "x.yaml", "version: 1\nstores: {cards: {out: c, prefix: c}}")[0]
	for _, c := range []struct {
		in        folder
		r         Request
		wantStart string
	}{
		{f, f.request(s, "", "empty"), "--format is missing (want goose, golang-migrate, tern or sql)"},
		{f, f.request(s, "gose", "empty"), `--format: unknown format "gose"`},
		{f, f.request(s, "goose", ""), "the folder has no statigen.state (want --from empty if the tables are to be made, or --from and"},
		{f, f.request(s, "goose", "9"), `--from: unknown version of the tables "9"`},
		{recorded, recorded.request(s, "", "8"), "--from 8: statigen.state records store loans at version 8.1 (want no --from)"},
		{recorded, recorded.request(s, "tern", ""), "--format tern: the folder has migrations for goose (want --format goose, or another --dir)"},
		{recorded, recorded.request(other, "", ""), "statigen.state has no store cards (it has loans) (want --from empty"},
	} {
		if got := c.in.refused(t, c.r); !strings.HasPrefix(got, c.wantStart) {
			t.Errorf("said %s, want %s", got, c.wantStart)
		}
	}
	if n := len(recorded.plan(t, recorded.request(other, "", "empty"))); n != 1 {
		t.Errorf("a second store has %d files", n)
	}
}

// A run that was killed has written the first of its files, and no state: the next adds the others, under the numbers that
// they would have had, and nothing twice.
func TestARunThatWasKilledIsFinishedByTheNext(t *testing.T) {
	for _, format := range []string{"goose", "golang-migrate", "tern", "sql"} {
		whole := folder{}
		s := loans(t, ", leading_columns: [{name: tenant, type: uuid}]")
		r := whole.request(s, format, "5")
		files, state, err := Plan(r)
		if err != nil || len(files) < 4 {
			t.Fatalf("%d files: %v", len(files), err)
		}
		whole.write(t, files, state)
		for n := range len(files) + 1 {
			f := folder{}
			f.write(t, files[:n], nil)
			f.plan(t, f.request(s, format, "5"))
			if diff := cmp.Diff(whole, f); diff != "" {
				t.Errorf("%s after %d of %d files:\n%s", format, n, len(files), diff)
			}
		}
	}
}

func TestAMigrationOfTheHostsBetweenIsLeftWhereItIs(t *testing.T) {
	f := folder{}
	s := loans(t, "")
	files, _, err := Plan(f.request(s, "goose", "5"))
	if err != nil {
		t.Fatal(err)
	}
	f.write(t, files[:2], nil)
	f["00003_theirs.sql"] = nil
	if got := f.plan(t, f.request(s, "goose", "5")); !strings.HasPrefix(got[0], "00004_") {
		t.Errorf("goes on with %s", got[0])
	}
}

// Marks that say something else than the state: the run before had another config, or the state is gone or old.
func TestMarksThatTheStateDoesNotKnowAreNamed(t *testing.T) {
	tenant, other := loans(t, ", leading_columns: [{name: tenant, type: uuid}]"), loans(t, ", leading_columns: [{name: other, type: uuid}]")
	f := folder{}
	f.plan(t, f.request(loans(t, ""), "goose", "8.1"))
	old := f[StateName]
	f.plan(t, f.request(tenant, "", ""))
	f[StateName] = old
	for _, s := range []model.Store{other, loans(t, "")} {
		want := "00001_statigen_loans_change_1.sql has change 1 of store loans, and not the one that leads from what statigen.state records to the config"
		if got := f.refused(t, f.request(s, "", "")); !strings.HasPrefix(got, want) {
			t.Errorf("said %s", got)
		}
	}
	same(t, nil, f.plan(t, f.request(tenant, "", ""))) // and the state is mended
	f.plan(t, f.request(loans(t, ", leading_columns: [{name: tenant, type: uuid}, {name: b, type: text}]"), "", ""))
	f[StateName] = old // of two changes ago
	if got := f.refused(t, f.request(tenant, "", "")); !strings.HasPrefix(got, "00002_statigen_loans_change_2.sql has change 2 of store loans") {
		t.Errorf("said %s", got)
	}
	delete(f, StateName)
	if got := f.refused(t, f.request(tenant, "tern", "empty")); !strings.HasPrefix(got, "00001_statigen_loans_change_1.sql has change 1 ") {
		t.Errorf("said %s", got)
	}
}

func TestAPartThatIsGoneIsNamed(t *testing.T) {
	f, s := folder{}, loans(t, "")
	files, _, err := Plan(f.request(s, "goose", "5"))
	if err != nil {
		t.Fatal(err)
	}
	f.write(t, files[1:2], nil)
	want := "00002_statigen_loans_5_to_8_1 has part 2 of change 1 of store loans, and part 1 is gone (want it back)"
	if got := f.refused(t, f.request(s, "goose", "5")); got != want {
		t.Errorf("said %s", got)
	}
}

// Line ends may have been converted, and another store's marks are its own.
func TestMarksAreReadAsGitLeftThem(t *testing.T) {
	f, s := folder{}, loans(t, "")
	files, _, err := Plan(f.request(s, "goose", "empty"))
	if err != nil {
		t.Fatal(err)
	}
	f[files[0].Name] = []byte(strings.ReplaceAll(string(files[0].Text), "\n", "\r\n"))
	same(t, nil, f.plan(t, f.request(s, "goose", "empty")))
	other := parsed(t, "x.yaml", "version: 1\nstores: {loan: {out: c, prefix: c}}")[0]
	same(t, []string{"00002_statigen_loan_create.sql"}, f.plan(t, f.request(other, "", "empty")))
}

func TestARiskIsRefusedAndSaysWhatToConsider(t *testing.T) {
	f := folder{}
	f.plan(t, f.request(loans(t, ", prefix: loans, leading_columns: [{name: old, type: text}]"), "goose", "8.1"))
	r := f.request(loans(t, ", prefix: loans, tables: {charts: charts}, leading_columns: [{name: new, type: uuid}]"), "", "")
	want := `store loans: 5 of 10 changes of the tables want somebody to consider them, and nothing is written (want the config as it was, or --considered, which writes them for you to finish by hand)
"loans"."statifier_charts" has another name (want "loans"."charts")
  why not unasked: the store string is the lock's key: until every replica and every other writer has the new one, a retirement does not exclude them
  to consider:
    ALTER TABLE "loans"."statifier_charts" RENAME TO "charts";
"loans"."charts": column "old" is not the store's
  why not unasked: what the column holds is lost
  to consider:
    ALTER TABLE "loans"."charts" DROP COLUMN "old";
`
	got := f.refused(t, r)
	if !strings.HasPrefix(got, want) {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, got))
	}
	r.Considered = true
	f.plan(t, r)
	same(t, nil, f.plan(t, f.request(r.Store, "", "")))
}

// What is considered neither runs as it is, nor is it taken for done as it is.
func TestWhatIsConsideredIsGuardedUpAndDown(t *testing.T) {
	for _, format := range []string{"goose", "golang-migrate", "tern", "sql"} {
		f := folder{}
		f.plan(t, f.request(loans(t, ", leading_columns: [{name: '{{+goose', type: text}]"), format, "8.1"))
		r := f.request(loans(t, ""), "", "")
		r.Considered = true
		names := f.plan(t, r)
		text := ""
		for _, name := range names {
			text += string(f[name])
		}
		if n := strings.Count(text, "RAISE EXCEPTION"); n != 2 {
			t.Errorf("%s: %d guards in\n%s", format, n, text)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "COLUMN") && !strings.HasPrefix(line, "--") {
				t.Errorf("%s runs %s", format, line)
			}
		}
		if n := strings.Count(text, "-- ALTER TABLE"); n != 8 {
			t.Errorf("%s: %d statements to consider in\n%s", format, n, text)
		}
	}
}

// A store whose name is no word in ASCII still has a file name that every tool reads.
func TestAStoresNameIsMadeAWord(t *testing.T) {
	f := folder{}
	s := parsed(t, "x.yaml", "version: 1\nstores: {日本-x_y: {out: c}}")[0]
	same(t, []string{"00001_statigen___-x_y_create.sql"}, f.plan(t, f.request(s, "goose", "empty")))
	if got := slices.Sorted(maps.Keys(f)); got[1] != StateName {
		t.Errorf("the folder has %v", got)
	}
}
