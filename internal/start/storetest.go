package start

import (
	"bytes"
	"fmt"
	"path"
	"text/template"

	"github.com/statigen/statigen/internal/model"
)

// storeTest is the test that a host begins with. It lies beside the line that generates the store, not in the store's folder,
// which is the generator's. The store's package may have any name, of a variable's too, so it is called store.
func storeTest(clause string, mod model.Module, out string) ([]byte, error) {
	var text bytes.Buffer
	err := storeTestText.Execute(&text, struct{ Package, Import string }{clause, path.Join(mod.Path, mod.Dir, out)})
	if err != nil {
		return nil, fmt.Errorf("write the store's test: %w", err)
	}
	return text.Bytes(), nil
}

var storeTestText = template.Must(template.New("store_test.go").Parse(`package {{.Package}}_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	store "{{.Import}}"
)

// An execution pins its chart. The test runs in a transaction that is rolled back, tables and all, in the database that
// DATABASE_URL names or, if it is not set, PGHOST and the like.
func TestAnExecutionPinsItsChart(t *testing.T) {
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := tx.Exec(ctx, store.Schema); err != nil {
		t.Fatal(err)
	}

	bound := store.New(nil).WithTx(tx)
	chart := store.Chart{ContentHash: "sha256:1", IdentityBlob: []byte("identity"), ChartBlob: []byte("<scxml/>")}
	if err := bound.SaveChart(ctx, chart); err != nil {
		t.Fatal(err)
	}
	execution := store.NewExecution{ExecutionID: "execution_1", ContentHash: chart.ContentHash, IdentityBlob: chart.IdentityBlob}
	if _, err := bound.CreateExecution(ctx, execution); err != nil {
		t.Fatal(err)
	}

	// The transaction has the chart's shared lock, from the create; only a test upgrades it.
	_, err = bound.RetireChart(ctx, chart.ContentHash, store.RetireOptions{By: "test", AllowUpgrade: true})
	var pinned *store.PinnedError
	if !errors.As(err, &pinned) {
		t.Errorf("the retirement answered %v, want *PinnedError", err)
	}
}
`))
