package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

func TestALinkageIsStoredAsTheReferenceDoesAndReadBack(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	for stored, l := range map[string]store.Linkage{
		`{"invoke_id": "call", "child_index": 0, "content_hash": "h", "parent_execution_id": "p"}`: {
			ParentExecutionID: "p", InvokeID: "call", ContentHash: "h",
		},
		`{"policy": "first_error", "invoke_id": "each", "child_count": 3, "child_index": 2, "content_hash": "h", "parent_execution_id": "p"}`: {
			ParentExecutionID: "p", InvokeID: "each", ChildIndex: 2, ContentHash: "h", ChildCount: 3, Policy: store.PolicyFirstError,
		},
	} {
		e := newExecution("h")
		e.ExecutionID, e.Metadata, e.Linkage = l.ChildID(), []byte(`{"amount": 100, "é": "<&>"}`), &l
		created, err := s.CreateExecution(t.Context(), e)
		must(t, err)
		if got, linked := created.Linkage(); !linked || got != l {
			t.Errorf("read back %+v, %t, want %+v", got, linked, l)
		}
		if same := query[bool](t, h, `SELECT metadata = jsonb_build_object('amount', 100, 'é', '<&>', 'statifier_persistence', $2::jsonb)
			FROM `+h.executions+` WHERE execution_id = $1`, e.ExecutionID, stored); !same {
			t.Errorf("stored %s", created.Metadata)
		}
	}
	if got := (store.Linkage{ParentExecutionID: "loan_01H8", InvokeID: "call"}).ChildID(); got != "loan_01H8/call/0" {
		t.Errorf("a child's id is %s", got)
	}
}

func TestMetadataThatIsNoLinkage(t *testing.T) {
	for _, metadata := range []string{
		``, `null`, `{}`, `[]`, `{"statifier_persistence": 1}`, `{"statifier_persistence": {"parent_execution_id": "p", "invoke_id": "i", "child_index": 0}}`,
		`{"statifier_persistence": {"parent_execution_id": "p", "invoke_id": "i", "content_hash": "h", "child_index": -1}}`,
		`{"statifier_persistence": {"parent_execution_id": "p", "invoke_id": "i", "content_hash": "h", "child_index": 0, "child_count": 2}}`,
		`{"statifier_persistence": {"parent_execution_id": "p", "invoke_id": "i", "content_hash": "h", "child_index": 2, "child_count": 2, "policy": "all"}}`,
	} {
		if l, linked := (store.Execution{Metadata: []byte(metadata)}).Linkage(); linked {
			t.Errorf("%s is the linkage %+v", metadata, l)
		}
	}
}

func TestLinkagesThatAreRefused(t *testing.T) {
	s := newHost(t).store(t)
	for field, change := range map[string]func(*store.Linkage){
		"Linkage.ParentExecutionID": func(l *store.Linkage) { l.ParentExecutionID = "" },
		"Linkage.InvokeID":          func(l *store.Linkage) { l.InvokeID = "\x00" },
		"Linkage.ContentHash":       func(l *store.Linkage) { l.ContentHash = "" },
		"Linkage.ChildIndex":        func(l *store.Linkage) { l.ChildIndex = -1 },
		"Linkage.ChildCount":        func(l *store.Linkage) { l.Policy = store.PolicyAll },
		"Linkage.Policy":            func(l *store.Linkage) { l.ChildCount, l.Policy = 1, "some" },
	} {
		e := newChild("parent", newHash())
		change(e.Linkage)
		invalid := wantAs[*store.InvalidError](t, second(s.CreateExecution(t.Context(), e)))
		if invalid.Field != field {
			t.Errorf("refused for %s, want %s", invalid.Field, field)
		}
	}
}

// A child whose linkage names another chart than its own pins both, and is refused if either is retired.
func TestAChildOfAnotherChartPinsBoth(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	parent := mustCreate(t, free, newHash())
	inTx := func(create func(*store.Store, store.NewExecution) error) func(store.NewExecution) error {
		return func(e store.NewExecution) error {
			s, tx := h.begin(t, "")
			defer func() { must(t, tx.Commit(t.Context())) }()
			return create(s, e)
		}
	}
	plain := func(s *store.Store, e store.NewExecution) error { return second(s.CreateExecution(t.Context(), e)) }
	byFunc := func(s *store.Store, e store.NewExecution) error { return second(createBy(t.Context(), s, e)) }
	for what, create := range map[string]func(store.NewExecution) error{
		"pool": func(e store.NewExecution) error { return plain(free, e) }, "host": inTx(plain),
		"function, pool": func(e store.NewExecution) error { return byFunc(free, e) }, "function, host": inTx(byFunc),
	} {
		own, linked, gone := mustSave(t, free), mustSave(t, free), mustSave(t, free)
		mustRetire(t, free, gone)
		e := newChild(parent.ExecutionID, own)
		e.ExecutionID, e.Linkage.ContentHash = fmt.Sprintf("child %d", serial.Add(1)), linked
		must(t, create(e))
		for _, hash := range []string{own, linked} {
			wantAs[*store.PinnedError](t, second(free.RetireChart(t.Context(), hash, by("ops"))))
		}
		e.ExecutionID, e.Linkage.ContentHash = "refused", gone
		if refused := wantAs[*store.ChartRetiredError](t, create(e)); refused.ContentHash != gone {
			t.Errorf("%s: refused for chart %s, want %s", what, refused.ContentHash, gone)
		}
		wantIs(t, second(free.Execution(t.Context(), "refused")), store.ErrExecutionNotFound)
	}
	if n := h.stranded(t); n != 0 {
		t.Errorf("%d charts were retired under a pin", n)
	}
}

