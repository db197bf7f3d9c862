package store

import (
	"context"
	"fmt"
	"time"

	"github.com/statigen/statigen/templates/internal/db"
)

// DefaultRetireLockTimeout is how long RetireChart waits for a lock unless told otherwise.
const DefaultRetireLockTimeout = 5 * time.Second

// RetireOptions says who retires a chart, and how.
type RetireOptions struct {
	// By is who retires the chart; it must not be empty.
	By string

	// LockTimeout bounds each lock wait, the chart's and the tombstone row's; zero is DefaultRetireLockTimeout,
	// negative is no bound. It is rounded up to whole milliseconds. While a retirement waits, later creates on
	// the chart wait behind it; but a bound shorter than the transactions that create never gets its turn. What
	// it does not bound is said at WithLockTimeout.
	LockTimeout time.Duration

	// AllowUpgrade tries to retire a chart whose shared lock the host's transaction holds. It never waits: if
	// another transaction holds the lock as well, the answer is *LockUpgradeError all the same. Under the lock
	// key "both" such an answer may leave one of the two keys locked to the transaction's end.
	AllowUpgrade bool
}

// RetireChart writes a chart's tombstone: its blobs are gone for good, and nothing can be created on it. It
// refuses, and writes nothing, with ErrChartNotFound; *ChartRetiredError (somebody was first); *PinnedError (an
// active or parked execution, a position, or a child of a live parent still needs it); *LockTimeoutError;
// *RowSecurityError if a pin could be hidden from the role.
//
// It locks the chart, exclusively, and waits for every transaction that has read it as not retired or has put
// an execution on it. One round trip, whatever the answer; refused or not, a host's transaction keeps the lock to its
// end. There it also answers
// *IsolationError at a higher level than READ COMMITTED, and *LockUpgradeError if the transaction holds the
// chart's shared lock; neither waits, and like a lock timeout they leave the transaction usable.
//
// A retry after an unknown outcome finds *ChartRetiredError if the first try was carried out.
func (s *Store) RetireChart(ctx context.Context, contentHash string, opts RetireOptions) (Retirement, error) {
	op := fmt.Sprintf("retire chart %q", contentHash)
	if err := checkText("ContentHash", contentHash); err != nil {
		return Retirement{}, &opError{op, err}
	}
	if err := checkText("By", opts.By); err != nil {
		return Retirement{}, &opError{op, err}
	}
	if opts.LockTimeout == 0 {
		opts.LockTimeout = DefaultRetireLockTimeout
	}
	bounded := *s
	bounded.wait = db.Wait(opts.LockTimeout)
	return alone(ctx, &bounded, op, func(s *Store) (Retirement, error) {
		return s.retire(ctx, op, contentHash, opts)
	})
}

// tries is how often a verb asks again when the reason for a refusal was gone by the time it was read.
const tries = 3

func (s *Store) retire(ctx context.Context, op, contentHash string, opts RetireOptions) (Retirement, error) {
	exclusive := db.Exclusive(s.conn, contentHash, s.wait, opts.AllowUpgrade)
	params := db.RetireChartParams{ContentHash: contentHash, RetiredBy: opts.By, Most: MaxPinCount + 1}
	for range tries {
		row, err := exclusive.RetireChart(ctx, params)
		if err != nil {
			return Retirement{}, s.failed(op, err)
		}
		if row.Retired {
			return Retirement{contentHash, *row.RetiredAt, opts.By}, nil
		}
		if err := refusedRetirement(op, contentHash, row); err != nil {
			return Retirement{}, err
		}
	}
	return Retirement{}, &opError{op, errReasonGone}
}

// refusedRetirement says why the statement wrote nothing, or nil if it does not know: a writer that takes no
// chart lock changed the row under it.
func refusedRetirement(op, contentHash string, row db.RetireChartRow) error {
	switch row.Lock {
	case "isolation":
		return &opError{op, &IsolationError{contentHash, row.Isolation}}
	case "upgrade", "busy":
		return &opError{op, &LockUpgradeError{contentHash, row.Lock == "busy"}}
	}
	if err := decided(op, contentHash, row.Filtered, row.RetiredAt, row.RetiredBy); err != nil {
		return err
	}
	if !row.Known {
		return &opError{op, ErrChartNotFound}
	}
	if counts := pinCounts(row); counts.pin() {
		return &opError{op, &PinnedError{contentHash, counts}}
	}
	return nil
}

func (c PinCounts) pin() bool {
	return c.Active > 0 || c.NeedsMigration > 0 || c.Children > 0 || c.Positions > 0
}

func pinCounts(row db.RetireChartRow) PinCounts {
	capped := func(n int64) int64 { return min(n, MaxPinCount) }
	return PinCounts{
		ExecutionCounts: ExecutionCounts{
			Active: capped(row.Active), NeedsMigration: capped(row.NeedsMigration), Completed: capped(row.Completed),
			Failed: capped(row.Failed), Cancelled: capped(row.Cancelled), Children: capped(row.Children),
		},
		Positions: capped(row.Positions),
		More:      row.More,
	}
}
