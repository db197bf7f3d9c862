package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/statigen/statigen/internal/generate"
)

// runVersion names statigen's own version and that of the sqlc in it.
func runVersion(_ context.Context, _ options, args []string, stdout io.Writer) error {
	if err := noArguments(args); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "statigen %s (sqlc %s)\n", generate.Version(), generate.SQLCVersion)
	return err
}
