package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/generate"
	"github.com/statigen/statigen/internal/output"
	"github.com/statigen/statigen/internal/start"
)

func runInit(_ context.Context, o options, args []string, stdout io.Writer) error {
	if err := noArguments(args); err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	s, err := start.New(here, o.begin, generate.Version())
	if err != nil {
		return err
	}
	if err := createStart(here, s); err != nil {
		return err
	}
	printStart(stdout, s)
	return nil
}

// createStart writes nothing unless the new config gets along with the module's others.
func createStart(here string, s start.Start) error {
	module, err := output.Survey(s.Root, config.FileName)
	if err != nil {
		return err
	}
	if err := s.Check(here, module.Configs); err != nil {
		return err
	}
	return output.Create(output.Folder{Root: s.Root, Path: s.Folder, Files: s.Files}, s.Out)
}

func printStart(stdout io.Writer, s start.Start) {
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		fmt.Fprintln(stdout, path.Join(s.Folder, name))
	}
	fmt.Fprintln(stdout, "\nnext:")
	for _, command := range s.Next {
		fmt.Fprintln(stdout, " ", command)
	}
}
