package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	store "github.com/statigen/statigen/templates"
)

// tell takes a session's answer, at once: what it reports as done must be there for the next reader.
func (r *run) tell(ctx context.Context, who *player, a answer) {
	a.end = r.taken.Load()
	unseen := r.unseen(ctx, a)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = append(r.answers, told{a, who, unseen})
}

func (v Verb) creates() bool { return v.name == "create" || v.name == "create by" }

// told is an answer, whose it is, and what is wrong with it as soon as it is given.
type told struct {
	answer
	who    *player
	unseen string
}

func (a told) String() string {
	return fmt.Sprintf("%s's %s %s", a.who.Name, a.verb.name, outcome(a.err))
}

func (r *run) unseen(ctx context.Context, a answer) string {
	switch {
	case !a.committed:
	case a.verb.creates(): // and not rolled back
		if _, err := r.store.Execution(ctx, r.world.executionID(a.verb.execution)); err != nil {
			return fmt.Sprintf("the execution is created, and a reader is told %v", err)
		}
	case a.verb.class == exclusive, a.verb.name == "save":
		retired, err := r.retired(ctx, a.verb.chart)
		if err != nil || a.verb.class == exclusive && !retired {
			return fmt.Sprintf("the %s is done, and a reader is told retired = %v, %v", a.verb.name, retired, err)
		}
	}
	return ""
}

// retired reads a chart's tombstone without its lock.
func (r *run) retired(ctx context.Context, chart string) (retired bool, err error) {
	const sql = "SELECT c.retired_at IS NOT NULL FROM statifier_charts AS c WHERE c.content_hash = $1"
	err = r.reader.QueryRow(ctx, sql, r.world.hash(chart)).Scan(&retired)
	return retired, err
}

// outcome is an answer in a word.
func outcome(err error) string {
	var (
		retired   *store.ChartRetiredError
		pinned    *store.PinnedError
		exists    *store.ExecutionExistsError
		isolation *store.IsolationError
		upgrade   *store.LockUpgradeError
		server    *pgconn.PgError
	)
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, store.ErrOutcomeUnknown):
		return "unknown"
	case errors.As(err, &retired):
		return "retired"
	case errors.As(err, &pinned):
		return "pinned"
	case errors.As(err, &exists):
		return "exists"
	case errors.As(err, &isolation):
		return "isolation"
	case errors.As(err, &upgrade):
		return "upgrade"
	case errors.Is(err, store.ErrChartNotFound):
		return "not found"
	case errors.As(err, &server):
		return server.Code
	}
	return "?"
}

// check holds a schedule that is over against what must always be.
func (r *run) check(ctx context.Context, t testing.TB) {
	t.Helper()
	slices.SortStableFunc(r.answers, func(a, b told) int { return strings.Compare(a.who.Name, b.who.Name) })
	for _, violated := range slices.Concat(r.stranded(ctx, t), r.wrongAnswers(), r.overlaps(), r.wrongRows(ctx)) {
		t.Errorf("%s\n%s\n%v", violated, r, r.answers)
	}
	words := make([]string, len(r.answers))
	for i, a := range r.answers {
		words[i] = a.String()
	}
	r.result.Outcomes[strings.Join(words, ", ")]++
}

// stranded: nothing needs a retired chart.
func (r *run) stranded(ctx context.Context, t testing.TB) []string {
	t.Helper()
	const sql = `
		SELECT count(*) FROM statifier_charts c WHERE c.content_hash = ANY ($1) AND c.retired_at IS NOT NULL AND (
			EXISTS (SELECT FROM statifier_executions e WHERE e.content_hash = c.content_hash AND e.status IN ('active', 'needs_migration'))
			OR EXISTS (SELECT FROM statifier_positions p WHERE p.content_hash = c.content_hash)
			OR EXISTS (SELECT FROM statifier_executions k
				JOIN statifier_executions p ON p.execution_id = k.metadata -> 'statifier_persistence' ->> 'parent_execution_id'
				WHERE k.metadata -> 'statifier_persistence' ->> 'content_hash' = c.content_hash
					AND p.status IN ('active', 'needs_migration')))`
	var hashes []string
	for _, chart := range r.scenario.Charts {
		hashes = append(hashes, r.world.hash(chart))
	}
	var charts int
	if err := r.watch.QueryRow(ctx, sql, hashes).Scan(&charts); err != nil {
		t.Fatal(err)
	}
	if charts > 0 {
		return []string{fmt.Sprintf("%d retired charts are still needed", charts)}
	}
	return nil
}

// wrongAnswers: what is told is so at once, and an error is one of those that the verb has.
func (r *run) wrongAnswers() (violations []string) {
	for _, a := range r.answers {
		if a.unseen != "" {
			violations = append(violations, fmt.Sprintf("%s: %s", a, a.unseen))
		}
		if !a.allowed() {
			violations = append(violations, fmt.Sprintf("%s: %v", a, a.err))
		}
	}
	return violations
}

func (a told) allowed() bool {
	higher := a.who.Host && a.who.Level != ""
	switch outcome(a.err) {
	case "ok":
		return true
	case "retired":
		return a.verb.class != free
	case "pinned":
		return a.verb.class == exclusive
	case "exists":
		return a.verb.creates()
	case "upgrade":
		return a.verb.class == exclusive && a.who.Host
	case "isolation":
		return higher
	case "40001":
		return higher && store.Retryable(a.err)
	case "40P01":
		return a.who.MayDeadlock && store.Retryable(a.err)
	}
	return false
}

// overlaps: while one session has retired a chart and not ended, no other has made a pin on it, read its tombstone or
// retired it, and not ended. That is all that the lock is for.
func (r *run) overlaps() (violations []string) {
	for _, a := range r.answers {
		for _, b := range r.answers {
			excludes := a.verb.class == exclusive && (b.verb.class == shared || b.verb.class == exclusive)
			if excludes && !a.verb.undone && !b.verb.undone && a.who != b.who && a.verb.chart == b.verb.chart && a.err == nil && b.err == nil && a.begin < b.end && b.begin < a.end {
				violations = append(violations, fmt.Sprintf("%s (%d to %d) and %s (%d to %d) overlap", a, a.begin, a.end, b, b.begin, b.end))
			}
		}
	}
	return violations
}

// wrongRows: a refusal has written nothing, a success stays, and a chart is retired once or not at all.
func (r *run) wrongRows(ctx context.Context) (violations []string) {
	created, retired := map[string]int{}, map[string]int{}
	for _, a := range r.answers {
		if a.committed && a.verb.creates() {
			created[a.verb.execution]++
		}
		if a.committed && a.verb.class == exclusive {
			retired[a.verb.chart]++
		}
	}
	for _, a := range r.answers {
		if a.verb.execution != "" && !r.given(a.verb.execution) {
			_, err := r.store.Execution(ctx, r.world.executionID(a.verb.execution))
			if n := created[a.verb.execution]; n > 1 || (n == 1) != (err == nil) {
				violations = append(violations, fmt.Sprintf("execution %s was created %d times, and reading it says %v", a.verb.execution, n, err))
			}
		}
	}
	for _, chart := range r.scenario.Charts {
		is, err := r.retired(ctx, chart)
		if n := retired[chart]; err != nil || n > 1 || is != (n == 1) {
			violations = append(violations, fmt.Sprintf("chart %s was retired %d times, and reading it says retired = %v, %v", chart, n, is, err))
		}
	}
	return violations
}

func (r *run) given(execution string) bool { return slices.Contains(r.scenario.Executions, execution) }
