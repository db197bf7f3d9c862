package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/templates/internal/db"
)

// SaveChart stores a chart. A chart that is stored already is left as it is, its first saver's leading columns
// included, so saving twice is saving once; a retired one answers *ChartRetiredError.
//
// It locks the chart, shared, and waits for a retirement or another save of the same chart that is under way. One
// round trip. It answers *RowSecurityError if a tombstone could be hidden from the role. In a host's transaction at a
// higher level than READ COMMITTED it fails with 40001 if the chart was saved or retired after the transaction's
// snapshot. A retry is safe.
func (s *Store) SaveChart(ctx context.Context, c Chart) error {
	op := fmt.Sprintf("save chart %q", c.ContentHash)
	if err := c.check(); err != nil {
		return &opError{op, err}
	}
	params := saveChartParams(c)
	_, err := alone(ctx, s, op, func(s *Store) (struct{}, error) { return struct{}{}, s.save(ctx, op, params) })
	return err
}

func (s *Store) save(ctx context.Context, op string, params db.SaveChartParams) error {
	shared := db.Shared(s.conn, params.ContentHash, s.wait)
	for range tries {
		row, err := shared.SaveChart(ctx, params)
		if err != nil {
			return s.failed(op, err)
		}
		err = decided(op, params.ContentHash, row.Filtered, row.RetiredAt, row.RetiredBy)
		if err != nil || row.Stored {
			return err
		}
		// Somebody else's save was committed while this one ran: look again.
	}
	return &opError{op, errReasonGone}
}

// Chart returns a chart: ErrChartNotFound if there is none, *ChartRetiredError if it is retired.
//
// It locks nothing and waits for nothing, so a retirement may have come in between when the answer arrives.
// One round trip.
func (s *Store) Chart(ctx context.Context, contentHash string) (Chart, error) {
	op := fmt.Sprintf("read chart %q", contentHash)
	if err := checkText("ContentHash", contentHash); err != nil {
		return Chart{}, &opError{op, err}
	}
	return aloneReading(ctx, s, op, func(s *Store) (Chart, error) {
		row, err := db.Reads(s.conn).Chart(ctx, db.ChartParams{ContentHash: contentHash})
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return Chart{}, &opError{op, ErrChartNotFound}
		case err != nil:
			return Chart{}, s.failedRead(op, err)
		case row.RetiredAt != nil:
			return Chart{}, &opError{op, retired(contentHash, *row.RetiredAt, row.RetiredBy)}
		}
		return chartFromRow(row), nil
	})
}

// Retirement reads a chart's tombstone and says whether there is one. A chart that is not stored has none.
//
// It locks the chart, shared, and waits for a retirement of the same chart that is under way: in a host's
// transaction "not retired" stays true until that transaction ends (not so on a hot standby, whose locks the primary
// does not see). One round trip. It answers *RowSecurityError if a tombstone could be hidden from the role. In a
// host's transaction at a higher level than READ COMMITTED it takes a second round trip, which needs the UPDATE
// privilege on the charts table; it answers *IsolationError if the snapshot does not show the chart or the transaction
// is read-only, and fails with 40001 if the chart was retired after the snapshot.
func (s *Store) Retirement(ctx context.Context, contentHash string) (Retirement, bool, error) {
	op := fmt.Sprintf("read the retirement of chart %q", contentHash)
	if err := checkText("ContentHash", contentHash); err != nil {
		return Retirement{}, false, &opError{op, err}
	}
	_, err := aloneReading(ctx, s, op, func(s *Store) (struct{}, error) {
		return struct{}{}, s.notRetired(ctx, op, contentHash)
	})
	var tombstone *ChartRetiredError
	if errors.As(err, &tombstone) {
		return Retirement(*tombstone), true, nil
	}
	return Retirement{}, false, err
}

// notRetired answers nil only if the chart is not retired and, in a host's transaction, cannot be before its end.
func (s *Store) notRetired(ctx context.Context, op, contentHash string) error {
	shared := db.Shared(s.conn, contentHash, s.wait)
	row, err := shared.ChartState(ctx, db.ChartStateParams{ContentHash: contentHash})
	if err != nil {
		return s.failedRead(op, err)
	}
	err = decided(op, contentHash, row.Filtered, row.RetiredAt, row.RetiredBy)
	if err != nil || row.ReadCommitted {
		return err
	}
	if !s.conn.InHostTx() || !row.Known || row.ReadOnly {
		return &opError{op, &IsolationError{contentHash, row.Isolation}}
	}
	_, err = shared.ChartStateForShare(ctx, db.ChartStateForShareParams{ContentHash: contentHash})
	return s.failedRead(op, err)
}

// decided turns what a statement saw of a chart into an error. A tombstone that is seen is final, so it counts
// even where row-level security hides other rows.
func decided(op, contentHash, filtered string, at *time.Time, by *string) error {
	switch {
	case at != nil:
		return &opError{op, retired(contentHash, *at, by)}
	case filtered != "":
		return &opError{op, &RowSecurityError{contentHash, filtered}}
	}
	return nil
}

func retired(contentHash string, at time.Time, by *string) *ChartRetiredError {
	e := &ChartRetiredError{ContentHash: contentHash, RetiredAt: at}
	if by != nil {
		e.RetiredBy = *by
	}
	return e
}
