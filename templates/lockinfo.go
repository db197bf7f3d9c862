package store

import (
	"context"
	"fmt"
	"time"

	"github.com/statigen/statigen/templates/internal/db"
)

// LockInfo is who holds a chart's lock, and who waits for it.
type LockInfo struct {
	ContentHash string
	Keys        []int32 // the second keys, as the server computes them; the first is Namespace
	Sessions    []LockSession
}

// LockSession is a server session that holds one of the keys or waits for it.
type LockSession struct {
	Key         int32
	PID         int32
	Application string // its application_name
	Exclusive   bool   // a retirement; else a reader or a create
	Granted     bool   // holds the lock; else waits for it
	Waiting     time.Duration
	Transaction time.Duration // how old its transaction is
	BlockedBy   []int32       // the sessions that it waits for
}

// LockInfo says who holds a chart's lock and who waits for it, at the moment. It locks nothing and waits for nothing. One
// round trip. Other roles' sessions show their application and transaction only to a member of pg_read_all_stats.
func (s *Store) LockInfo(ctx context.Context, contentHash string) (LockInfo, error) {
	op := fmt.Sprintf("look at the lock of chart %q", contentHash)
	if err := checkText("ContentHash", contentHash); err != nil {
		return LockInfo{}, &opError{op, err}
	}
	return aloneReading(ctx, s, op, func(s *Store) (LockInfo, error) {
		rows, err := db.Reads(s.conn).LockInfo(ctx, db.LockInfoParams{ContentHash: contentHash})
		if err != nil {
			return LockInfo{}, s.failedRead(op, err)
		}
		return lockInfo(contentHash, rows), nil
	})
}

func lockInfo(contentHash string, rows []db.LockInfoRow) LockInfo {
	info := LockInfo{ContentHash: contentHash}
	for i, row := range rows {
		if i == 0 || rows[i-1].Key != row.Key {
			info.Keys = append(info.Keys, row.Key)
		}
		if row.Pid == 0 {
			continue // nobody is at this key
		}
		info.Sessions = append(info.Sessions, LockSession{
			Key: row.Key, PID: row.Pid, Application: row.Application, Exclusive: row.Exclusive, Granted: row.Granted,
			Waiting: seconds(row.Waiting), Transaction: seconds(row.Transaction), BlockedBy: row.BlockedBy,
		})
	}
	return info
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
