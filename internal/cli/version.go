package cli

import (
	"fmt"
	"io"

	"github.com/statigen/statigen/internal/generate"
)

// printVersion names statigen's own version and that of the sqlc in it.
func printVersion(stdout io.Writer) error {
	_, err := fmt.Fprintf(stdout, "statigen %s (sqlc %s)\n", generate.Version(), generate.SQLCVersion)
	return err
}
