package pgtest

import (
	"testing"
	"time"
)

const (
	// patience bounds every wait for something that should happen at once.
	patience = 10 * time.Second
	pause    = 2 * time.Millisecond
)

// Await asks cond until it says true, at most for ten seconds; then the test fails with what was awaited.
func Await(t testing.TB, what string, cond func() bool) {
	t.Helper()
	await(t, patience, what, cond)
}

func await(t testing.TB, bound time.Duration, what string, cond func() bool) {
	t.Helper()
	if !within(bound, cond) {
		t.Fatalf("pgtest: waited %v for %s", bound, what)
	}
}

// within reports whether cond came true in time.
func within(bound time.Duration, cond func() bool) bool {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for end := time.Now().Add(bound); !cond(); <-tick.C {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
