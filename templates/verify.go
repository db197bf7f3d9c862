package store

import (
	"context"
	"errors"

	"github.com/statigen/statigen/templates/internal/db"
)

// Verify says whether this server, this role and these tables keep what the store promises: a host calls it when it
// starts. The answer is nil, or all that is wrong as one error whose Unwrap() []error lists it, so that errors.As finds
// each:
//
//   - *AdvisoryLockError: advisory locks that do nothing
//   - *ReadOnlyError: a hot standby, or transactions that are read-only
//   - *SearchPathError: a search_path that finds other tables, or none
//   - *SchemaError: a missing or unfit table, column or unique index
//   - *PrivilegeError: a privilege that some verb needs
//   - *RowSecurityError: row-level security that hides rows of a table from the role, so that verbs would refuse
//   - *StatementError: a statement that the server does not prepare
//   - whatever kept the server from being asked; then what is behind it is not known
//
// It says so of one session: another may have another search_path or, behind a pooler, another server.
//
// It writes nothing, touches no row, and takes one advisory lock, on a key that no chart, no execution and no other
// session has. It waits for nobody but whoever has a table locked against reading. Everything is asked on one connection,
// in a transaction that is rolled back: some thirty round trips, one for each statement. In a host's transaction it works
// between a savepoint and the way back to it, sees what that transaction sees, and leaves it usable.
func (s *Store) Verify(ctx context.Context) error {
	v := &verifier{relations: map[string]string{}, refused: map[string]bool{}}
	err := s.conn.Aside(ctx, func(a db.Aside) error {
		v.aside = a
		for _, look := range []func(context.Context){v.session, v.locks, v.tables, v.columns, v.indexes, v.statements} {
			look(ctx)
		}
		return v.lost
	})
	if err != nil {
		v.found(err)
	}
	return errors.Join(v.problems...)
}

// verifier gathers what is wrong.
type verifier struct {
	aside      db.Aside
	searchPath string
	relations  map[string]string // the tables that are the store's, by concept, as in SQL
	unfit      bool              // a table, a column or a privilege is not as it must be
	refused    map[string]bool   // the statements that are named in a problem already
	problems   []error
	lost       error // nothing more can be asked
}

func (v *verifier) found(problem error) {
	v.problems = append(v.problems, &opError{"verify", problem})
}

// ask sends a query, if it can be sent. That the server refuses it is a problem of its own; then ok is false.
func ask[T any](ctx context.Context, v *verifier, name string, query func(db.VerifyQueries, context.Context) (T, error)) (answer T, ok bool) {
	if v.lost != nil {
		return answer, false
	}
	refused, err := v.aside.Try(ctx, func(q db.VerifyQueries) (err error) {
		answer, err = query(q, ctx)
		return err
	})
	if refused != nil {
		v.refused[name] = true
		v.found(&StatementError{name, refused})
	}
	v.lost = err
	return answer, refused == nil && err == nil
}

func (v *verifier) session(ctx context.Context) {
	row, _ := ask(ctx, v, "Session", db.VerifyQueries.Session)
	v.searchPath = row.SearchPath
	if row.Standby || row.ReadOnly {
		v.found(&ReadOnlyError{row.Standby})
	}
}

// locks takes a lock of each kind, and believes the server's list of locks alone.
func (v *verifier) locks(ctx context.Context) {
	_, ok := ask(ctx, v, "TakeProbeLocks", func(q db.VerifyQueries, ctx context.Context) (none struct{}, err error) {
		return none, q.TakeProbeLocks(ctx)
	})
	if !ok {
		return
	}
	taken, ok := ask(ctx, v, "ProbeLocks", db.VerifyQueries.ProbeLocks)
	if ok && (!taken.Shared || !taken.Exclusive) {
		v.found(&AdvisoryLockError{!taken.Shared, !taken.Exclusive})
	}
}

// statements has every statement prepared, as pgx would before it sends one.
func (v *verifier) statements(ctx context.Context) {
	for _, sql := range db.Statements() {
		name := db.Name(sql)
		if v.lost != nil || v.refused[name] {
			continue
		}
		var refused error
		if refused, v.lost = v.aside.Prepare(ctx, sql); refused != nil && !v.explained(refused) {
			v.found(&StatementError{name, refused})
		}
	}
}

// explained says whether a refusal only repeats what was found wrong with the tables. Every table and column is looked
// at before, so nothing is lost.
func (v *verifier) explained(refused error) bool {
	switch serverCode(refused) {
	case codeUndefinedTable, codeUndefinedColumn, codeInsufficientPrivilege:
		return v.unfit
	}
	return false
}
