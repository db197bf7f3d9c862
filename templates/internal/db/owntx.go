package db

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// OwnTx is a READ COMMITTED transaction of the store's own. It begins in the round trip of the first batch that is sent in
// it.
type OwnTx struct {
	on   Conn          // the pool
	conn *pgxpool.Conn // nil before the first batch
	tx   pgx.Tx
}

// NewOwnTx begins nothing yet.
func NewOwnTx(pool Conn) *OwnTx { return &OwnTx{on: pool} }

// Conn is where the transaction's statements go.
func (o *OwnTx) Conn() Conn { return Conn{own: o} }

func (o *OwnTx) send(ctx context.Context, b *pgx.Batch) (*exchange, error) {
	if o.tx != nil {
		return &exchange{results: o.tx.SendBatch(ctx, b)}, nil
	}
	conn, err := o.on.connection(ctx)
	if err != nil {
		return nil, err
	}
	first := &pgx.Batch{}
	first.BeginTx(pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	first.QueuedQueries = append(first.QueuedQueries, b.QueuedQueries...)
	o.conn = conn
	x := &exchange{results: conn.SendBatch(ctx, first)}
	o.tx = x.results.Tx()
	if _, err := x.results.Exec(); err != nil {
		_ = x.close() // the same error
		return nil, err
	}
	return x, nil
}

// Commit ends the transaction. If no batch was sent there is none.
func (o *OwnTx) Commit(ctx context.Context) error {
	if o.tx == nil {
		return nil
	}
	return o.tx.Commit(ctx)
}

// End gives the connection back, and undoes what was not committed. A rollback that fails leaves a broken connection,
// which the pool drops.
func (o *OwnTx) End(ctx context.Context) {
	if o.conn == nil {
		return
	}
	if o.tx != nil {
		_ = o.tx.Rollback(ctx) // after a commit this does nothing
	}
	o.conn.Release()
}
