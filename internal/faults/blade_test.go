package faults

import (
	"context"
	"io"
	"math"
	"net"
	"sync"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// direction is which way bytes go.
type direction int

const (
	toServer direction = iota
	toClient
)

func (d direction) String() string { return [...]string{"to the server", "to the client"}[d] }

// blade cuts the first connection that is opened with it, and no other: a pool whose connection is gone opens the next.
type blade struct {
	direction direction
	reset     bool // the client is told at once, in the middle of a write; else it learns from the end of what it reads

	mu     sync.Mutex
	taken  bool
	armed  bool
	after  int // how many bytes may pass in the direction
	passed [2]int
	cut    bool
}

// option lets the blade have a pool's first connection. Nothing but the verb is to go over it.
func (b *blade) option(c *pgxpool.Config) {
	c.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	c.ConnConfig.AfterNetConnect = func(_ context.Context, _ *pgconn.Config, conn net.Conn) (net.Conn, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.taken {
			return conn, nil
		}
		b.taken = true
		return &bladed{conn, b}, nil
	}
}

// arm counts from here on.
func (b *blade) arm(after int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.armed, b.after, b.passed = true, after, [2]int{}
}

// disarm counts no more: a pool says goodbye to a connection that it closes.
func (b *blade) disarm() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.armed = false
}

// room is how many bytes may pass still.
func (b *blade) room(d direction) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.cut:
		return 0
	case !b.armed || d != b.direction:
		return math.MaxInt
	}
	return b.after - b.passed[d]
}

func (b *blade) pass(d direction, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.armed {
		b.passed[d] += n
	}
}

func (b *blade) sever() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cut = true
}

func (b *blade) severed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cut
}

// end is what a client reads from a connection that is cut.
func (b *blade) end() error {
	if b.reset {
		return syscall.ECONNRESET
	}
	return io.EOF
}

// bladed is the client's end of the connection that is cut.
type bladed struct {
	net.Conn
	blade *blade
}

// Write hands on as much as may pass. The rest is lost, as it is in a network's buffers: nobody tells the client yet. Or
// the client is told how much went out; if that was nothing, it knows that nothing has happened.
func (c *bladed) Write(p []byte) (int, error) {
	n := min(len(p), c.blade.room(toServer))
	if n > 0 {
		if n, err := c.Conn.Write(p[:n]); err != nil {
			return n, err
		}
		c.blade.pass(toServer, n)
	}
	if c.blade.room(toServer) > 0 {
		return n, nil
	}
	c.sever()
	if c.blade.reset && n < len(p) {
		return n, c.blade.end()
	}
	return len(p), nil
}

// Read hands on as much as may pass, and cuts when there is more: the server has answered, so it is done with what the
// answer is about.
func (c *bladed) Read(p []byte) (int, error) {
	room := c.blade.room(toClient)
	if room > 0 {
		n, err := c.Conn.Read(p[:min(len(p), room)])
		c.blade.pass(toClient, n)
		return n, err
	}
	if !c.blade.severed() {
		_, _ = c.Conn.Read(p[:1]) // of an answer that does not come the cut is the end as well
		c.sever()
	}
	_, _ = io.Copy(io.Discard, c.Conn) // the server's end: it has then done all that it will
	return 0, c.blade.end()
}

// sever ends what the server reads. It answers what has reached it, to nobody, and goes. The client's cancel request, which
// comes over a connection of its own, is to come too late.
func (c *bladed) sever() {
	c.blade.sever()
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // perhaps not for the first time
	}
}
