package host

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/model"
)

// Stores are those of the matrix: nine that differ in names, ids and lock keys, then those that differ in their columns.
func Stores(t *testing.T) []model.Store {
	t.Helper()
	var all []model.Store
	for _, file := range []string{"hosts.yaml", "columns.yaml"} {
		text, err := os.ReadFile(filepath.Join(Root(t), "internal/matrix", file))
		if err != nil {
			t.Fatal(err)
		}
		stores, err := config.Parse(file, text, model.Module{Path: "example.com/host", Dir: "."})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, stores...)
	}
	return all
}
