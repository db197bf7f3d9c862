package example

import (
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/statigen/statigen/gen/example/loanstore"
	"github.com/statigen/statigen/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

const chart = "sha256:loan-v1"

func tenant(n byte) pgtype.UUID { return pgtype.UUID{Bytes: [16]byte{n}, Valid: true} }

func newLender(t *testing.T) *Lender {
	t.Helper()
	db := pgtest.New(t, loanstore.Schema+"CREATE TABLE applications (number text PRIMARY KEY, cents bigint NOT NULL);")
	l, err := NewLender(t.Context(), db.Pool(t))
	if err != nil {
		t.Fatal(err)
	}
	region := "eu"
	err = l.store.SaveChart(t.Context(), loanstore.Chart{
		Leading:     loanstore.Leading{TenantID: tenant(1), Region: &region},
		ContentHash: chart, IdentityBlob: []byte(chart), ChartBlob: []byte("<scxml/>"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *Lender) applications(t *testing.T) int {
	t.Helper()
	var n int
	if err := l.pool.QueryRow(t.Context(), "SELECT count(*) FROM applications").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestALenderBeginsOnlyWhereItsTablesAre(t *testing.T) {
	l, err := NewLender(t.Context(), pgtest.New(t, "").Pool(t))
	var lacks *loanstore.SchemaError
	if l != nil || !errors.As(err, &lacks) || lacks.Table != loanstore.StoreString {
		t.Errorf("a lender on an empty database: %v, %v, want the missing tables", l, err)
	}
}

func TestALoansLife(t *testing.T) {
	l := newLender(t)
	e, err := l.Apply(t.Context(), Application{Tenant: tenant(1), Number: "1", Chart: chart, Cents: 100_00})
	if err != nil {
		t.Fatal(err)
	}
	if e.TenantID != tenant(1) || e.Region != nil || string(e.Metadata) != `{"cents": 10000}` {
		t.Errorf("applied: %+v", e)
	}
	needed, err := l.RetireUnused(t.Context(), chart, "ops")
	if err != nil || needed == nil || needed.Active != 1 {
		t.Errorf("retiring a chart in use answered %+v, %v", needed, err)
	}
	if ended, err := l.Withdraw(t.Context(), "1"); err != nil || !ended {
		t.Errorf("withdrawn: %v, %v", ended, err)
	}
	if ended, err := l.Withdraw(t.Context(), "1"); err != nil || ended {
		t.Errorf("withdrawn twice: %v, %v", ended, err)
	}
	if needed, err := l.RetireUnused(t.Context(), chart, "ops"); err != nil || needed != nil {
		t.Errorf("retiring an unused chart answered %+v, %v", needed, err)
	}
}

func TestAnApplicationOnARetiredChartLeavesNothingBehind(t *testing.T) {
	l := newLender(t)
	if needed, err := l.RetireUnused(t.Context(), chart, "ops"); err != nil || needed != nil {
		t.Fatalf("retire: %+v, %v", needed, err)
	}
	_, err := l.Apply(t.Context(), Application{Tenant: tenant(1), Number: "1", Chart: chart})
	var retired *loanstore.ChartRetiredError
	if !errors.As(err, &retired) || retired.RetiredBy != "ops" {
		t.Errorf("applied: %v, want retired by ops", err)
	}
	if n := l.applications(t); n != 0 {
		t.Errorf("%d applications without an execution", n)
	}
}

// The chart is one for all tenants: while one of them applies, another's retirement waits and then finds it in use.
func TestTenantsRaceForOneChart(t *testing.T) {
	l := newLender(t)
	var group sync.WaitGroup
	for n := range byte(8) {
		group.Go(func() {
			_, err := l.Apply(t.Context(), Application{Tenant: tenant(n), Number: string('a' + rune(n)), Chart: chart})
			var retired *loanstore.ChartRetiredError
			if err != nil && !errors.As(err, &retired) {
				t.Errorf("apply: %v", err)
			}
		})
	}
	group.Go(func() {
		if _, err := l.RetireUnused(t.Context(), chart, "ops"); err != nil {
			t.Errorf("retire: %v", err)
		}
	})
	group.Wait()
	counts, err := l.store.CountExecutions(t.Context(), chart)
	if err != nil {
		t.Fatal(err)
	}
	_, retired, err := l.store.Retirement(t.Context(), chart)
	if err != nil {
		t.Fatal(err)
	}
	if retired && counts.Active > 0 {
		t.Errorf("%d applications are stranded on a retired chart", counts.Active)
	}
	if n := l.applications(t); int64(n) != counts.Active {
		t.Errorf("%d applications and %d executions", n, counts.Active)
	}
}
