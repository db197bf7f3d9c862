// Package adapter makes a generated store fit package suite. It is compiled here against the templates, and the
// matrix copies it beside each store, its import rewritten.
package adapter

import (
	"context"
	"encoding/json"
	"math/big"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/statigen/statigen/internal/matrix/suite"
	store "github.com/statigen/statigen/templates"
)

// Package returns the store's adapter.
func Package() suite.Package {
	return suite.Package{
		On:     func(tx pgx.Tx) suite.Store { return adapter{store.New(nil).WithTx(tx)} },
		Schema: store.Schema, StoreString: store.StoreString, LockKey: store.LockKey,
	}
}

type adapter struct{ store *store.Store }

func (a adapter) Save(ctx context.Context, hash string) error {
	return a.store.SaveChart(ctx, store.Chart{
		Leading: leading("saver"), ContentHash: hash, IdentityBlob: []byte{1}, ChartBlob: []byte{2},
	})
}

func (a adapter) Create(ctx context.Context, id, hash, tenant string) error {
	_, err := a.store.CreateExecution(ctx, store.NewExecution{
		Leading: leading(tenant), ExecutionID: id, ContentHash: hash, IdentityBlob: []byte{1},
	})
	return err
}

func (a adapter) Retire(ctx context.Context, hash string) error {
	_, err := a.store.RetireChart(ctx, hash, store.RetireOptions{By: "matrix"})
	return err
}

// leading fills what must be filled, and more; only pointers are left to their default.
func leading(tenant string) store.Leading {
	var l store.Leading
	v := reflect.ValueOf(&l).Elem()
	for i := range v.NumField() {
		fill(v.Field(i).Addr().Interface(), tenant)
	}
	return l
}

func fill(field any, tenant string) {
	switch f := field.(type) {
	case *string:
		*f = tenant
	case *int64:
		*f = int64(len(tenant))
	case *pgtype.UUID:
		*f = pgtype.UUID{Valid: true}
		copy(f.Bytes[:], tenant)
	case *pgtype.Numeric:
		*f = pgtype.Numeric{Int: big.NewInt(1), Valid: true}
	case *pgtype.Date:
		*f = pgtype.Date{Time: time.Now(), Valid: true}
	case *json.RawMessage:
		*f = json.RawMessage("{}")
	case *[]byte:
		*f = []byte(tenant)
	default:
		if valid := reflect.ValueOf(field).Elem(); valid.Kind() == reflect.Struct && valid.FieldByName("Elements").IsValid() {
			valid.FieldByName("Valid").SetBool(true)
		}
	}
}
