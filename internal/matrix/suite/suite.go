// Package suite holds the tests that need several generated stores at once. The matrix generates the stores in a
// module of their own, with an adapter for each, and runs Run there.
package suite

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/pgtest"
)

// Store is a generated store in a transaction, without the types that differ from package to package.
type Store interface {
	Save(ctx context.Context, hash string) error
	// Create fills the leading columns with values made from tenant.
	Create(ctx context.Context, id, hash, tenant string) error
	Retire(ctx context.Context, hash string) error
}

// Package is one generated package.
type Package struct {
	On                           func(pgx.Tx) Store
	Schema, StoreString, LockKey string
}

func (p Package) keys(hash string) []int32 {
	return keyspec.ChartKeys(keyspec.LockKey(p.LockKey), p.StoreString, hash)
}

// Run runs every test on the packages, by store name.
func Run(t *testing.T, packages map[string]Package) {
	t.Run("A01AKeyThatLeavesOutTheTable", func(t *testing.T) { aKeyOfItsOwn(t, packages) })
	t.Run("WhichStoresWait", func(t *testing.T) { whichStoresWait(t, packages) })
	t.Run("TenantsShareAChart", func(t *testing.T) { tenantsShareAChart(t, packages["loans"]) })
	t.Run("TwoSearchPathsShareALockAndNoRows", func(t *testing.T) { twoSearchPaths(t, packages["plain"], packages["again"]) })
}

// newDB makes a database that holds the tables of every store.
func newDB(t *testing.T, packages map[string]Package) *pgtest.DB {
	var all strings.Builder
	made := map[string]bool{}
	for _, p := range packages {
		if !made[p.StoreString] {
			made[p.StoreString] = true
			all.WriteString(p.Schema)
		}
	}
	return pgtest.New(t, all.String())
}

// session is a connection that begins a transaction for each step of a test.
type session struct{ conn *pgx.Conn }

func (s session) begin(t *testing.T, p Package) (Store, pgx.Tx) {
	t.Helper()
	tx, err := s.conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p.On(tx), tx
}

func (s session) pid() uint32 { return s.conn.PgConn().PID() }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
