package ddl_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/ddl"
	"github.com/statigen/statigen/internal/host"
	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/pgtest"
)

// both are the statements of all changes, and the way back.
func both(changes []ddl.Difference) (up, down []ddl.Statement) {
	for _, c := range changes {
		up, down = append(up, c.Up...), append(slices.Clone(c.Down), down...)
	}
	return up, down
}

func takeAll(t *testing.T, conn *pgx.Conn, statements []ddl.Statement) {
	t.Helper()
	take(t, conn, []ddl.Step{{Statements: statements}})
}

// From each version the changes lead to the latest, and back.
func TestChangesFromEachVersion(t *testing.T) {
	for _, s := range host.Stores(t)[:everyVersion] {
		t.Run(s.Name, func(t *testing.T) {
			for v := range ddl.Latest() {
				conn := pgtest.New(t, "").Conn(t)
				take(t, conn, ddl.Steps(s, 0, v))
				up, down := both(ddl.Changes(s, ddl.At(s, v)))
				takeAll(t, conn, up)
				demand(t, "up from "+v.String(), conn, s, ddl.Latest())
				takeAll(t, conn, down)
				demand(t, "and back", conn, s, v)
			}
		})
	}
}

// A state may have been recorded for another config, at an older version: first the config, then the version.
func TestChangesOfTheConfigComeBeforeTheVersions(t *testing.T) {
	s := host.Stores(t)[0]
	before := ddl.At(s, 7)
	s.Leading = []model.Column{{Name: "tenant", Type: host.Stores(t)[2].Leading[0].Type}}
	conn := pgtest.New(t, "").Conn(t)
	take(t, conn, ddl.Steps(host.Stores(t)[0], 0, 7))
	changes := ddl.Changes(s, before)
	up, down := both(changes)
	takeAll(t, conn, up)
	if diff := cmp.Diff([]ddl.Difference(nil), ddl.Compare(read(t, conn, s), ddl.At(s, ddl.Latest()))); diff != "" {
		t.Errorf("what is left to do:\n%s", diff)
	}
	takeAll(t, conn, down)
	demand(t, "and back", conn, host.Stores(t)[0], 7)
	if first := changes[0].String(); !strings.Contains(first, "tenant") {
		t.Errorf("the first change is %s", first)
	}
}

// On the way back over version 7, a tombstone is in the way before anything of the charts is gone; so it is where the tables
// are made at once.
func TestTheWayBackOfChangesStopsAtTombstones(t *testing.T) {
	s := host.Stores(t)[0]
	for _, v := range []ddl.Version{0, 5, 6} {
		conn := fresh(t, s)
		run(t, conn, []string{"INSERT INTO " + s.Relation(s.Charts) + ` (id, content_hash, retired_at, retired_by, inserted_at, updated_at)
			VALUES ('chart_1', 'sha256:1', now(), 'ops', now(), now())`})
		_, down := both(ddl.Changes(s, ddl.At(s, v)))
		units := ddl.Units(down)
		at := slices.IndexFunc(units, func(u ddl.Statement) bool { return strings.Contains(u.SQL, "are retired") })
		for _, unit := range units[:at] {
			run(t, conn, []string{unit.SQL})
		}
		if _, err := conn.Exec(t.Context(), units[at].SQL); err == nil || !strings.Contains(err.Error(), "the tables stay at version 7") {
			t.Errorf("back to %s: %v", v, err)
		}
		want := ddl.At(s, 7).Tables[0]
		if got := read(t, conn, s).Tables[0]; !cmp.Equal(want, got) {
			t.Errorf("back to %s, the charts:\n%s", v, cmp.Diff(want, got))
		}
	}
}

// A table that moves needs the schema that it moves to.
func TestAMoveMakesTheSchema(t *testing.T) {
	s := host.Stores(t)[2]
	before := ddl.At(s, ddl.Latest())
	conn := fresh(t, s)
	s.Schema = `a new "one`
	up, down := both(ddl.Changes(s, before))
	takeAll(t, conn, up)
	demand(t, "moved", conn, s, ddl.Latest())
	takeAll(t, conn, down)
	demand(t, "and back", conn, host.Stores(t)[2], ddl.Latest())
}
