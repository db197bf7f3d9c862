package pgtest

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Wire records what clients send, read from the messages themselves as they are written: pgx's tracer reports a batch in
// the order in which its results are read. When a call has returned, and as soon as an effect of it can be seen, all that it
// sent is recorded. One Wire may record several pools and connections.
type Wire struct {
	mu         sync.Mutex
	statements []Statement
	trips      int
}

// Statement is one execution: an Execute message with what was bound for it, or a whole Query message. A Query message may
// hold several statements (a batch in the simple protocol does) with their arguments written in; it is not taken apart.
type Statement struct {
	SQL        string
	Args       [][]byte // as they were sent; nil is NULL
	ArgFormats []int16  // as in the Bind message: none (all text), one for all, or one each
	Trip       int      // the round trip that it went in, counted from 1
}

// Record makes every connection that is opened record to w. It also stops the pool from pinging a connection that has lain
// idle for a second, which would show as a statement now and then.
func Record(w *Wire) Option {
	return func(c *pgxpool.Config) {
		c.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
		// Not DialFunc: that one comes before TLS, and dials for cancel requests as well.
		c.ConnConfig.AfterNetConnect = func(_ context.Context, _ *pgconn.Config, conn net.Conn) (net.Conn, error) {
			return &wireConn{Conn: conn, wire: w, sql: map[string]string{}, portals: map[string]Statement{}}, nil
		}
	}
}

// Statements are the executed statements, in the order in which they were sent, since the last Reset.
func (w *Wire) Statements() []Statement {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.statements)
}

// Trips counts the round trips since the last Reset: what ends in a Sync message, a trip that only prepares or deallocates
// included, or is one Query message. Connecting does not count.
func (w *Wire) Trips() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trips
}

// Reset forgets what was recorded. Statements that were prepared earlier are still known by their names.
func (w *Wire) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.statements, w.trips = nil, 0
}

// wireConn is a client's connection whose written bytes are read as well.
type wireConn struct {
	net.Conn
	wire    *Wire                // its mutex guards the rest
	started bool                 // the startup message has gone out
	unread  []byte               // its bytes are never written again: decoded messages keep parts of it
	sql     map[string]string    // by statement name
	portals map[string]Statement // what is bound, by portal name
	trip    int                  // the open one, or zero
}

// Write records before it sends, so that nobody can see an effect of a statement that is not recorded yet.
func (c *wireConn) Write(p []byte) (int, error) {
	if err := c.record(p); err != nil {
		return 0, fmt.Errorf("pgtest: record the wire: %w", err)
	}
	return c.Conn.Write(p)
}

// record reads the messages that are whole and keeps the rest for the next call.
func (c *wireConn) record(p []byte) error {
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	c.unread = append(c.unread, p...)
	for {
		kind, body, ok := c.next()
		if !ok {
			return nil
		}
		if err := c.message(kind, body); err != nil {
			return err
		}
	}
}

// next takes one whole message off what is unread: a type, but not in the first one, then a length that counts itself.
func (c *wireConn) next() (kind byte, body []byte, ok bool) {
	head := 1
	if !c.started {
		head = 0
	}
	if len(c.unread) < head+4 {
		return 0, nil, false
	}
	end := head + int(binary.BigEndian.Uint32(c.unread[head:]))
	if len(c.unread) < end {
		return 0, nil, false
	}
	if c.started {
		kind = c.unread[0]
	}
	body = c.unread[head+4 : end]
	c.unread = c.unread[end:]
	c.started = true
	return kind, body, true
}

// message takes note of one message. Those of the startup and of COPY belong to no trip.
func (c *wireConn) message(kind byte, body []byte) error {
	switch kind {
	case 'P':
		return c.parse(body)
	case 'B':
		return c.bind(body)
	case 'E':
		return c.execute(body)
	case 'Q':
		return c.query(body)
	case 'S':
		c.openTrip()
		c.trip = 0
	}
	return nil
}

func (c *wireConn) parse(body []byte) error {
	var m pgproto3.Parse
	if err := m.Decode(body); err != nil {
		return err
	}
	c.openTrip()
	c.sql[m.Name] = m.Query
	return nil
}

func (c *wireConn) bind(body []byte) error {
	var m pgproto3.Bind
	if err := m.Decode(body); err != nil {
		return err
	}
	c.openTrip()
	c.portals[m.DestinationPortal] = Statement{
		SQL: c.sql[m.PreparedStatement], Args: m.Parameters, ArgFormats: m.ParameterFormatCodes,
	}
	return nil
}

func (c *wireConn) execute(body []byte) error {
	var m pgproto3.Execute
	if err := m.Decode(body); err != nil {
		return err
	}
	c.append(c.portals[m.Portal])
	return nil
}

func (c *wireConn) query(body []byte) error {
	var m pgproto3.Query
	if err := m.Decode(body); err != nil {
		return err
	}
	c.append(Statement{SQL: m.String})
	c.trip = 0
	return nil
}

func (c *wireConn) append(s Statement) {
	c.openTrip()
	s.Trip = c.trip
	c.wire.statements = append(c.wire.statements, s)
}

// openTrip counts a trip at its first Parse, Bind or Execute, not at its Sync: each statement gets its number at once, and
// with two connections the right one.
func (c *wireConn) openTrip() {
	if c.trip == 0 {
		c.wire.trips++
		c.trip = c.wire.trips
	}
}
