package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// role makes a role that may use the tables as the grants say: "SELECT ON charts".
func (h *host) role(t *testing.T, grants ...string) string {
	t.Helper()
	role := h.Role(t)
	names := strings.NewReplacer("charts", h.charts, "positions", h.positions, "executions", h.executions, "inputs", h.inputs)
	h.Exec(t, "GRANT USAGE ON SCHEMA "+query[string](t, h, `SELECT quote_ident(nspname) FROM pg_namespace AS n
		JOIN pg_class AS c ON c.relnamespace = n.oid WHERE c.oid = $1::regclass`, h.charts)+" TO "+role)
	for _, grant := range grants {
		h.Exec(t, "GRANT "+names.Replace(grant)+" TO "+role)
	}
	for _, table := range []string{h.charts, h.positions, h.executions, h.inputs} {
		// A bigserial's default needs its sequence.
		if sequence := query[*string](t, h, `SELECT pg_get_serial_sequence($1, 'id')`, table); sequence != nil {
			h.Exec(t, "GRANT USAGE ON SEQUENCE "+*sequence+" TO "+role)
		}
	}
	return role
}

func TestRowSecurityThatCouldHideSomethingIsRefused(t *testing.T) {
	const everything = "SELECT, INSERT, UPDATE ON charts, positions, executions"
	for _, filtered := range []string{"charts", "positions", "executions"} {
		t.Run(filtered, func(t *testing.T) {
			h := newHost(t)
			free := h.store(t)
			table := map[string]string{"charts": h.charts, "positions": h.positions, "executions": h.executions}[filtered]
			hash := mustPinned(t, free)
			h.plantPositions(t, hash, 1)
			unpinned := mustSave(t, free)
			bound := h.store(t, pgtest.As(h.role(t, everything)))
			mustCreate(t, bound, hash) // not yet filtered
			h.Exec(t, fmt.Sprintf(`ALTER TABLE %s ENABLE ROW LEVEL SECURITY; CREATE POLICY few ON %[1]s USING (content_hash = 'mine') WITH CHECK (true)`, table))

			check := func(where string, s *store.Store) {
				if where != "host, repeatable read" && where != "host, serializable" { // refused for their level
					wantFiltered(t, where+": retire", second(s.RetireChart(t.Context(), hash, by("ops"))), hash, table)
					wantFiltered(t, where+": retire", second(s.RetireChart(t.Context(), unpinned, by("ops"))), unpinned, table)
				}
				if filtered == "charts" {
					wantFiltered(t, where+": create", second(s.CreateExecution(t.Context(), newExecution(hash))), hash, table)
					wantFiltered(t, where+": save", s.SaveChart(t.Context(), newChart(unpinned)), unpinned, table)
					wantFiltered(t, where+": save a position", s.SavePosition(t.Context(), newPosition(unpinned)), unpinned, table)
					wantFiltered(t, where+": create by a function", second(createBy(t.Context(), s, newExecution(hash))), hash, table)
					wantFiltered(t, where+": read", second2(s.Retirement(t.Context(), hash)), hash, table)
				}
			}
			for _, level := range levels {
				role := h.role(t, everything)
				check("pool, "+level, h.store(t, pgtest.As(role), pgtest.Isolation(level)))
				s, tx := h.begin(t, level, pgtest.As(role))
				check("host, "+level, s)
				usable(t, tx)
				must(t, tx.Rollback(t.Context())) // its locks would be in the way
			}
			if filtered != "charts" {
				mustCreate(t, bound, "mine") // a create reads the tombstone alone
			}

			// The owner of the tables, whom the policy does not bind, goes on.
			counts, err := free.CountExecutions(t.Context(), hash)
			must(t, err)
			if counts.Active != 2 {
				t.Errorf("%d executions, want the 2 from before", counts.Active)
			}
			mustCreate(t, free, hash)
			mustRetire(t, free, unpinned)
		})
	}
}

