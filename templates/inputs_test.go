package store_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

func TestALogIsKeptInOrderWithTheColumnsOfItsExecution(t *testing.T) {
	h := newHost(t)
	for _, r := range h.routes(t) {
		s := h.store(t, r.open)
		e, other := mustCreate(t, s, mustSave(t, s)), mustCreate(t, s, newHash())
		want := []store.Input{}
		for i, blob := range [][]byte{{0, 255}, {}, []byte("third")} {
			in := store.Input{Door: []string{store.DoorStep, store.DoorAnswerParent, store.DoorDoneInvocation}[i], InputBlob: blob}
			seq, err := s.AppendInput(t.Context(), e.ExecutionID, in)
			must(t, err)
			if seq != int64(i) {
				t.Errorf("%s: input %d is number %d", r.name, i, seq)
			}
			in.Leading, in.Seq = e.Leading, seq
			want = append(want, in)
		}
		got, err := s.Inputs(t.Context(), e.ExecutionID)
		must(t, err)
		for i := range min(len(want), len(got)) {
			want[i].RowID, want[i].InsertedAt = got[i].RowID, got[i].InsertedAt
		}
		if diff := unlike(want, got); diff != "" {
			t.Errorf("%s: (-appended +read):\n%s", r.name, diff)
		}
		empty, err := s.Inputs(t.Context(), other.ExecutionID)
		must(t, err)
		if len(empty) != 0 {
			t.Errorf("%s: the other log has %d inputs", r.name, len(empty))
		}
	}
}

func TestTheLogOfNoExecution(t *testing.T) {
	s := newHost(t).store(t)
	wantIs(t, second(s.Inputs(t.Context(), "none")), store.ErrExecutionNotFound)
	wantIs(t, second(s.AppendInput(t.Context(), "none", newInput())), store.ErrExecutionNotFound)
}

// A log of three places holds two inputs, and the marker that closes it.
func TestAFullLogIsClosed(t *testing.T) {
	h := newHost(t)
	s := store.New(h.Pool(t), store.WithInputLogCap(3))
	e := mustCreate(t, s, newHash())
	before, err := s.Execution(t.Context(), e.ExecutionID)
	must(t, err)
	for range 2 {
		must(t, second(s.AppendInput(t.Context(), e.ExecutionID, newInput())))
	}
	for range 2 {
		wantIs(t, second(s.AppendInput(t.Context(), e.ExecutionID, store.Input{Door: "late", InputBlob: []byte{1}})), store.ErrInputLogFull)
	}
	wantIs(t, second(h.store(t).AppendInput(t.Context(), e.ExecutionID, newInput())), store.ErrInputLogFull) // whose cap is another
	log, err := s.Inputs(t.Context(), e.ExecutionID)
	must(t, err)
	if len(log) != 3 || log[2].Seq != 2 || log[2].InputBlob != nil || log[2].Door != "late" || log[1].InputBlob == nil {
		t.Errorf("the log is %+v, want two inputs and the marker", log)
	}
	after, err := s.Execution(t.Context(), e.ExecutionID)
	must(t, err)
	if diff := unlike(before, after); diff != "" {
		t.Errorf("the execution changed (-before +after):\n%s", diff)
	}
}

// Every caller is told another number, and none is left out.
func TestInputsAppendedAtOnceAreNumberedWithoutGaps(t *testing.T) {
	h := newHost(t)
	s := h.store(t, pgtest.MaxConns(8))
	e := mustCreate(t, s, newHash())
	const callers, each = 8, 10
	told := make(chan int64, callers*each)
	failed := make(chan error, callers*each)
	for range callers {
		go func() {
			for range each {
				seq, err := s.AppendInput(context.WithoutCancel(t.Context()), e.ExecutionID, newInput())
				told <- seq
				failed <- err
			}
		}()
	}
	var got []int64
	for range callers * each {
		got = append(got, <-told)
		must(t, <-failed)
	}
	slices.Sort(got)
	for i, seq := range got {
		if seq != int64(i) {
			t.Fatalf("the numbers are %d", got)
		}
	}
}

// A counter of four bytes on the way of one of eight stops production at 2,147,483,647: https://github.com/JasperFx/marten/pull/4248.
func TestC15CountersGoOnBehind32Bits(t *testing.T) {
	h := newHost(t)
	s := h.store(t)
	e := mustCreate(t, s, newHash())
	must(t, second(s.AppendInput(t.Context(), e.ExecutionID, newInput())))
	h.Exec(t, "UPDATE "+h.inputs+" SET seq = $1 WHERE execution_id = $2", int64(math.MaxInt32-1), e.ExecutionID)
	for want := int64(math.MaxInt32); want < math.MaxInt32+3; want++ {
		got, err := s.AppendInput(t.Context(), e.ExecutionID, newInput())
		must(t, err)
		if got != want {
			t.Errorf("the next number is %d, want %d", got, want)
		}
	}
	log, err := s.Inputs(t.Context(), e.ExecutionID)
	must(t, err)
	if last := log[len(log)-1].Seq; last != math.MaxInt32+2 {
		t.Errorf("the last input is number %d", last)
	}
}

// An input that the log refuses is refused before anything is sent.
func TestInputsThatNoLogTakes(t *testing.T) {
	s := newHost(t).store(t)
	e := mustCreate(t, s, newHash())
	for field, in := range map[string]store.Input{
		"Door":      {InputBlob: []byte{1}},
		"InputBlob": {Door: store.DoorStep},
	} {
		var invalid *store.InvalidError
		if _, err := s.AppendInput(t.Context(), e.ExecutionID, in); !errors.As(err, &invalid) || invalid.Field != field {
			t.Errorf("%+v: %v, want %s refused", in, err, field)
		}
	}
}
