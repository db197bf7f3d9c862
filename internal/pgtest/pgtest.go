// Package pgtest gives tests a Postgres server, and each test a database of its own on it.
//
// The server is the one that STATIGEN_TEST_DATABASE_URL names: the URL of a superuser, Postgres 13 or later; in PGDATABASE
// the maintenance database, by default the URL's. Without that variable the first [New] of a test binary starts a throwaway
// cluster, from the programs in the folder that STATIGEN_TEST_POSTGRES_BIN names, else from the newest Postgres on the
// machine; it is stopped and removed when the binary ends, however it ends. It stands in TMPDIR if that is set, else in
// memory if there is room, else in /tmp; its collation is C, and its time zone is far from UTC. A machine that has no
// server fails the test: one that is skipped for want of a server proves nothing and looks green.
//
// Two binaries, or two checkouts, may use one server at one time: the names of databases and roles carry the checkout, the
// process and a random word. On a server of one's own nothing is left behind by a test binary that returns from [Main]; one
// that is killed there leaves its databases (statigen_…).
package pgtest

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared is the server of this test binary, started when the first test asks for it.
var shared lazyServer

// Main runs a test binary's tests and stops the server that they started, if any. A package that calls [New] needs
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
func Main(m *testing.M) int {
	shared.open()
	code := m.Run()
	if err := shared.close(); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
		return max(code, 1)
	}
	return code
}

// lazyServer starts a server at most once, between open and close.
type lazyServer struct {
	mu     sync.Mutex
	opened bool
	start  func() (*server, error)
	server *server
}

func (l *lazyServer) open() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opened, l.start = true, sync.OnceValues(startServer)
}

// get is the server, or, to every test that asks, the same reason why there is none.
func (l *lazyServer) get() (*server, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.opened {
		return nil, errors.New("no server outside of Main: the package needs " +
			"func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }")
	}
	s, err := l.start()
	l.server = s
	return s, err
}

func (l *lazyServer) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opened = false
	if l.server == nil {
		return nil
	}
	return l.server.close()
}
