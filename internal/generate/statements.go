package generate

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/sqlc"
)

// Statements are the SQL statements of each store's package, as sqlc wrote them and as they are sent.
func Statements(ctx context.Context, stores []model.Store) ([][]string, error) {
	inputs, err := sqlTexts(stores)
	if err != nil {
		return nil, err
	}
	compiled, err := sqlc.Compile(ctx, inputs)
	if err != nil {
		return nil, refusalIsABug(err)
	}
	all := make([][]string, len(stores))
	for i, s := range stores {
		if all[i], err = statements(compiled[i]); err != nil {
			return nil, bug(s, err)
		}
	}
	return all, nil
}

func statements(files map[string][]byte) ([]string, error) {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, ".sql.go") {
			continue
		}
		constants, err := sqlc.Constants(name, files[name])
		if err != nil {
			return nil, err
		}
		all = append(all, constants...)
	}
	return all, nil
}
