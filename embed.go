// Package statigen holds the texts that stores are made from, so that the statigen command is one file:
//
//   - schema: the tables, as SQL with named holes
//   - queries: the queries that sqlc compiles, as SQL with the same holes, one file per concept
//   - templates: the Go of a store that is the same for every host; a package of its own, which compiles
//     and is tested where it stands
//
// It has no code. Package internal/sqltext fills the holes, and internal/generate copies the templates.
package statigen

import "embed"

// Texts holds the folders schema, queries and templates.
//
//go:embed schema/*.sql queries/*.sql templates/*.go templates/internal/db/*.go
var Texts embed.FS

//go:generate go run ./internal/templategen
//go:generate go run ./internal/configdocs
