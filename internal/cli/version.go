package cli

import (
	"fmt"
	"io"
	"runtime/debug"
)

// printVersion names statigen's own version and that of the sqlc in it.
func printVersion(stdout io.Writer) error {
	version, sqlcVersion := "(unknown)", "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
		for _, m := range info.Deps {
			if m.Path == "github.com/sqlc-dev/sqlc" {
				sqlcVersion = m.Version
			}
		}
	}
	_, err := fmt.Fprintf(stdout, "statigen %s (sqlc %s)\n", version, sqlcVersion)
	return err
}
