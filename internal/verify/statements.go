package verify

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// refusal is a statement that the server does not prepare.
type refusal struct {
	name string
	by   *pgconn.PgError
}

// prepare has every statement prepared, as pgx would before it sends one. It comes first, while the search_path is still
// the connection's.
func (l *look) prepare(ctx context.Context, statements []string) ([]refusal, error) {
	var all []refusal
	for _, sql := range statements {
		refused, err := try(ctx, l.tx, func(tx pgx.Tx) error {
			_, err := tx.Prepare(ctx, "", sql)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("prepare the statement %s: %w", nameOf(sql), err)
		}
		if refused != nil {
			all = append(all, refusal{nameOf(sql), refused})
		}
	}
	return all, nil
}

// statements tells of the refusals that do not only repeat what was found wrong with the tables.
func (l *look) statements(refused []refusal) {
	for _, r := range refused {
		if !l.unfit || !explained(r.by.Code) {
			l.add(Statement, r.name, "is not prepared by the server: "+r.by.Error(), "")
		}
	}
}

func explained(code string) bool {
	switch code {
	case "42P01", "42703", "42501": // no such table, no such column, no privilege
		return true
	case "42883", "42804", "42846", "42725", "428C9": // no such operator, another type, no cast, several operators, a generated column
		return true
	}
	return false
}
