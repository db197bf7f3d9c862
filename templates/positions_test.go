package store_test

import (
	"testing"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

func TestAPositionIsReadBackAsItWasSaved(t *testing.T) {
	h := newHost(t)
	for _, r := range h.routes(t) {
		s := h.store(t, r.open)
		p := newPosition(newHash())
		must(t, s.SavePosition(t.Context(), p))
		first, err := s.Position(t.Context(), p.SessionID)
		must(t, err)
		p.RowID, p.InsertedAt, p.UpdatedAt = first.RowID, first.InsertedAt, first.UpdatedAt
		if diff := unlike(p, first); diff != "" {
			t.Errorf("%s: (-saved +read):\n%s", r.name, diff)
		}
		moved := newPosition(newHash())
		moved.SessionID, moved.Leading, moved.PositionBlob = p.SessionID, leading("us"), []byte{}
		must(t, s.SavePosition(t.Context(), moved))
		second, err := s.Position(t.Context(), p.SessionID)
		must(t, err)
		moved.Leading, moved.RowID, moved.InsertedAt, moved.UpdatedAt = first.Leading, first.RowID, first.InsertedAt, second.UpdatedAt
		if diff := unlike(moved, second); diff != "" {
			t.Errorf("%s: saved over (-want +read):\n%s", r.name, diff)
		}
		if !second.UpdatedAt.After(first.UpdatedAt) {
			t.Errorf("%s: updated at %s, and then at %s", r.name, first.UpdatedAt, second.UpdatedAt)
		}
	}
}

func TestAPositionThatIsNotThere(t *testing.T) {
	s := newHost(t).store(t)
	wantIs(t, second(s.Position(t.Context(), "none")), store.ErrPositionNotFound)
	wantIs(t, s.DeletePosition(t.Context(), "none"), store.ErrPositionNotFound)
	p := newPosition(newHash())
	must(t, s.SavePosition(t.Context(), p))
	must(t, s.DeletePosition(t.Context(), p.SessionID))
	wantIs(t, s.DeletePosition(t.Context(), p.SessionID), store.ErrPositionNotFound)
}

func TestAPositionPinsItsChart(t *testing.T) {
	s := newHost(t).store(t)
	p := newPosition(mustSave(t, s))
	must(t, s.SavePosition(t.Context(), p))
	pinned := wantAs[*store.PinnedError](t, second(s.RetireChart(t.Context(), p.ContentHash, by("ops"))))
	if want := (store.PinCounts{Positions: 1}); pinned.Counts != want {
		t.Errorf("pinned by %+v, want %+v", pinned.Counts, want)
	}
	must(t, s.DeletePosition(t.Context(), p.SessionID))
	tombstone := mustRetire(t, s, p.ContentHash)
	refused := wantAs[*store.ChartRetiredError](t, s.SavePosition(t.Context(), p))
	if *refused != store.ChartRetiredError(tombstone) {
		t.Errorf("refused with %+v, want %+v", *refused, tombstone)
	}
	wantIs(t, second(s.Position(t.Context(), p.SessionID)), store.ErrPositionNotFound)
}

// A session that moves to a retired chart stays where it is.
func TestARefusedSaveLeavesThePositionAsItIs(t *testing.T) {
	s := newHost(t).store(t)
	p := newPosition(mustSave(t, s))
	must(t, s.SavePosition(t.Context(), p))
	before, err := s.Position(t.Context(), p.SessionID)
	must(t, err)
	p.ContentHash, p.PositionBlob = mustSave(t, s), []byte("elsewhere")
	mustRetire(t, s, p.ContentHash)
	wantAs[*store.ChartRetiredError](t, s.SavePosition(t.Context(), p))
	after, err := s.Position(t.Context(), p.SessionID)
	must(t, err)
	if diff := unlike(before, after); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestPositionsAtTheHigherLevels(t *testing.T) {
	h := newHost(t)
	free := h.store(t)
	for _, level := range []string{"repeatable read", "serializable"} {
		known, later := mustSave(t, free), mustSave(t, free)
		s, tx := h.begin(t, level)
		must(t, second(s.Chart(t.Context(), known))) // the snapshot
		mustRetire(t, free, later)
		must(t, s.SavePosition(t.Context(), newPosition(known)))
		unknown := wantAs[*store.IsolationError](t, s.SavePosition(t.Context(), newPosition(newHash())))
		if unknown.Level != level {
			t.Errorf("refused for the level %q, want %q", unknown.Level, level)
		}
		usable(t, tx)
		if err := s.SavePosition(t.Context(), newPosition(later)); sqlState(err) != "40001" || !store.Retryable(err) {
			t.Errorf("%s: on a chart retired after the snapshot: %v, want 40001", level, err)
		}
		must(t, tx.Rollback(t.Context()))
		must(t, h.store(t, pgtest.Isolation(level)).SavePosition(t.Context(), newPosition(newHash())))
	}
	if n := h.stranded(t); n != 0 {
		t.Errorf("%d charts were retired under a position", n)
	}
}
