package migrations

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/golang-migrate/migrate/v4"
	migratepgx "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // database/sql's pgx, which goose and golang-migrate use
	ternmigrate "github.com/jackc/tern/v2/migrate"
	gooselib "github.com/pressly/goose/v3"

	"github.com/statigen/statigen/internal/pgtest"
)

// tool is a migration tool as its library has it: all the way up, all the way down to what a number of the folder's first
// migrations made.
type tool struct {
	format   string
	up       func(*testing.T, *pgtest.DB, fs.FS) error
	downTo   func(*testing.T, *pgtest.DB, fs.FS, int) error
	versions string // the table in which it keeps them
}

func tools() []tool {
	return []tool{
		{"goose", gooseUp, gooseDown, "goose_db_version"},
		{"golang-migrate", migrateUp, migrateDown, "schema_migrations"},
		{"tern", ternUp, ternTo, "schema_version"},
		{"sql", runUp, runDown, ""},
	}
}

// fsys is the folder as a tool gets it.
func (f folder) fsys() fs.FS {
	files := fstest.MapFS{}
	for name, text := range f {
		files[name] = &fstest.MapFile{Data: text}
	}
	return files
}

func openSQL(t *testing.T, db *pgtest.DB) *sql.DB {
	t.Helper()
	pool, err := sql.Open("pgx", db.URL())
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

func provider(t *testing.T, db *pgtest.DB, fsys fs.FS) *gooselib.Provider {
	t.Helper()
	p, err := gooselib.NewProvider(gooselib.DialectPostgres, openSQL(t, db), fsys)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func gooseUp(t *testing.T, db *pgtest.DB, fsys fs.FS) error {
	p := provider(t, db, fsys)
	_, err := p.Up(t.Context())
	return errors.Join(err, p.Close())
}

func gooseDown(t *testing.T, db *pgtest.DB, fsys fs.FS, to int) error {
	p := provider(t, db, fsys)
	_, err := p.DownTo(t.Context(), int64(to))
	return errors.Join(err, p.Close())
}

func migrator(t *testing.T, db *pgtest.DB, fsys fs.FS) *migrate.Migrate {
	t.Helper()
	driver, err := migratepgx.WithInstance(openSQL(t, db), &migratepgx.Config{})
	if err != nil {
		t.Fatal(err)
	}
	source, err := iofs.New(fsys, ".")
	if err != nil {
		t.Fatal(err)
	}
	m, err := migrate.NewWithInstance("iofs", source, "pgx", driver)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func migrateUp(t *testing.T, db *pgtest.DB, fsys fs.FS) error {
	m := migrator(t, db, fsys)
	return closed(m, m.Up())
}

func migrateDown(t *testing.T, db *pgtest.DB, fsys fs.FS, to int) error {
	m := migrator(t, db, fsys)
	if to == 0 {
		return closed(m, m.Down())
	}
	return closed(m, m.Migrate(uint(to)))
}

func closed(m *migrate.Migrate, err error) error {
	source, database := m.Close()
	return errors.Join(err, source, database)
}

func ternUp(t *testing.T, db *pgtest.DB, fsys fs.FS) error { return ternTo(t, db, fsys, -1) }

// ternTo migrates to a version, a negative one is the last.
func ternTo(t *testing.T, db *pgtest.DB, fsys fs.FS, to int) error {
	conn := db.Conn(t)
	m, err := ternmigrate.NewMigrator(t.Context(), conn, "schema_version")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.LoadMigrations(fsys); err != nil {
		return err
	}
	if to < 0 {
		to = len(m.Migrations)
	}
	return m.MigrateTo(t.Context(), int32(to))
}

// runUp is any runner: a file, as its head says, is one transaction or outside of every one. It keeps no record.
func runUp(t *testing.T, db *pgtest.DB, fsys fs.FS) error {
	return runFiles(t, db, fsys, ".up.sql", 0, func(names []string) []string { return names })
}

func runDown(t *testing.T, db *pgtest.DB, fsys fs.FS, to int) error {
	return runFiles(t, db, fsys, ".down.sql", to, func(names []string) []string { slices.Reverse(names); return names })
}

func runFiles(t *testing.T, db *pgtest.DB, fsys fs.FS, suffix string, after int, order func([]string) []string) error {
	conn := db.Conn(t)
	names, err := fs.Glob(fsys, "*"+suffix)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range order(names[after:]) {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		if err := runFile(t.Context(), conn, string(text)); err != nil {
			return err
		}
	}
	return nil
}

func runFile(ctx context.Context, conn *pgx.Conn, text string) error {
	if strings.Contains(text, "-- Run it outside of every transaction: ") {
		_, err := conn.Exec(ctx, text)
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, text)
		return err
	})
}

// numbers is how many migrations are in the folder.
func (f folder) migrations() int {
	n := 0
	for name := range maps.Keys(f) {
		if name != StateName && !strings.HasSuffix(name, ".down.sql") {
			n++
		}
	}
	return n
}
