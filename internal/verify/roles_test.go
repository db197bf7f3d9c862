package verify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statigen/statigen/internal/pgtest"
	"github.com/statigen/statigen/internal/verify"
)

// What a role lacks is found by whoever looks, and by the role itself.
func TestMissingGrantsAreFoundAndMended(t *testing.T) {
	for _, name := range []string{"loans", "serials", "plain"} {
		h := host(t, name)
		db := pgtest.New(t, schema(t, h.Store))
		role, conn := db.Role(t), db.Conn(t)
		home := h.Store.Schema
		if home == "" {
			home = "public"
			exec(t, conn, "REVOKE ALL ON SCHEMA public FROM PUBLIC")
		}
		lacks := func(object, privileges string) string {
			return fmt.Sprintf("privilege: %s: the role %q lacks %s", object, role, privileges)
		}
		expected := []string{fmt.Sprintf("privilege: %q: the role %q may not use the schema (want USAGE)", home, role)}
		for _, needed := range [][2]string{
			{"charts", "SELECT, INSERT, UPDATE"},
			{"positions", "SELECT, INSERT, UPDATE, DELETE"},
			{"executions", "SELECT, INSERT, UPDATE"},
			{"inputs", "SELECT, INSERT"},
		} {
			expected = append(expected, lacks(fmt.Sprintf("%q.%q", home, "statifier_"+needed[0]), needed[1]))
			if name == "serials" {
				expected = append(expected, lacks("serials.statifier_"+needed[0]+"_id_seq", "USAGE"))
			}
		}
		found := verified(t, conn, role, h)
		want(t, name, found, expected...)
		if name != "plain" { // whose search_path passes over a schema that may not be used
			want(t, name+", as the role", verified(t, db.Conn(t, pgtest.As(role)), "", h), expected...)
		}
		want(t, name+", as its owner", verified(t, conn, "", h))
		mend(t, conn, found)
		want(t, name+", mended", verified(t, conn, role, h))
		want(t, name+", mended, as the role", verified(t, db.Conn(t, pgtest.As(role)), "", h))
	}
}

// Who may not use the schema can look at a role all the same.
func TestARoleWithoutPrivilegesVerifiesAnother(t *testing.T) {
	h := host(t, "loans")
	db := pgtest.New(t, schema(t, h.Store))
	role, watcher := db.Role(t), db.Role(t)
	mend(t, db.Conn(t), verified(t, db.Conn(t), role, h))
	found := verified(t, db.Conn(t, pgtest.As(watcher)), role, h)
	want(t, "as another", found, `privilege: "loans": the role of this connection may not use the schema: no statement was tried (want USAGE, or another role in --database-url)`)
}

func TestAnUnknownRoleIsAMistake(t *testing.T) {
	h := host(t, "loans")
	_, err := verify.Run(t.Context(), pgtest.New(t, schema(t, h.Store)).Conn(t), verify.Job{Subjects: []verify.Subject{h}, Role: "no such"})
	if err == nil || err.Error() != `the server has no role "no such" (want one of its roles)` {
		t.Errorf("the error is %v", err)
	}
}

// The list of privileges is what the statements need: the server says so, for each privilege on each table, when it is
// asked for their plans by a role that has all others.
func TestThePrivilegesAreThoseThatTheStatementsNeed(t *testing.T) {
	h := host(t, "loans")
	db := pgtest.New(t, schema(t, h.Store))
	owner := db.Conn(t)
	role := db.Role(t, "GRANT USAGE ON SCHEMA loans TO %s")
	conn := db.Conn(t, pgtest.As(role))
	var listed, needed []string
	for _, f := range verified(t, owner, role, h) {
		_, privileges, _ := strings.Cut(f.Text, " lacks ")
		for privilege := range strings.SplitSeq(privileges, ", ") {
			listed = append(listed, f.Object+" "+privilege)
		}
	}
	for i, sql := range h.Statements {
		exec(t, conn, fmt.Sprintf("PREPARE s%d AS %s", i, sql))
	}
	refused := func() bool {
		for i, sql := range h.Statements {
			parameters := 0
			for strings.Contains(sql, fmt.Sprintf("$%d", parameters+1)) {
				parameters++
			}
			explain := fmt.Sprintf("EXPLAIN EXECUTE s%d", i)
			if parameters > 0 {
				explain += "(NULL" + strings.Repeat(", NULL", parameters-1) + ")"
			}
			if _, err := conn.Exec(t.Context(), explain); err != nil {
				return true
			}
		}
		return false
	}
	for _, table := range h.Store.Tables() {
		for _, privilege := range []string{"SELECT", "INSERT", "UPDATE", "DELETE"} {
			exec(t, owner, "GRANT ALL ON ALL TABLES IN SCHEMA loans TO "+role)
			if refused() {
				t.Fatal("a role with every privilege is refused")
			}
			exec(t, owner, "REVOKE "+privilege+" ON "+h.Store.Relation(table)+" FROM "+role)
			if refused() {
				needed = append(needed, h.Store.Relation(table)+" "+privilege)
			}
		}
	}
	if diff := cmp.Diff(needed, listed); diff != "" {
		t.Errorf("privileges (-needed +listed):\n%s", diff)
	}
}

func TestRowSecurityIsFoundAndMended(t *testing.T) {
	h := host(t, "loans")
	for _, table := range h.Store.Tables() {
		relation := h.Store.Relation(table)
		db := pgtest.New(t, schema(t, h.Store))
		conn := db.Conn(t)
		role, free := db.Role(t), db.Role(t, "ALTER ROLE %s BYPASSRLS")
		exec(t, conn, "ALTER TABLE "+relation+" ENABLE ROW LEVEL SECURITY")
		for _, r := range []string{role, free} {
			grants := slices.DeleteFunc(verified(t, conn, r, h), func(f verify.Finding) bool { return f.Kind != verify.Privilege })
			mend(t, conn, grants)
		}
		want(t, "as the owner", verified(t, conn, "", h))
		want(t, "for a role that it does not bind", verified(t, conn, free, h))
		text := fmt.Sprintf("row_security: %s: hides rows from the role %q by row-level security, and the verbs refuse to work (want it off, or a role with BYPASSRLS)", relation, role)
		want(t, "as the role", verified(t, db.Conn(t, pgtest.As(role)), "", h), text)
		found := verified(t, conn, role, h)
		want(t, "for the role", found, text)
		exec(t, conn, "ALTER TABLE "+relation+" OWNER TO "+role)
		want(t, "the role owns it", verified(t, conn, role, h))
		exec(t, conn, "ALTER TABLE "+relation+" FORCE ROW LEVEL SECURITY")
		want(t, "and is bound all the same", verified(t, conn, role, h), text)
		mend(t, conn, found)
		want(t, "mended", verified(t, conn, role, h))
	}
}
