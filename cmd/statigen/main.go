// Statigen writes a Go package into a host's repository: a typed store for durable statechart executions in
// Postgres, in which the advisory lock that orders creates against retirements is fixed when it is generated.
//
// Usage:
//
//	statigen [generate] [--config file] [--adopt] [--prune] [--accept-lock-key 'store: key string']...
//	statigen init [--store name] [--out folder] [--prefix schema] [--tools-mod]
//	statigen check [--config file] [--format text|json|github]
//	statigen diff [--config file]
//	statigen key [--config file] [--json] [--execution id]... [content hash]...
//	statigen ddl [--config file] [--store name] [--from version] [--to version] [--down]
//	statigen migrations [--config file] [--store name] --dir folder [--format tool] [--from version] [--considered]
//	statigen verify [--config file] [--store name] [--database-url URL] [--role name] [--json]
//	statigen config-schema
//	statigen version
//
// Each command has its --help.
//
// Generate reads statigen.yaml, looked for here and upwards to the module's root, and writes one package for
// each of its stores. It prints the files that it changed, and nothing if there are none. Each package holds a
// manifest, statigen.sum; generated files without one are taken over only with --adopt. The package of a store that is
// gone from the config stays until --prune.
//
// A run that would change the lock of a committed store stops: while replicas with the old key and the new one run
// together, they do not exclude each other. That holds for a store that moves to another folder as well.
// --accept-lock-key names the change that is meant, and fails once it is made.
//
// A module may have several configs. Their stores are held against each other as those of one are: none may share
// some of another's tables, or the same tables under another store string. Found are the files called statigen.yaml and
// those that a package says it was made from, but in testdata, vendor, node_modules and folders that begin with . or _.
//
// Init writes the first config into a folder of a module, with every key explained, its JSON Schema for editors, and a
// generate.go whose go:generate line runs this version of statigen. It overwrites nothing.
//
// Check prints each file that is missing, out of date, edited by hand, stale or foreign, and orphaned packages; diff prints
// what generate would change, as a patch. Neither writes anything.
//
// Key prints each store's lock key, and for content hashes and execution ids the keys that a UTF8, little-endian server
// computes, and the rows that they make in pg_locks.
//
// Ddl prints, as a script for psql, how the tables of one version become those of another: 1 to 8 are those of the
// reference's migrations, 8.1 is 8 with statigen's own indexes, which is what schema.sql makes. On tables that are there
// already, indexes are built concurrently.
//
// Migrations writes such steps as files for goose, golang-migrate or tern, or as plain SQL, into a folder that other migrations
// share, and records there, in statigen.state, what they lead to; what the config asks for later becomes the next
// migration. A change that may lose rows, or that makes another lock, is refused, with the SQL to consider.
//
// Verify holds a live database against the config: the tables of every store, or of one, as schema.sql makes them, which
// table the search_path finds, what a role may do, and whether the server prepares every statement. It prints each
// difference as a comment, and below it the SQL that mends it, so that psql takes the whole; SQL that takes a decision is a
// comment as well, with the reason. Without --database-url the database is that of PGHOST, PGPASSWORD and the like. No
// password is printed. It writes nothing: its transactions are read-only and rolled back.
//
// Config-schema prints the JSON Schema of the config, for editors.
//
// A config:
//
//	version: 1
//	stores:
//	  loans:                         # letters, digits, - and _
//	    out: loanstore               # the package's folder, relative to this file
//	    prefix: loans                # Postgres schema; absent: search_path decides
//	    leading_columns:             # the host's own, after id, on all four tables
//	      - {name: tenant_id, type: uuid, not_null: true}
//
// Docs/config.md has every key, with what it accepts, its default and an example.
//
// The exit code is 0 if all is well, 1 if check, diff or verify found something, 2 if the config, the command line, the file
// system or the database is at fault, 3 if statigen is.
package main

import (
	"os"

	"github.com/statigen/statigen/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