// Whichever of its two charts is being retired, the create waits, and is refused.
func TestAChildOfAnotherChartWaitsForBoth(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	parent := mustCreate(t, free, newHash())
	for i := range 2 {
		charts := []string{mustSave(t, free), mustSave(t, free)}
		retiring, tx := h.begin(t, "")
		must(t, second(retiring.RetireChart(t.Context(), charts[i], by("ops"))))
		e := newChild(parent.ExecutionID, charts[0])
		e.ExecutionID, e.Linkage.ContentHash = fmt.Sprintf("child %d", serial.Add(1)), charts[1]
		before := h.AdvisoryLocks(t)
		answered := make(chan error, 1)
		go func() { answered <- second(free.CreateExecution(context.WithoutCancel(t.Context()), e)) }()
		pgtest.Await(t, "the create to wait", func() bool { return h.AdvisoryLocks(t) > before })
		must(t, tx.Commit(t.Context()))
		if refused := wantAs[*store.ChartRetiredError](t, <-answered); refused.ContentHash != charts[i] {
			t.Errorf("refused for %s, want %s", refused.ContentHash, charts[i])
		}
	}
}

func TestChildrenAtTheHigherLevels(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	parent := mustCreate(t, free, newHash())
	own, linked, later := mustSave(t, free), mustSave(t, free), mustSave(t, free)
	s, tx := h.begin(t, "repeatable read")
	must(t, second(s.Execution(t.Context(), parent.ExecutionID))) // the snapshot
	child := func(hash string) store.NewExecution {
		e := newChild(parent.ExecutionID, own)
		e.ExecutionID, e.Linkage.ContentHash = fmt.Sprintf("child %d", serial.Add(1)), hash
		return e
	}
	must(t, second(s.CreateExecution(t.Context(), child(linked))))
	wantAs[*store.IsolationError](t, second(s.CreateExecution(t.Context(), child(newHash()))))
	mustRetire(t, free, later)
	if err := second(s.CreateExecution(t.Context(), child(later))); sqlState(err) != "40001" {
		t.Errorf("onto a chart retired after the snapshot: %v, want 40001", err)
	}
	must(t, tx.Rollback(t.Context()))
}

func TestChildrenAreCancelledToTheLast(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	hash := mustSave(t, s)
	child := func(parent string, index int64) string {
		e := newChild(parent, hash)
		e.Linkage.ChildIndex = index
		e.ExecutionID = e.Linkage.ChildID()
		must(t, second(s.CreateExecution(t.Context(), e)))
		return e.ExecutionID
	}
	root := mustCreate(t, s, hash).ExecutionID
	one, two := child(root, 0), child(root, 1)
	must(t, second(s.FailExecution(t.Context(), one, "why")))
	behind := child(one, 0)
	h.Exec(t, "UPDATE "+h.executions+" SET status = 'needs_migration' WHERE execution_id = $1", two)
	other := child(mustCreate(t, s, hash).ExecutionID, 0)
	n, err := s.CancelChildren(t.Context(), root)
	must(t, err)
	if n != 2 {
		t.Errorf("%d were cancelled, want 2", n)
	}
	for id, want := range map[string]string{root: store.Active, one: store.Failed, two: store.Cancelled, behind: store.Cancelled, other: store.Active} {
		e, err := s.Execution(t.Context(), id)
		must(t, err)
		if e.Status != want {
			t.Errorf("%s is %s, want %s", id, e.Status, want)
		}
	}
	n, err = s.CancelChildren(t.Context(), root)
	must(t, err)
	if n != 0 {
		t.Errorf("%d were cancelled again", n)
	}
}

// Linkages that go round in a circle come from somebody else's hand, and end all the same.
func TestChildrenInACircle(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	a, b := mustCreate(t, s, newHash()), mustCreate(t, s, newHash())
	h.plantLinkage(t, a.ExecutionID, b.ExecutionID, "h")
	h.plantLinkage(t, b.ExecutionID, a.ExecutionID, "h")
	n, err := s.CancelChildren(t.Context(), a.ExecutionID)
	must(t, err)
	if n != 1 {
		t.Errorf("%d were cancelled, want the other one", n)
	}
}

