package pgtest

import (
	"testing"
	"time"
)

// DB is a database that one test has for itself.
type DB struct {
	server   *server
	name     string
	patience time.Duration // how long a leftover has to go away
}

// New makes a database for the test from a template that holds schemaSQL ("" for an empty one). The template is made once
// in a test binary for each text. At the test's end, when what was opened through the DB is closed, the database is dropped,
// and the test fails if an advisory lock is left in it.
func New(t testing.TB, schemaSQL string) *DB {
	t.Helper()
	return shared.newDB(t, schemaSQL)
}

func (l *lazyServer) newDB(t testing.TB, schemaSQL string) *DB {
	t.Helper()
	d, err := l.database(schemaSQL)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() { d.end(t) })
	return d
}

func (l *lazyServer) database(schemaSQL string) (*DB, error) {
	s, err := l.get()
	if err != nil {
		return nil, err
	}
	template, err := s.template(schemaSQL)
	if err != nil {
		return nil, err
	}
	d := &DB{server: s, name: s.name("d"), patience: patience}
	return d, s.createDatabase(d.name, template)
}

// end looks for leftovers for a while: a backend whose client has gone needs a moment to notice.
func (d *DB) end(t testing.TB) {
	t.Helper()
	defer d.drop(t)
	var left []string
	if !within(d.patience, func() bool { left = d.advisoryLocks(t); return len(left) == 0 }) {
		t.Errorf("pgtest: advisory locks are left at the test's end: %q", left)
	}
}

func (d *DB) drop(t testing.TB) {
	t.Helper()
	if err := d.server.dropDatabase(d.name); err != nil {
		t.Errorf("pgtest: %v", err)
	}
}

// Name is the database's name.
func (d *DB) Name() string { return d.name }

// URL is a URL that connects to the database as a superuser.
func (d *DB) URL() string { return withDatabase(d.server.url, d.name).String() }
