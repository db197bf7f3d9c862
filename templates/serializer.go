package store

import "context"

// Serializer keeps two verbs off one execution by a means of the host's own, such as a queue or a lease. For one execution
// the bodies that it runs never overlap, in any process, and what one has committed is there for the next. It runs the body
// once, in the goroutine of the caller, and returns its error as it is; an error of its own means that the body did not run.
type Serializer interface {
	Serialize(ctx context.Context, executionID string, body func(ctx context.Context) error) error
}

// WithSerializer puts the host's means in the place of the execution's advisory lock. Row locks and the chart lock stay, so no
// execution gets onto a retired chart. It is a promise: a writer that does not keep it, the Elixir library's default
// among them, is not kept off.
func WithSerializer(serializer Serializer) Option {
	return func(s *Store) { s.serializer = serializer }
}

// locked runs a verb that has an execution for itself, or refuses one that already is in the hands of another.
func locked[T any](ctx context.Context, s *Store, op, executionID string, verb func(context.Context, *Store) (T, error)) (answer T, err error) {
	if s.wouldReenter(ctx, executionID) {
		return answer, &opError{op, &ReentrantError{executionID}}
	}
	if s.serializer == nil {
		return verb(ctx, s)
	}
	ran := false
	err = s.serializer.Serialize(ctx, executionID, func(ctx context.Context) (err error) {
		ran = true
		answer, err = verb(ctx, s)
		return err
	})
	if err != nil && !ran {
		err = &opError{op, err}
	}
	return answer, err
}
