package store_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// Creates wait while a retirement counts, so it must not read a table from end to end. It would by the generic plan
// that a prepared statement comes to after five runs, so every run is planned for the hash at hand.
func TestARetirementScansNoTable(t *testing.T) {
	h := newHost(t)
	h.plantMany(t, 50_000)
	conn := h.Conn(t)
	_, err := conn.Exec(t.Context(), "SET plan_cache_mode = force_custom_plan; PREPARE retire AS "+emittedSQL(t)["retireChart"])
	must(t, err)
	rows, err := conn.Query(t.Context(), fmt.Sprintf("EXPLAIN EXECUTE retire(%s)", retireArguments(t, "nobody")), pgx.QueryExecModeSimpleProtocol)
	must(t, err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	for _, line := range plan {
		if strings.Contains(line, "Seq Scan on ") {
			t.Errorf("%s\n%s", line, strings.Join(plan, "\n"))
		}
	}
	for _, index := range []string{"live_content_hash", "metadata_gin", "content_hash"} {
		if !strings.Contains(strings.Join(plan, "\n"), index+"_index") {
			t.Errorf("the plan does without the %s index:\n%s", index, strings.Join(plan, "\n"))
		}
	}
}

func TestARetirementIsNeverRunByAGenericPlan(t *testing.T) {
	h := newHost(t)
	pool := h.Pool(t, pgtest.MaxConns(1))
	const generic = "SELECT generic_plans FROM pg_prepared_statements WHERE statement LIKE '-- name: RetireChart %'"
	for range 10 {
		wantIs(t, second(store.New(pool).RetireChart(t.Context(), newHash(), by("ops"))), store.ErrChartNotFound)
	}
	var n int
	must(t, pool.QueryRow(t.Context(), generic).Scan(&n))
	if n != 0 {
		t.Errorf("%d of 10 retirements on a pool ran by a generic plan", n)
	}
	tx, err := pool.Begin(t.Context())
	must(t, err)
	for range 10 {
		wantIs(t, second(store.New(nil).WithTx(tx).RetireChart(t.Context(), newHash(), by("ops"))), store.ErrChartNotFound)
		wantSetting(t, tx, "plan_cache_mode", "auto")
	}
	must(t, tx.QueryRow(t.Context(), generic).Scan(&n))
	if n != 0 {
		t.Errorf("%d of 20 retirements ran by a generic plan", n)
	}
	must(t, tx.Rollback(t.Context()))
}

// retireArguments writes the statement's arguments in the order in which sqlc numbered them.
func retireArguments(t *testing.T, hash string) string {
	t.Helper()
	sql := emittedSQL(t)["retireChart"]
	arguments := make([]string, 3)
	for find, value := range map[string]string{
		`LIMIT \$(\d)`: "1001",
		`"content_hash" OPERATOR\(pg_catalog\.=\) \$(\d)`: "'" + hash + "'",
		`"retired_by" = \$(\d)`:                           "'ops'",
	} {
		m := regexp.MustCompile(find).FindStringSubmatch(sql)
		if m == nil {
			t.Fatalf("RetireChart has no %s", find)
		}
		arguments[m[1][0]-'1'] = value
	}
	return strings.Join(arguments, ", ")
}

// plantMany fills the tables: executions that have ended, but for some of another chart's, positions, and charts.
func (h *host) plantMany(t *testing.T, n int) {
	t.Helper()
	h.plantExecutions(t, "finished", store.Completed, n)
	h.plantExecutions(t, "busy", store.Active, n/100)
	h.plantPositions(t, "busy", n)
	columns, values := h.required(t, h.charts)
	h.Exec(t, `INSERT INTO `+h.charts+` (`+columns+` content_hash, identity_blob, chart_blob, inserted_at, updated_at)
		SELECT `+values+` 'chart ' || g, '', '', now(), now() FROM generate_series(1, $1::int) AS g`, n)
	h.Exec(t, "ANALYZE")
}
