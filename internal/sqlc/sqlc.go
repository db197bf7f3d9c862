// Package sqlc compiles SQL to Go with the sqlc that go.mod names.
//
// sqlc's one exported function, pkg/cli.Run, prints what is wrong and ends the process, and it keeps its
// flags in package variables. So the binary runs itself once more as a child that calls it (Child), in a
// temporary folder, and what the child printed comes back as an error. The alternative, a sqlc on the
// host's PATH, would let the host's version decide what the store looks like.
package sqlc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/sqlc-dev/sqlc/pkg/cli"
	"golang.org/x/sync/errgroup"
)

// Version is the version of the embedded sqlc, the one that go.mod names.
const Version = "v1.31.1"

// childMarker in the environment makes the process sqlc. It is private: nothing but Compile sets it.
const childMarker = "STATIGEN_RUN_AS_SQLC"

// Child turns the process into sqlc if Compile started it, and then does not return. It comes first in main
// and in the TestMain of every package that compiles.
func Child() {
	if os.Getenv(childMarker) != "" {
		os.Exit(cli.Run(os.Args[1:]))
	}
}

// Input is the SQL of one package.
type Input struct {
	Name    string // of the store, for complaints
	Schema  []byte
	Queries map[string][]byte // by base name
}

// Refusal is what sqlc says of SQL that it does not take. It names files as they are called in statigen's own tree:
// the text is ours, and so is the fault.
type Refusal struct{ Complaints string }

func (r *Refusal) Error() string { return "sqlc refuses the SQL:\n" + r.Complaints }

// Compile runs sqlc once for all inputs and returns the Go files of each, by base name. The error is a *Refusal if it is
// the SQL's.
func Compile(ctx context.Context, inputs []Input) ([]map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "statigen-sqlc-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for sqlc: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := layOut(dir, inputs); err != nil {
		return nil, err
	}
	if err := run(ctx, dir, inputs); err != nil {
		return nil, err
	}
	return outputs(dir, inputs)
}

// each does something for every input, for as many at a time as there are processors.
func each(inputs []Input, do func(i int, in Input) error) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, in := range inputs {
		group.Go(func() error { return do(i, in) })
	}
	return group.Wait()
}

// outputs reads what sqlc wrote for each input, and compares it with what it was given.
func outputs(dir string, inputs []Input) ([]map[string][]byte, error) {
	all := make([]map[string][]byte, len(inputs))
	err := each(inputs, func(i int, in Input) (err error) {
		if all[i], err = readGo(filepath.Join(dir, strconv.Itoa(i), "db")); err != nil {
			return err
		}
		return compare(in, all[i])
	})
	return all, err
}

func layOut(dir string, inputs []Input) error {
	err := os.WriteFile(filepath.Join(dir, "sqlc.json"), settings(len(inputs)), 0o600)
	if err == nil {
		err = each(inputs, func(i int, in Input) error { return in.layOut(filepath.Join(dir, strconv.Itoa(i))) })
	}
	if err != nil {
		return fmt.Errorf("lay out the SQL for sqlc: %w", err)
	}
	return nil
}

func (in Input) layOut(dir string) error {
	for _, below := range []string{"schema", "queries"} {
		if err := os.MkdirAll(filepath.Join(dir, below), 0o700); err != nil {
			return err
		}
	}
	for name, text := range in.Queries {
		if err := os.WriteFile(filepath.Join(dir, "queries", name), text, 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "schema", "schema.sql"), in.Schema, 0o600)
}

func run(ctx context.Context, dir string, inputs []Input) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the binary to run as sqlc: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, "generate", "-f", "sqlc.json")
	cmd.Dir = dir
	cmd.Env = append(cleanEnv(os.Environ()), childMarker+"=1")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && ctx.Err() == nil {
		return failure(said.String(), inputs)
	}
	if err != nil {
		return fmt.Errorf("run sqlc: %w", err)
	}
	return nil
}

// failure takes what sqlc said for a complaint about the SQL, unless it is about the disk that its folder is on.
func failure(said string, inputs []Input) error {
	if full := syscall.ENOSPC.Error(); strings.Contains(said, full) {
		return fmt.Errorf("run sqlc in %s: %s", os.TempDir(), full)
	}
	return &Refusal{complaints(said, inputs)}
}

