package pgtest

import (
	"fmt"
	"runtime"
	"testing"
)

// rehearsal is a test that is expected to fail: it keeps its failures and runs its own cleanups.
type rehearsal struct {
	testing.TB
	failures []string
	cleanups []func()
}

// rehearse runs f as a test to its end and returns what it failed with.
func rehearse(t testing.TB, f func(t testing.TB)) []string {
	t.Helper()
	r := &rehearsal{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer r.cleanUp()
		f(r)
	}()
	<-done
	return r.failures
}

// cleanUp runs the cleanups last to first, all of them even if one ends the goroutine.
func (r *rehearsal) cleanUp() {
	for _, cleanup := range r.cleanups {
		defer cleanup()
	}
}

func (r *rehearsal) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *rehearsal) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *rehearsal) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
