// Command templategen writes the config-shaped files of templates/ for the default config, so that the
// templates compile and are tested where they stand. It runs by go generate, in the module's root.
package main

import (
	"context"
	"log"

	"github.com/statigen/statigen/internal/generate"
	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/output"
)

func main() {
	generate.Child()
	module := model.Module{Path: "github.com/statigen/statigen", Dir: "."}
	store, problems := model.New(module, model.Spec{Name: "default", Package: "store", Out: "templates"})
	if len(problems) > 0 {
		log.Fatal(problems)
	}
	packages, err := generate.Shaped(context.Background(), []model.Store{store})
	if err != nil {
		log.Fatal(err)
	}
	if err := output.WriteUnmanaged(output.Folder{Root: ".", Path: store.Out, Files: packages[0]}); err != nil {
		log.Fatal(err)
	}
}
