package pgtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// urlVariable names the server to use instead of a throwaway one.
const urlVariable = "STATIGEN_TEST_DATABASE_URL"

// server is the server that all tests of a binary share, seen from its maintenance database.
type server struct {
	url    *url.URL // of the maintenance database, as a superuser
	admin  *pgxpool.Pool
	prefix string // of every database and role made here
	serial atomic.Int64
	halt   func() error // stops the server, if it is ours

	mu        sync.Mutex
	templates map[string]func() (string, error) // by schema text; each makes its template once
}

// startServer connects to the server that the environment names, or starts one.
func startServer() (*server, error) {
	if given := os.Getenv(urlVariable); given != "" {
		u, err := maintenanceURL(given)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", urlVariable, err)
		}
		s, err := newServer(u, func() error { return nil })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", urlVariable, err)
		}
		return s, nil
	}
	c, err := startCluster()
	if err != nil {
		return nil, err
	}
	return newServer(c.url(), c.stop)
}

// maintenanceURL is the given URL with the database that PGDATABASE names, else with its own, else with "postgres".
func maintenanceURL(given string) (*url.URL, error) {
	config, err := pgx.ParseConfig(given)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(given)
	if err != nil || !strings.HasPrefix(u.Scheme, "postgres") {
		return nil, errors.New("want a URL, postgres://…")
	}
	return withDatabase(u, cmp.Or(os.Getenv("PGDATABASE"), config.Database, "postgres")), nil
}

func withDatabase(u *url.URL, name string) *url.URL {
	other := *u
	query := u.Query()
	query.Del("dbname") // both would win over the path
	query.Del("database")
	other.Path, other.RawPath, other.RawQuery = "/"+name, "", query.Encode()
	return &other
}

// newServer connects to a running server; if it cannot, it halts it.
func newServer(u *url.URL, halt func() error) (*server, error) {
	s := &server{url: u, halt: halt, prefix: namePrefix(), templates: map[string]func() (string, error){}}
	ctx, cancel := bounded()
	defer cancel()
	if err := s.connect(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("connect to the maintenance database: %w", err), halt())
	}
	return s, nil
}

func (s *server) connect(ctx context.Context) error {
	pool, err := pgxpool.New(ctx, s.url.String())
	if err != nil {
		return err
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return err
	}
	s.admin = pool
	return nil
}

// close drops the templates and stops the server if it is ours. Every test has dropped its own database already.
func (s *server) close() error {
	err := s.dropTemplates()
	s.admin.Close()
	return errors.Join(err, s.halt())
}

// exec runs one statement in the maintenance database.
func (s *server) exec(sql string) error {
	ctx, cancel := bounded()
	defer cancel()
	_, err := s.admin.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
	return err
}

// bounded is the context of everything done on the server: a server that hangs fails the test and does not hang it.
func bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 6*patience)
}

// name is new in the whole cluster, and needs no quotes.
func (s *server) name(kind string) string {
	return fmt.Sprintf("%s_%s%d", s.prefix, kind, s.serial.Add(1))
}

// namePrefix tells apart all that use one server at one time: the checkout, the process, and a random word for two
// containers that have both in common.
func namePrefix() string {
	hash := sha256.Sum256([]byte(checkout()))
	word := strings.ToLower(rand.Text()[:6])
	return fmt.Sprintf("statigen_%x_%d_%s", hash[:4], os.Getpid(), word)
}

// checkout is the folder of the module that is tested: go test starts a test binary in its package's folder.
func checkout() string {
	start, err := os.Getwd()
	if err != nil {
		return ""
	}
	for dir := start; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	return start
}
