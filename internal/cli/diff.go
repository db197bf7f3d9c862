package cli

import (
	"context"
	"io"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/statigen/statigen/internal/generate"
)

// runDiff prints what generate would change, as a patch. A file that would come or go is one that is empty on one side.
func runDiff(ctx context.Context, o options, args []string, stdout io.Writer) error {
	job, err := o.job(args)
	if err != nil {
		return err
	}
	changes, err := generate.Diff(ctx, job)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if _, err := stdout.Write(diff.Diff("a/"+c.Name, c.Old, "b/"+c.Name, c.New)); err != nil {
			return err
		}
	}
	if len(changes) > 0 {
		return errOutOfDate
	}
	return nil
}
