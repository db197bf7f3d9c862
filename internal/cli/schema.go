package cli

import (
	"context"
	"io"

	"github.com/statigen/statigen/internal/config"
)

// runConfigSchema needs no config: it is run before there is one, and where one is not whole.
func runConfigSchema(_ context.Context, _ options, args []string, stdout io.Writer) error {
	if err := noArguments(args); err != nil {
		return err
	}
	_, err := stdout.Write(config.Schema())
	return err
}