func wantFiltered(t *testing.T, what string, err error, hash, table string) {
	t.Helper()
	var refused *store.RowSecurityError
	if !errors.As(err, &refused) {
		t.Errorf("%s: %v, want a *RowSecurityError", what, err)
		return
	}
	if diff := cmp.Diff(store.RowSecurityError{ContentHash: hash, Tables: table}, *refused); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestARoleThatMayInsertAndSelectCreatesAndIsRefusedProperly(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	live, gone := mustSave(t, free), mustSave(t, free)
	tombstone := mustRetire(t, free, gone)
	s := h.store(t, pgtest.As(h.role(t, "SELECT ON charts", "SELECT, INSERT ON executions")))
	created := mustCreate(t, s, live)
	refused := wantAs[*store.ChartRetiredError](t, second(s.CreateExecution(t.Context(), newExecution(gone))))
	if *refused != store.ChartRetiredError(tombstone) {
		t.Errorf("refused with %+v, want %+v", *refused, tombstone)
	}
	again := newExecution(live)
	again.ExecutionID = created.ExecutionID
	exists := wantAs[*store.ExecutionExistsError](t, second(s.CreateExecution(t.Context(), again)))
	if exists.RowID != created.RowID {
		t.Errorf("exists as row %v, want %v", exists.RowID, created.RowID)
	}
}

// A role from which row-level security hides an execution is not left to guess why its create is refused.
func TestAHiddenExecutionOfTheSameIDIsARowSecurityError(t *testing.T) {
	h := newHost(t)
	hidden := mustCreate(t, h.store(t), newHash())
	s := h.store(t, pgtest.As(h.role(t, "SELECT ON charts", "SELECT, INSERT ON executions")))
	h.Exec(t, fmt.Sprintf(`ALTER TABLE %s ENABLE ROW LEVEL SECURITY; CREATE POLICY few ON %[1]s USING (content_hash = 'mine') WITH CHECK (true)`, h.executions))
	e := newExecution("mine")
	e.ExecutionID = hidden.ExecutionID
	wantFiltered(t, "create", second(s.CreateExecution(t.Context(), e)), "mine", h.executions)
}

// A tombstone that a role can see is final, whatever else is hidden from it.
func TestATombstoneThatCanBeSeenCountsBehindRowSecurity(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	chart := newChart("mine")
	must(t, free.SaveChart(t.Context(), chart))
	tombstone := mustRetire(t, free, "mine")
	s := h.store(t, pgtest.As(h.role(t, "SELECT, INSERT, UPDATE ON charts, positions, executions")))
	h.Exec(t, fmt.Sprintf(`ALTER TABLE %s ENABLE ROW LEVEL SECURITY; CREATE POLICY few ON %[1]s USING (content_hash = 'mine') WITH CHECK (true)`, h.charts))
	for what, err := range map[string]error{
		"create": second(s.CreateExecution(t.Context(), newExecution("mine"))),
		"save":   s.SaveChart(t.Context(), chart),
		"retire": second(s.RetireChart(t.Context(), "mine", by("me"))),
	} {
		var retired *store.ChartRetiredError
		if !errors.As(err, &retired) || *retired != store.ChartRetiredError(tombstone) {
			t.Errorf("%s: %v, want the tombstone %+v", what, err, tombstone)
		}
	}
}

func TestASaveBehindRowSecurityWritesNothing(t *testing.T) {
	h := newHost(t)
	s := h.store(t, pgtest.As(h.role(t, "SELECT, INSERT ON charts")))
	h.Exec(t, fmt.Sprintf(`ALTER TABLE %s ENABLE ROW LEVEL SECURITY; CREATE POLICY all_rows ON %[1]s USING (true)`, h.charts))
	hash := newHash()
	wantFiltered(t, "save", s.SaveChart(t.Context(), newChart(hash)), hash, h.charts)
	if n := query[int](t, h, "SELECT count(*) FROM "+h.charts); n != 0 {
		t.Errorf("%d charts, but nothing was to be written: one was written", n)
	}
}
