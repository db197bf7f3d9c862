package pgtest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
)

// template names a database that holds the schema and that nobody is connected to. It is made once for each text.
func (s *server) template(schemaSQL string) (string, error) {
	if schemaSQL == "" {
		return "template0", nil
	}
	s.mu.Lock()
	made, ok := s.templates[schemaSQL]
	if !ok {
		made = sync.OnceValues(func() (string, error) { return s.makeTemplate(schemaSQL) })
		s.templates[schemaSQL] = made
	}
	s.mu.Unlock()
	return made()
}

// makeTemplate closes the database to connections when the schema is in: CREATE DATABASE refuses a template in use.
func (s *server) makeTemplate(schemaSQL string) (string, error) {
	name := s.name("t")
	if err := s.createDatabase(name, "template0"); err != nil {
		return "", err
	}
	if err := s.fillTemplate(name, schemaSQL); err != nil {
		_ = s.dropDatabase(name) // the schema's fault is what the test has to show
		return "", fmt.Errorf("make a template: %w", err)
	}
	return name, nil
}

func (s *server) fillTemplate(name, schemaSQL string) error {
	if err := s.applySchema(name, schemaSQL); err != nil {
		return err
	}
	s.settle(name)
	return s.exec("ALTER DATABASE " + quote(name) + " ALLOW_CONNECTIONS false")
}

func (s *server) applySchema(database, schemaSQL string) error {
	ctx, cancel := bounded()
	defer cancel()
	conn, err := pgx.Connect(ctx, withDatabase(s.url, database).String())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, schemaSQL, pgx.QueryExecModeSimpleProtocol)
	return err
}

func (s *server) dropTemplates() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failed error
	for _, made := range s.templates {
		if name, err := made(); err == nil { // else it was dropped where it failed
			failed = errors.Join(failed, s.dropDatabase(name))
		}
	}
	return failed
}

// createDatabase asks for UTF8, on which the lock keys depend, and for nothing else: a given server keeps its collation.
func (s *server) createDatabase(name, template string) error {
	err := s.exec("CREATE DATABASE " + quote(name) + " ENCODING 'UTF8' TEMPLATE " + quote(template))
	if err != nil {
		return fmt.Errorf("create a database: %w", err)
	}
	return nil
}

// dropDatabase throws out whoever is still connected.
func (s *server) dropDatabase(name string) error {
	s.settle(name)
	if err := s.exec("DROP DATABASE IF EXISTS " + quote(name) + " WITH (FORCE)"); err != nil {
		return fmt.Errorf("drop a database: %w", err)
	}
	return nil
}

// settle gives backends whose clients have gone a moment to end. CREATE and DROP DATABASE wait for them as well, but look
// only every tenth of a second.
func (s *server) settle(database string) {
	ctx, cancel := bounded()
	defer cancel()
	const sql = "SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE datname = $1"
	within(50*pause, func() bool {
		var backends int
		err := s.admin.QueryRow(ctx, sql, database).Scan(&backends)
		return err != nil || backends == 0
	})
}

func quote(identifier string) string { return pgx.Identifier{identifier}.Sanitize() }
