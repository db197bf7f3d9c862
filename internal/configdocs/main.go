// Command configdocs writes what is published of the config, its reference and its JSON Schema, into docs/. It runs by
// go generate, in the module's root.
package main

import (
	"log"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/output"
)

func main() {
	files := map[string][]byte{"config.md": config.Reference(), config.SchemaName: config.Schema()}
	if err := output.WriteUnmanaged(output.Folder{Root: ".", Path: "docs", Files: files}); err != nil {
		log.Fatal(err)
	}
}
