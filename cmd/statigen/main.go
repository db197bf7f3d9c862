// Statigen writes a Go package into a host's repository: a typed store for durable statechart executions in
// Postgres, in which the advisory lock that orders creates against retirements is fixed when it is generated.
//
// Usage:
//
//	statigen [generate] [--config file]
//	statigen version
//
// Generate reads statigen.yaml, looked for here and upwards to the module's root, and writes one package for
// each of its stores. It prints the files that it changed, and nothing if there are none.
//
// A config with every key:
//
//	version: 1
//	stores:
//	  loans:
//	    package: loanstore           # default: the last element of out
//	    out: loanstore               # a folder, relative to this file
//	    prefix: loans                # Postgres schema; absent: search_path decides
//	    table_prefix: statifier_     # the default
//	    tables: {charts: charts}     # whole names, table_prefix not applied; table: X is short for this one
//	    id: uxid                     # uxid (the default), uuid or bigserial
//	    leading_columns:             # after id, in this order, on all four tables
//	      - {name: tenant_id, type: uuid}
//	      - {name: region, type: text, collation: C, not_null: true, default: eu}
//	    lock_key: store              # store (the default), content_hash or both
//
// The exit code is 0 if all is well, 2 if the config or the command line is at fault, 3 if statigen is.
package main

import (
	"os"

	"github.com/statigen/statigen/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
