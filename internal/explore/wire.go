package explore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/internal/pgtest"
)

// through makes every connection pause at the gate before each statement that takes a lock or touches a table, and
// before what ends a transaction. The statements of a batch go out one by one, each when the server is done with the one
// before, though the client has sent them all: a pipeline is only a convenience, and the server takes it apart just so.
func through(g *gate) pgtest.Option {
	return func(c *pgxpool.Config) {
		c.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
		c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec // no trip of its own to prepare
		c.ConnConfig.AfterNetConnect = func(_ context.Context, _ *pgconn.Config, server net.Conn) (net.Conn, error) {
			client, inside, err := loopback()
			if err != nil {
				return nil, err
			}
			w := &wire{gate: g, client: inside, server: server, statements: map[string]string{}, locks: map[string]bool{}, done: map[event]int{}, status: 'I'}
			w.answered = sync.NewCond(&w.mu)
			go w.up()
			go w.down()
			return client, nil
		}
	}
}

// loopback is a connection and its other end. A net.Pipe has no buffer, and the client writes a whole batch before it reads.
func loopback() (one, other net.Conn, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	if one, err = net.Dial("tcp", l.Addr().String()); err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	other, err = l.Accept()
	return one, other, errors.Join(err, l.Close())
}

// wire stands between a client and the server.
type wire struct {
	gate           *gate
	client, server net.Conn

	statements map[string]string // SQL by the statement's name
	next       string            // the SQL that the next Execute runs
	arguments  string            // and with what
	locks      map[string]bool   // the lock statements of the transaction that runs

	mu       sync.Mutex
	answered *sync.Cond
	done     map[event]int
	status   byte // of the transaction, at the end of the last trip
	failed   bool // the server passes over the rest of the trip
	closed   bool
}

// event is what the server is done with.
type event int

const (
	statementDone event = iota
	tripDone
)

// up hands on what the client sends.
func (w *wire) up() {
	defer w.close()
	backend := pgproto3.NewBackend(w.client, nil)
	startup, err := backend.ReceiveStartupMessage()
	if err != nil || w.send(startup) != nil {
		return
	}
	for {
		m, err := backend.Receive()
		if err != nil || w.message(m) != nil {
			return
		}
	}
}

func (w *wire) message(m pgproto3.FrontendMessage) error {
	switch m := m.(type) {
	case *pgproto3.Parse:
		w.statements[m.Name] = m.Query
	case *pgproto3.Bind:
		w.next, w.arguments = w.statements[m.PreparedStatement], fmt.Sprintf("%q", m.Parameters)
	case *pgproto3.Execute:
		return w.statement(w.step(w.next, w.arguments), statementDone, m, &pgproto3.Flush{})
	case *pgproto3.Query:
		return w.statement(w.step(m.String, ""), tripDone, m)
	case *pgproto3.Sync:
		return w.sync(m)
	}
	return w.send(m)
}

// statement sends one statement when the gate lets it, and waits until the server is done with it. Behind one that failed
// the server does nothing more, and there is nothing to wait for.
func (w *wire) statement(step string, until event, messages ...pgproto3.FrontendMessage) error {
	w.mu.Lock()
	failed := w.failed
	w.mu.Unlock()
	if failed {
		return w.send(messages[0])
	}
	if step != "" {
		w.gate.pause(step)
	}
	return w.await(until, messages...)
}

// sync ends a trip. Outside a transaction of the client's that is a commit, and a step, if the trip got that far.
func (w *wire) sync(m pgproto3.FrontendMessage) error {
	w.mu.Lock()
	commits := w.status == 'I' && !w.failed
	w.mu.Unlock()
	if commits && w.next != "" {
		w.gate.pause("commit")
	}
	w.next = ""
	return w.await(tripDone, m)
}

// await sends the messages and waits until the server has answered them.
func (w *wire) await(until event, messages ...pgproto3.FrontendMessage) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.done[until]
	if err := w.send(messages...); err != nil {
		return err
	}
	for w.done[until] == before && !w.closed {
		w.answered.Wait()
	}
	if w.closed {
		return net.ErrClosed // or what the client has sent already would be taken for steps
	}
	return nil
}

func (w *wire) send(messages ...pgproto3.FrontendMessage) error {
	var bytes []byte
	var err error
	for _, m := range messages {
		if bytes, err = m.Encode(bytes); err != nil {
			return err
		}
	}
	_, err = w.server.Write(bytes)
	return err
}

// down hands on what the server answers, and takes note of what it is done with.
func (w *wire) down() {
	defer w.close()
	frontend := pgproto3.NewFrontend(w.server, nil)
	for {
		m, err := frontend.Receive()
		if err != nil {
			return
		}
		bytes, err := m.Encode(nil)
		if err != nil {
			return
		}
		w.note(m)
		if _, err := w.client.Write(bytes); err != nil {
			return
		}
	}
}

func (w *wire) note(m pgproto3.BackendMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch m := m.(type) {
	case *pgproto3.CommandComplete, *pgproto3.EmptyQueryResponse:
		w.done[statementDone]++
	case *pgproto3.ErrorResponse:
		w.failed = true
		w.done[statementDone]++
	case *pgproto3.ReadyForQuery:
		w.status, w.failed = m.TxStatus, false
		if w.status != 'T' {
			clear(w.locks)
		}
		w.done[tripDone]++
	}
	w.answered.Broadcast()
}

func (w *wire) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.answered.Broadcast()
	_ = w.client.Close() // twice, from both directions
	_ = w.server.Close()
}

// step names the step that a statement is, or is empty for one that no other session can notice: that puts a setting back,
// sets a savepoint, ends a transaction which the server has ended, or takes a lock that the transaction holds already.
func (w *wire) step(sql, arguments string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := nameOf(sql)
	switch {
	case name == "commit", name == "rollback":
		if w.status == 'E' {
			return ""
		}
	case strings.HasPrefix(sql, "rollback to"):
		clear(w.locks)
	case strings.HasPrefix(name, "Lock"):
		if w.locks[name+arguments] {
			return ""
		}
		w.locks[name+arguments] = w.status == 'T'
	}
	return name
}

var named = regexp.MustCompile(`^-- name: (\w+) `)

func nameOf(sql string) string {
	if m := named.FindStringSubmatch(sql); m != nil {
		if strings.HasPrefix(m[1], "Restore") || m[1] == "SetLockTimeout" {
			return ""
		}
		return m[1]
	}
	if sql == "commit" || sql == "rollback" {
		return sql
	}
	return ""
}
