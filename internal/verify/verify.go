// Package verify holds a database against the stores of a config and says what differs, and which SQL mends it. The
// generated store's own Verify asks whether the store would work there; this asks whether the tables are those that
// schema.sql makes, whatever their history, and what a role lacks.
//
// Everything is read in transactions that are read-only and rolled back, one for each set of tables. Nobody needs a
// privilege for it but to connect: the catalogs are open to all.
package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/statigen/statigen/internal/model"
)

// Job is what is to be verified.
type Job struct {
	Subjects []Subject
	Config   []model.Store // all stores of the config, those that are not to be verified among them
	Role     string        // whose privileges are looked at; "" is the connection's
}

// Subject is a store, and its statements as sqlc emits them.
type Subject struct {
	Store      model.Store
	Statements []string
}

// Run verifies a database. The error is what kept the server from being asked.
func Run(ctx context.Context, conn *pgx.Conn, job Job) ([]Finding, error) {
	v := &verifier{conn: conn, job: job}
	if err := v.session(ctx); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, subject := range job.Subjects {
		if tables := fmt.Sprint(subject.Store.Schema, subject.Store.Tables()); !seen[tables] {
			seen[tables] = true // two stores on one set of tables are alike
			if err := v.store(ctx, subject); err != nil {
				return nil, fmt.Errorf("store %s: %w", subject.Store.Name, err)
			}
		}
	}
	return v.found, nil
}

// verifier gathers what is found.
type verifier struct {
	conn  *pgx.Conn
	job   Job
	role  role
	found []Finding
}

// inTx runs look in a transaction of which nothing is kept. What a role is set to, for the statements of an application,
// must not end it: a statement_timeout; but nobody waits for long for a table that somebody has locked.
func (v *verifier) inTx(ctx context.Context, mode pgx.TxAccessMode, look func(pgx.Tx) error) (err error) {
	tx, err := v.conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: mode})
	if err != nil {
		return fmt.Errorf("begin a transaction: %w", err)
	}
	defer func() {
		if rolledBack := tx.Rollback(ctx); err == nil {
			err = rolledBack
		}
	}()
	const settings = "SELECT pg_catalog.set_config('statement_timeout', '0', true), pg_catalog.set_config('lock_timeout', '10s', true), " +
		"pg_catalog.set_config('quote_all_identifiers', 'off', true)" // and what the server prints is compared
	if _, err := tx.Exec(ctx, settings); err != nil {
		return fmt.Errorf("begin a transaction: %w", err)
	}
	return look(tx)
}

// try asks what the server may refuse without an end to the transaction.
func try(ctx context.Context, tx pgx.Tx, ask func(pgx.Tx) error) (refused *pgconn.PgError, err error) {
	part, err := tx.Begin(ctx)
	if err != nil {
		return nil, err
	}
	answer := ask(part)
	if err := part.Rollback(ctx); err != nil {
		return nil, errors.Join(answer, err)
	}
	if errors.As(answer, &refused) && refused.Code != lockNotAvailable && refused.Code != queryCanceled {
		return refused, nil
	}
	return nil, answer
}

// Codes of the server's errors.
const (
	lockNotAvailable = "55P03"
	queryCanceled    = "57014"
)
