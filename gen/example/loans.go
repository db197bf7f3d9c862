// Package example is a host of statigen's: a lender that keeps each loan application as a durable execution, in the
// store that statigen generated into loanstore. Its tests are those that such a host would write.
package example

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/gen/example/loanstore"
)

//go:generate go run github.com/statigen/statigen/cmd/statigen

// Lender takes loan applications and retires the charts that none of them needs.
type Lender struct {
	pool  *pgxpool.Pool
	store *loanstore.Store
}

// NewLender returns a lender on a pool, unless the store cannot be kept there: on a standby, before the migrations have
// run, with a role that sees too little.
func NewLender(ctx context.Context, pool *pgxpool.Pool) (*Lender, error) {
	store := loanstore.New(pool)
	if err := store.Verify(ctx); err != nil {
		return nil, err
	}
	return &Lender{pool: pool, store: store}, nil
}

// Application is what a customer asks for.
type Application struct {
	Tenant pgtype.UUID
	Number string
	Chart  string // content hash of the chart that it is to follow
	Cents  int64
}

// Apply writes the application's own row and its execution in one transaction: there is never one without the
// other, and never an execution on a chart that is retired.
func (l *Lender) Apply(ctx context.Context, a Application) (loanstore.Execution, error) {
	var e loanstore.Execution
	err := pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) (err error) {
		if _, err = tx.Exec(ctx, "INSERT INTO applications (number, cents) VALUES ($1, $2)", a.Number, a.Cents); err != nil {
			return err
		}
		e, err = l.store.WithTx(tx).CreateExecution(ctx, loanstore.NewExecution{
			Leading:      loanstore.Leading{TenantID: a.Tenant},
			ExecutionID:  "loan_" + a.Number,
			ContentHash:  a.Chart,
			IdentityBlob: []byte(a.Chart),
			Metadata:     fmt.Appendf(nil, `{"cents": %d}`, a.Cents),
		})
		return err
	})
	return e, err
}

// Withdraw ends the application at the customer's wish. It says whether there was something left to end.
func (l *Lender) Withdraw(ctx context.Context, number string) (bool, error) {
	t, err := l.store.CancelExecution(ctx, "loan_"+number)
	return !t.Discarded, err
}

// RetireUnused retires a chart if nothing needs it any more, and otherwise says what still does.
func (l *Lender) RetireUnused(ctx context.Context, chart, who string) (stillNeeded *loanstore.PinCounts, err error) {
	_, err = l.store.RetireChart(ctx, chart, loanstore.RetireOptions{By: who})
	var pinned *loanstore.PinnedError
	if errors.As(err, &pinned) {
		return &pinned.Counts, nil
	}
	return nil, err
}
