package pgtest

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Option changes how a pool or a connection is opened.
type Option func(*pgxpool.Config)

// Setting sets a run-time parameter for every session: search_path, TimeZone, role, …
func Setting(name, value string) Option {
	return func(c *pgxpool.Config) { c.ConnConfig.RuntimeParams[name] = value }
}

// Isolation sets the level at which a session's transactions begin: "repeatable read", …
func Isolation(level string) Option { return Setting("default_transaction_isolation", level) }

// As connects as this role, which must have the superuser's password if the server asks for one; [DB.Role] gives it that.
func As(role string) Option {
	return func(c *pgxpool.Config) { c.ConnConfig.User = role }
}

// ExecMode sets how pgx sends statements that are not prepared by name.
func ExecMode(m pgx.QueryExecMode) Option {
	return func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = m }
}

// MaxConns bounds a pool; a single connection has no use for it.
func MaxConns(n int32) Option {
	return func(c *pgxpool.Config) { c.MaxConns = n }
}
