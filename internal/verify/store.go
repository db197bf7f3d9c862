package verify

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/ddl"
	"github.com/statigen/statigen/internal/model"
)

// look is a look at one store.
type look struct {
	*verifier
	tx    pgx.Tx
	store model.Store // as the config has it
	// at is the store where it lies: if the config leaves that to the search_path, in the schema that was found. SQL that
	// mends names that schema, and so does not depend on anybody's search_path.
	at     model.Store
	places map[string]place // of the tables that are there, by concept
	unfit  bool             // a table or a column is not as it must be, so that statements may be refused
}

func (v *verifier) store(ctx context.Context, subject Subject) error {
	return v.inTx(ctx, pgx.ReadOnly, func(tx pgx.Tx) error {
		l := &look{verifier: v, tx: tx, store: subject.Store, at: subject.Store, places: map[string]place{}}
		refused, err := l.prepare(ctx, subject.Statements)
		if err != nil {
			return err
		}
		ours, err := l.place(ctx)
		if err != nil || !ours {
			return err // what other tables are like says nothing
		}
		for _, judge := range []func(context.Context) error{l.tables, l.grants, l.rowSecurity} {
			if err := judge(ctx); err != nil {
				return err
			}
		}
		l.statements(refused)
		return nil
	})
}

func (l *look) add(kind Kind, object, text, risk string, sql ...string) {
	f := Finding{Kind: kind, Store: l.store.Name, Object: object, Text: text, Risk: risk}
	for _, statement := range sql {
		f.SQL = append(f.SQL, ddl.Statement{SQL: statement})
	}
	l.found = append(l.found, f)
}

// worse is a finding after which statements may be refused.
func (l *look) worse(kind Kind, object, text, risk string, sql ...string) {
	l.unfit = true
	l.add(kind, object, text, risk, sql...)
}
