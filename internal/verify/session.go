package verify

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/statigen/statigen/internal/ddl"
	"github.com/statigen/statigen/internal/keyspec"
)

// session looks at what all stores have in common, with the statements of the generated Verify.
func (v *verifier) session(ctx context.Context) error {
	return v.inTx(ctx, "", func(tx pgx.Tx) error {
		if len(v.job.Subjects) > 0 {
			statements := v.job.Subjects[0].Statements
			if err := v.writable(ctx, tx, named(statements, "Session")); err != nil {
				return err
			}
			if err := v.locks(ctx, tx, named(statements, "TakeProbeLocks"), named(statements, "ProbeLocks")); err != nil {
				return err
			}
		}
		return v.readRole(ctx, tx)
	})
}

// named is the statement of a name.
func named(statements []string, name string) string {
	for _, sql := range statements {
		if nameOf(sql) == name {
			return sql
		}
	}
	return ""
}

// nameOf is a statement's name, which stands in its first line.
func nameOf(sql string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(sql, "-- name: "), " ")
	return name
}

func (v *verifier) writable(ctx context.Context, tx pgx.Tx, sessionSQL string) error {
	var standby, readOnly bool
	var path string
	if err := tx.QueryRow(ctx, sessionSQL).Scan(&standby, &readOnly, &path); err != nil {
		return fmt.Errorf("look at the session: %w", err)
	}
	switch {
	case standby:
		v.found = append(v.found, Finding{Kind: ReadOnly, Text: "the server is a hot standby, and the verbs write (want the primary)"})
	case readOnly:
		return v.readOnly(ctx, tx)
	}
	return nil
}

// readOnly says who has set it.
func (v *verifier) readOnly(ctx context.Context, tx pgx.Tx) error {
	const where = `SELECT pg_catalog.quote_ident(pg_catalog.current_database()), pg_catalog.quote_ident(SESSION_USER), s.source
		FROM pg_catalog.pg_settings AS s WHERE s.name OPERATOR(pg_catalog.=) 'default_transaction_read_only'`
	var database, user, source string
	if err := tx.QueryRow(ctx, where).Scan(&database, &user, &source); err != nil {
		return fmt.Errorf("look at the session: %w", err)
	}
	f := Finding{
		Kind: ReadOnly, Text: fmt.Sprintf("transactions are read-only (default_transaction_read_only, set by: %s)", source),
		Risk: "somebody has set it so",
	}
	if whose, ok := map[string]string{
		"database": "DATABASE " + database, "user": "ROLE " + user, "database user": "ROLE " + user + " IN DATABASE " + database,
	}[source]; ok {
		f.SQL = []ddl.Statement{{SQL: "ALTER " + whose + " RESET default_transaction_read_only"}}
	}
	v.found = append(v.found, f)
	return nil
}

// locks takes a lock of each kind, and believes the server's list of locks alone.
func (v *verifier) locks(ctx context.Context, tx pgx.Tx, take, probe string) error {
	var shared, exclusive bool
	refused, err := try(ctx, tx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, take); err != nil {
			return err
		}
		return tx.QueryRow(ctx, probe).Scan(&shared, &exclusive)
	})
	if err != nil {
		return fmt.Errorf("take an advisory lock: %w", err)
	}
	if text := locksText(refused, shared, exclusive); text != "" {
		v.found = append(v.found, Finding{Kind: AdvisoryLocks, Text: text + ", and a retirement would exclude nothing (want Postgres)"})
	}
	return nil
}

func locksText(refused *pgconn.PgError, shared, exclusive bool) string {
	switch {
	case refused != nil:
		return "the server refuses advisory locks: " + refused.Error()
	case !shared && !exclusive:
		return "the server takes no advisory locks"
	case !shared:
		return "the server takes no shared advisory lock"
	case !exclusive:
		return "the server takes no exclusive advisory lock"
	}
	return ""
}

// role is the one whose privileges are looked at.
type role struct {
	OID    uint32
	Name   string
	Super  bool
	Others bool // another one than the connection's
}

func (v *verifier) readRole(ctx context.Context, tx pgx.Tx) error {
	const sql = `SELECT r.oid AS oid, r.rolname::pg_catalog.text AS name, r.rolsuper AS super, r.rolname OPERATOR(pg_catalog.<>) CURRENT_USER AS others
		FROM pg_catalog.pg_roles AS r
		WHERE r.rolname OPERATOR(pg_catalog.=) COALESCE(NULLIF($1::pg_catalog.text, ''), CURRENT_USER::pg_catalog.text)::pg_catalog.name`
	rows, _ := tx.Query(ctx, sql, v.job.Role)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[role])
	if err != nil {
		return fmt.Errorf("look at the role: %w", err)
	}
	if len(found) == 0 {
		return fmt.Errorf("the server has no role %s (want one of its roles)", keyspec.QuoteIdent(v.job.Role))
	}
	v.role = found[0]
	return nil
}
