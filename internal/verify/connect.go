package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Connect connects to the database of a URL, or of the PG… variables of the environment if it is empty. No password is
// in its errors, nor a piece of one: what a URL that cannot be read was meant to say, nobody knows, so none of it is shown.
func Connect(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	// Without prepared statements that have names, for there may be a pooler in between.
	config.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, errors.New("connect to the database: " + withoutPassword(config, err))
	}
	return conn, nil
}

func parse(url string) (*pgx.ConnConfig, error) {
	if strayAt(url) {
		return nil, errors.New("--database-url has an @ where none can be (want %40 for one in a user's name or a password, and %2F for a /)")
	}
	config, err := pgx.ParseConfig(url)
	if err != nil && url == "" {
		return nil, errors.New("the PG… variables of the environment, or a file that they name, cannot be read (want them as for psql, or --database-url)")
	}
	if err != nil {
		return nil, errors.New("--database-url cannot be read (want postgres://user@host:5432/database, or host=… user=… dbname=…)")
	}
	return config, nil
}

// strayAt finds a URL in which a piece of the password would be taken for a host or a database.
func strayAt(url string) bool {
	_, rest, isURL := strings.Cut(url, "://")
	user, behind, _ := strings.Cut(rest, "@")
	return isURL && (strings.Contains(behind, "@") || behind != "" && strings.Contains(user, "/"))
}

// withoutPassword is an error as it may be shown. A parameter that the server does not know may be the end of a password
// that has a space in it.
func withoutPassword(config *pgx.ConnConfig, err error) string {
	text := err.Error()
	var server *pgconn.PgError
	if errors.As(err, &server) && server.Code == "42704" {
		text = fmt.Sprintf("the server does not know a parameter that --database-url sets (SQLSTATE %s)", server.Code)
	}
	if config.Password != "" {
		text = strings.ReplaceAll(text, config.Password, "…")
	}
	return text
}
