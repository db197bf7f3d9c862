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
	names := strings.NewReplacer("charts", h.charts, "positions", h.positions, "executions", h.executions)
	h.Exec(t, "GRANT USAGE ON SCHEMA "+query[string](t, h, `SELECT quote_ident(nspname) FROM pg_namespace AS n
		JOIN pg_class AS c ON c.relnamespace = n.oid WHERE c.oid = $1::regclass`, h.charts)+" TO "+role)
	for _, grant := range grants {
		h.Exec(t, "GRANT "+names.Replace(grant)+" TO "+role)
	}
	for _, table := range []string{h.charts, h.executions} {
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
			h.plantPosition(t, hash)
			unpinned := mustSave(t, free)
			bound := h.store(t, pgtest.As(h.role(t, everything)))
			mustCreate(t, bound, hash) // not yet filtered
			h.Exec(t, fmt.Sprintf(`ALTER TABLE %s ENABLE ROW LEVEL SECURITY; CREATE POLICY few ON %[1]s USING (content_hash = 'mine') WITH CHECK (true)`, table))

			_, hostTx := h.begin(t, "", pgtest.As(h.role(t, everything)))
			for _, where := range []string{"pool", "host"} { // in this order: the host's transaction keeps its locks
				s := bound
				if where == "host" {
					s = store.New(nil).WithTx(hostTx)
				}
				wantFiltered(t, where+": retire", second(s.RetireChart(t.Context(), hash, by("ops"))), hash, table)
				wantFiltered(t, where+": retire", second(s.RetireChart(t.Context(), unpinned, by("ops"))), unpinned, table)
				if filtered != "charts" {
					continue
				}
				wantFiltered(t, where+": create", second(s.CreateExecution(t.Context(), newExecution(hash))), hash, table)
				wantFiltered(t, where+": save", s.SaveChart(t.Context(), newChart(unpinned)), unpinned, table)
				wantFiltered(t, where+": read", second2(s.Retirement(t.Context(), hash)), hash, table)
				usable(t, hostTx)
			}
			if filtered != "charts" {
				mustCreate(t, bound, "mine") // a create reads the tombstone alone
			}

			must(t, hostTx.Rollback(t.Context())) // its locks would be in the way

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
