package pgtest

import (
	_ "embed"
	"errors"
	"sync"
	"testing"
)

// standbyScript is a standby's watchdog; it makes the standby first.
//
//go:embed standby.sh
var standbyScript string

// Standby makes a database that holds schemaSQL on a primary, and returns it as it is there and on a hot standby that
// streams from it. Both servers are throwaway ones of the test's own, whatever server the other tests use, and end with it.
func Standby(t testing.TB, schemaSQL string) (primary, standby *DB) {
	t.Helper()
	c, err := startCluster()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	follower, err := startStandby(c)
	if err != nil {
		t.Fatalf("pgtest: %v", errors.Join(err, c.stop()))
	}
	// A cluster that no server could be made of is stopped already.
	primary = clusterDB(t, c, func(s *server) (*DB, error) { return onServer(s).database(schemaSQL) })
	standby = clusterDB(t, follower, func(s *server) (*DB, error) { return &DB{server: s, name: primary.name, patience: patience}, nil })
	AwaitReplay(t, primary, standby)
	return primary, standby
}

// startStandby starts a standby of a cluster that nobody is connected to yet.
func startStandby(primary cluster) (cluster, error) {
	bin, err := findBin()
	if err != nil {
		return cluster{}, err
	}
	cmd, err := watchdogCommand(standbyScript, bin)
	if err != nil {
		return cluster{}, err
	}
	cmd.Args[len(cmd.Args)-1] = primary.folder // it stands beside its primary, wherever that is
	running, err := runThrowaway(cmd, 18*patience)
	return cluster{running}, err
}

// clusterDB makes a database on a cluster that ends with the test.
func clusterDB(t testing.TB, c cluster, database func(*server) (*DB, error)) *DB {
	t.Helper()
	s, err := newServer(c.url(), c.stop)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	d, err := database(s)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return d
}

// onServer gives out a server that runs.
func onServer(s *server) *lazyServer {
	return &lazyServer{opened: true, start: sync.OnceValues(func() (*server, error) { return s, nil })}
}

// AwaitReplay waits until the standby shows all that the primary has committed. Where the primary will insert next is no
// place to wait for: it can stand behind the head of a page that has nothing in it yet.
func AwaitReplay(t testing.TB, primary, standby *DB) {
	t.Helper()
	ctx, cancel := bounded()
	defer cancel()
	var written string
	if err := primary.server.admin.QueryRow(ctx, "SELECT pg_catalog.pg_current_wal_flush_lsn()").Scan(&written); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	Await(t, "the standby to replay "+written, func() bool {
		var replayed bool
		const sql = "SELECT pg_catalog.pg_last_wal_replay_lsn() >= $1::text::pg_catalog.pg_lsn"
		err := standby.server.admin.QueryRow(ctx, sql, written).Scan(&replayed)
		return err == nil && replayed
	})
}