// complaints names the store where sqlc names the numbered folder that its SQL was laid out in.
func complaints(said string, inputs []Input) string {
	for i, in := range inputs {
		said = regexp.MustCompile(`(?m)^`+strconv.Itoa(i)+`/`).ReplaceAllLiteralString(said, "store "+in.Name+": ")
	}
	return strings.TrimSpace(said)
}

// cleanEnv leaves out what changes sqlc's behaviour: SQLCDEBUG alone prints megabytes.
func cleanEnv(env []string) []string {
	var clean []string
	for _, v := range env {
		if !strings.HasPrefix(v, "SQLC") {
			clean = append(clean, v)
		}
	}
	return clean
}

func readGo(dir string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read what sqlc wrote: %w", err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			return nil, fmt.Errorf("read what sqlc wrote: %w", err)
		}
	}
	return files, nil
}

// settings is sqlc's config, as JSON so that no name needs YAML's quoting.
func settings(packages int) []byte {
	blocks := make([]any, packages)
	for i := range blocks {
		at := strconv.Itoa(i) + "/"
		blocks[i] = map[string]any{
			"engine": "postgresql", "schema": at + "schema/schema.sql", "queries": at + "queries",
			"gen": map[string]any{"go": goSettings(at + "db")},
		}
	}
	text, err := json.Marshal(map[string]any{"version": "2", "sql": blocks})
	if err != nil {
		panic(err) // maps of strings and numbers always marshal
	}
	return text
}

func goSettings(out string) map[string]any {
	return map[string]any{
		"package":                      "db",
		"out":                          out,
		"sql_package":                  "pgx/v5",
		"emit_exact_table_names":       true, // a plural is never bent into another table's name
		"query_parameter_limit":        0,    // always one argument: a parameter can never shadow ctx or err
		"emit_pointers_for_null_types": true,
		"omit_unused_structs":          true, // every query names its columns, so no model is used
		"omit_sqlc_version":            true, // a new sqlc with the same output is no diff in every host
		"overrides":                    overrides(),
	}
}

// overrides gives every type its Go type, under both spellings: sqlc matches the one that a cast or a column
// is written with, and takes a type it does not know for interface{}.
func overrides() []any {
	var all []any
	for _, t := range []struct {
		name, goType, pkg string
		pointer           bool // when nullable
	}{
		{"text", "string", "", true},
		{"varchar", "string", "", true},
		{"int2", "int16", "", true},
		{"int4", "int32", "", true},
		{"int8", "int64", "", true},
		{"bool", "bool", "", true},
		{"timestamp", "Time", "time", true},
		{"timestamptz", "Time", "time", true},
		{"uuid", "UUID", "github.com/jackc/pgx/v5/pgtype", false},
		{"numeric", "Numeric", "github.com/jackc/pgx/v5/pgtype", false},
		{"date", "Date", "github.com/jackc/pgx/v5/pgtype", false},
		{"jsonb", "RawMessage", "encoding/json", false},
		{"bytea", "[]byte", "", false},
		// Arrays have names in package db, for sqlc imports nothing for what a type is made with.
		{"_text", "TextArray", "", false},
		{"_varchar", "TextArray", "", false},
		{"_int2", "Int2Array", "", false},
		{"_int4", "Int4Array", "", false},
		{"_int8", "Int8Array", "", false},
		{"_bool", "BoolArray", "", false},
		{"_timestamp", "TimestampArray", "", false},
		{"_timestamptz", "TimestamptzArray", "", false},
		{"_uuid", "UUIDArray", "", false},
		{"_numeric", "NumericArray", "", false},
		{"_date", "DateArray", "", false},
		{"_jsonb", "JSONBArray", "", false},
		{"_bytea", "ByteaArray", "", false},
	} {
		for _, name := range []string{t.name, "pg_catalog." + t.name} {
			for _, nullable := range []bool{false, true} {
				goType := map[string]any{"type": t.goType, "pointer": nullable && t.pointer}
				if t.pkg != "" {
					goType["import"] = t.pkg
				}
				all = append(all, map[string]any{"db_type": name, "nullable": nullable, "go_type": goType})
			}
		}
	}
	return all
}
