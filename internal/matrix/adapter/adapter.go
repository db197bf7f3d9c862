// Package adapter makes a generated store fit package suite. It is compiled here against the templates, and the
// matrix copies it beside each store, its import rewritten.
package adapter

import (
	"context"
	"reflect"

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

// leading fills what must be filled; the rest takes its default.
func leading(tenant string) store.Leading {
	var l store.Leading
	v := reflect.ValueOf(&l).Elem()
	for i := range v.NumField() {
		switch field := v.Field(i); field.Interface().(type) {
		case string:
			field.SetString(tenant)
		case int64:
			field.SetInt(int64(len(tenant)))
		case pgtype.UUID:
			id := pgtype.UUID{Valid: true}
			copy(id.Bytes[:], tenant)
			field.Set(reflect.ValueOf(id))
		}
	}
	return l
}
