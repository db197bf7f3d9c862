package suite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/pgtest"
)

// waiting says for pairs of stores what their configs mean; every other pair is judged by its keys alone.
func waiting() map[string]bool {
	return map[string]bool{
		"plain named":   false, // apart by tables
		"plain loans":   false, // apart by prefix
		"plain uuids":   false, // apart by table_prefix
		"loans odd":     false, // apart by prefix and tables
		"plain again":   true,  // two packages on one table
		"serials old":   true,  // content_hash: every such store waits on every other
		"old both":      true,  // both: with those of the old key
		"plain both":    false, // and with its own store
		"plain old":     false, // old key and new key do not meet: a mixed fleet is not ordered
		"plain plain":   true,
		"serials loans": false,
	}
}

// A retirement in one store comes while a create in another is under way on the same content hash: it waits if,
// and only if, the two share a key.
func whichStoresWait(t *testing.T, packages map[string]Package) {
	db := newDB(t, packages)
	first, second := session{db.Conn(t)}, session{db.Conn(t)}
	seen := 0
	for a, creates := range packages {
		for b, retires := range packages {
			hash := fmt.Sprintf("sha256:%s:%s", a, b)
			_, planned := waiting()[a+" "+b]
			want := share(creates.keys(hash), retires.keys(hash))
			if planned {
				seen++
			}
			if planned && want != waiting()[a+" "+b] {
				t.Errorf("%s and %s share a key: %v, want %v", a, b, want, waiting()[a+" "+b])
			}
			if got := retireWaits(t, db, first, second, creates, retires, hash); got != want {
				t.Errorf("a retirement in %s waits for a create in %s: %v, want %v", b, a, got, want)
			}
		}
	}
	if seen != len(waiting()) {
		t.Errorf("%d of the %d named pairs were run", seen, len(waiting()))
	}
}

func share(a, b []int32) bool {
	return slices.ContainsFunc(a, func(key int32) bool { return slices.Contains(b, key) })
}

func retireWaits(t *testing.T, db *pgtest.DB, first, second session, creates, retires Package, hash string) bool {
	t.Helper()
	for _, p := range []Package{creates, retires} {
		s, tx := second.begin(t, p)
		must(t, s.Save(t.Context(), hash))
		must(t, tx.Commit(t.Context()))
	}
	creating, createTx := first.begin(t, creates)
	must(t, creating.Create(t.Context(), "execution on "+hash, hash, "a"))
	retiring, retireTx := second.begin(t, retires)
	waited, answer := begun(t, db, second, func() error { return retiring.Retire(t.Context(), hash) })
	must(t, createTx.Rollback(t.Context()))
	must(t, answer())
	must(t, retireTx.Rollback(t.Context()))
	return waited
}

// begun begins a verb and says whether it waits, or has answered; the answer can be asked for once the wait is over.
func begun(t *testing.T, db *pgtest.DB, s session, verb func() error) (waits bool, answer func() error) {
	t.Helper()
	answered := make(chan error, 1)
	go func() { answered <- verb() }()
	pgtest.Await(t, "an answer or a wait", func() bool {
		waits = db.Blocked(t, s.pid())
		return waits || len(answered) > 0
	})
	return waits, func() error { return <-answered }
}

// A tenant is a leading column: it is in no key, so a create for one tenant and a retirement by another meet.
func tenantsShareAChart(t *testing.T, loans Package) {
	db := pgtest.New(t, loans.Schema)
	one, other := session{db.Conn(t)}, session{db.Conn(t)}
	const hash = "sha256:shared"
	s, tx := one.begin(t, loans)
	must(t, s.Save(t.Context(), hash))
	must(t, tx.Commit(t.Context()))

	creating, createTx := one.begin(t, loans)
	must(t, creating.Create(t.Context(), "execution", hash, "tenant a"))
	retiring, retireTx := other.begin(t, loans)
	answered := make(chan error, 1)
	go func() { answered <- retiring.Retire(t.Context(), hash) }()
	db.AwaitBlocked(t, other.pid())
	must(t, createTx.Commit(t.Context()))
	if err := <-answered; err == nil || !strings.Contains(err.Error(), "pinned") {
		t.Errorf("retirement by another tenant answered %v, want pinned", err)
	}
	must(t, retireTx.Rollback(t.Context()))
}

// Without a prefix the search_path decides whose rows they are, and is not in the key: the two wait on each
// other, and each answers from its own rows.
func twoSearchPaths(t *testing.T, plain, again Package) {
	db := pgtest.New(t, "CREATE SCHEMA a; SET search_path = a; "+plain.Schema+"; CREATE SCHEMA b; SET search_path = b; "+again.Schema)
	inA := session{db.Conn(t, pgtest.Setting("search_path", "a"))}
	inB := session{db.Conn(t, pgtest.Setting("search_path", "b"))}
	const hash = "sha256:one"
	for s, p := range map[session]Package{inA: plain, inB: again} {
		store, tx := s.begin(t, p)
		must(t, store.Save(t.Context(), hash))
		must(t, tx.Commit(t.Context()))
	}
	creating, createTx := inA.begin(t, plain)
	must(t, creating.Create(t.Context(), "execution", hash, "a"))
	retiring, retireTx := inB.begin(t, again)
	answered := make(chan error, 1)
	go func() { answered <- retiring.Retire(t.Context(), hash) }()
	db.AwaitBlocked(t, inB.pid())
	must(t, createTx.Commit(t.Context()))
	must(t, <-answered) // the execution is not in b
	must(t, retireTx.Commit(t.Context()))

	retiring, retireTx = inA.begin(t, plain)
	if err := retiring.Retire(t.Context(), hash); err == nil || !strings.Contains(err.Error(), "pinned") {
		t.Errorf("retirement in a answered %v, want pinned", err)
	}
	must(t, retireTx.Rollback(t.Context()))
}
