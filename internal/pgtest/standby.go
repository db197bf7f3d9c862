package pgtest

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// standbyWatchdog makes a standby of a cluster and runs it, as watchdog does the cluster.
//
//go:embed standby.sh
var standbyWatchdog string

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
func startStandby(primary *cluster) (*cluster, error) {
	bin, err := primary.programs()
	if err != nil {
		return nil, err
	}
	cmd, err := watchdogCommand(bin)
	if err != nil {
		return nil, err
	}
	// All but the script and its arguments is the same.
	cmd.Args = exec.Command("sh", "-c", standbyWatchdog, "standby", bin, primary.folder).Args
	return runCluster(cmd, 18*patience)
}

// programs is the folder of the programs that the cluster runs, from the note that its server left of how it was started.
func (c *cluster) programs() (string, error) {
	const note = "postmaster.opts"
	started, err := os.ReadFile(filepath.Join(c.folder, "data", note))
	if err != nil {
		return "", err
	}
	program, _, ok := strings.Cut(string(started), ` "`)
	if !ok {
		return "", fmt.Errorf("%s says %q", note, started)
	}
	return filepath.Dir(program), nil
}

// clusterDB makes a database on a cluster that ends with the test.
func clusterDB(t testing.TB, c *cluster, database func(*server) (*DB, error)) *DB {
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

// AwaitReplay waits until the standby shows all that the primary has committed.
func AwaitReplay(t testing.TB, primary, standby *DB) {
	t.Helper()
	ctx, cancel := bounded()
	defer cancel()
	var written string
	if err := primary.server.admin.QueryRow(ctx, "SELECT pg_catalog.pg_current_wal_insert_lsn()").Scan(&written); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	Await(t, "the standby to replay "+written, func() bool {
		var replayed bool
		const sql = "SELECT pg_catalog.pg_last_wal_replay_lsn() >= $1::text::pg_catalog.pg_lsn"
		err := standby.server.admin.QueryRow(ctx, sql, written).Scan(&replayed)
		return err == nil && replayed
	})
}