func TestACreateByAFunctionIsStored(t *testing.T) {
	h := newHost(t)
	for _, r := range h.txRoutes(t) {
		s := h.store(t, r.open)
		e := newExecution(mustSave(t, s))
		created, err := s.CreateExecutionFunc(t.Context(), store.ExecutionRef{ExecutionID: e.ExecutionID, ContentHash: e.ContentHash},
			func(context.Context, store.Storage) (store.NewExecution, error) {
				made := e
				made.ExecutionID, made.ContentHash = "", "" // completed by the reference
				return made, nil
			})
		must(t, err)
		stored, err := s.Execution(t.Context(), e.ExecutionID)
		must(t, err)
		if diff := unlike(stored, created); diff != "" {
			t.Errorf("%s: (-stored +created):\n%s", r.name, diff)
		}
	}
}

func TestCreatesByAFunctionThatAreRefused(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	gone := mustSave(t, s)
	mustRetire(t, s, gone)
	existing := mustCreate(t, s, newHash())
	called := func(context.Context, store.Storage) (store.NewExecution, error) {
		t.Error("the function was called")
		return store.NewExecution{}, nil
	}
	wantAs[*store.ChartRetiredError](t, second(s.CreateExecutionFunc(t.Context(), store.ExecutionRef{ExecutionID: "e", ContentHash: gone}, called)))
	wantAs[*store.ExecutionExistsError](t, second(s.CreateExecutionFunc(t.Context(), store.ExecutionRef{ExecutionID: existing.ExecutionID, ContentHash: newHash()}, called)))
	wantAs[*store.InvalidError](t, second(s.CreateExecutionFunc(t.Context(), store.ExecutionRef{ExecutionID: "e"}, called)))
	for field, change := range map[string]func(*store.NewExecution){
		"ExecutionID": func(e *store.NewExecution) { e.ExecutionID = "other" }, "ContentHash": func(e *store.NewExecution) { e.ContentHash = "other" },
		"Linkage":      func(e *store.NewExecution) { e.Linkage = &store.Linkage{} },
		"IdentityBlob": func(e *store.NewExecution) { e.IdentityBlob = nil },
	} {
		e := newExecution(newHash())
		_, err := s.CreateExecutionFunc(t.Context(), store.ExecutionRef{ExecutionID: e.ExecutionID, ContentHash: e.ContentHash},
			func(ctx context.Context, tx store.Storage) (store.NewExecution, error) {
				must(t, tx.SavePosition(ctx, newPosition(e.ContentHash)))
				made := e
				change(&made)
				return made, nil
			})
		var invalid *store.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if n := query[int](t, h, "SELECT count(*) FROM "+h.positions); n != 0 {
		t.Errorf("%d positions were left of creates that were refused", n)
	}
}

// While the function runs, a retirement waits, and then finds the execution; or the create waits, and is refused.
func TestARetirementAndACreateByAFunction(t *testing.T) {
	h := newHost(t)
	s := h.store(t, pgtest.MaxConns(4))
	hash := mustSave(t, s)
	e := newExecution(hash)
	retired := make(chan error, 1)
	must(t, second(s.CreateExecutionFunc(t.Context(), store.ExecutionRef{ExecutionID: e.ExecutionID, ContentHash: hash},
		func(context.Context, store.Storage) (store.NewExecution, error) {
			before := h.AdvisoryLocks(t)
			go func() { retired <- second(s.RetireChart(context.WithoutCancel(t.Context()), hash, by("ops"))) }()
			pgtest.Await(t, "the retirement to wait", func() bool { return h.AdvisoryLocks(t) > before })
			return e, nil
		})))
	wantAs[*store.PinnedError](t, <-retired)
}

// The locks of several charts are taken in the order of their keys, in whichever order they are named.
func TestLocksOfSeveralChartsAreTakenInOneOrder(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	parent := mustCreate(t, free, newHash())
	charts := []string{mustSave(t, free), mustSave(t, free)}
	failed := make(chan error, 40)
	for i := range 20 {
		go func() {
			e := newChild(parent.ExecutionID, charts[i%2])
			e.ExecutionID, e.Linkage.ContentHash = fmt.Sprintf("child %d", serial.Add(1)), charts[1-i%2]
			failed <- second(free.CreateExecution(context.WithoutCancel(t.Context()), e))
		}()
		go func() {
			failed <- second(free.RetireChart(context.WithoutCancel(t.Context()), charts[i%2], by("ops")))
		}()
	}
	var other []error
	for range 40 {
		err := <-failed
		var pinned *store.PinnedError
		var retired *store.ChartRetiredError
		if err != nil && !errors.As(err, &pinned) && !errors.As(err, &retired) {
			other = append(other, err)
		}
	}
	if len(other) > 0 || h.stranded(t) > 0 {
		t.Errorf("%d charts stranded; %v", h.stranded(t), slices.Compact(other))
	}
}
