// Package cli is the command line: subcommands, flags, exit codes, and all printing.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"

	"github.com/spf13/pflag"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/generate"
	"github.com/statigen/statigen/internal/output"
)

// Exit codes.
const (
	exitFine = 0
	exitUser = 2 // the config, the command line or the file system is at fault
	exitOurs = 3 // statigen is
)

const usage = `usage: statigen [generate] [--config file]
       statigen version
`

// Main runs the command and returns the exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	generate.Child()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, args, stdout)
	if err == nil {
		return exitFine
	}
	var problems config.Errors
	if errors.As(err, &problems) {
		fmt.Fprintln(stderr, err) // each line begins with its place in the file, as a compiler's does
		return exitUser
	}
	fmt.Fprintln(stderr, "statigen:", err)
	var bug *generate.Bug
	if errors.As(err, &bug) {
		return exitOurs
	}
	return exitUser
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := pflag.NewFlagSet("statigen", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	file := flags.String("config", "", "the config file; default: statigen.yaml here or above")
	err := flags.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		_, err := io.WriteString(stdout, usage)
		return err
	}
	if err != nil {
		return fmt.Errorf("%w (statigen --help lists what there is)", err)
	}
	if flags.NArg() > 1 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(1))
	}
	switch flags.Arg(0) {
	case "", "generate":
		return runGenerate(ctx, *file, stdout)
	case "version":
		return printVersion(stdout)
	}
	return fmt.Errorf("unknown command %q (want generate or version)", flags.Arg(0))
}

func runGenerate(ctx context.Context, file string, stdout io.Writer) error {
	cfg, err := load(file)
	if err != nil {
		return err
	}
	packages, err := generate.Packages(ctx, cfg.Stores)
	if err != nil {
		return err
	}
	for i, s := range cfg.Stores {
		changed, err := output.Write(cfg.Root, s.Out, packages[i])
		if err != nil {
			return fmt.Errorf("store %s: %s: %w", s.Name, s.Out, err)
		}
		for _, name := range changed {
			fmt.Fprintln(stdout, path.Join(s.Out, name))
		}
	}
	return nil
}

func load(file string) (config.Config, error) {
	if file != "" {
		return config.Load(file)
	}
	here, err := os.Getwd()
	if err != nil {
		return config.Config{}, fmt.Errorf("find the config: %w", err)
	}
	if file, err = config.Find(here); err != nil {
		return config.Config{}, err
	}
	return config.Load(file)
}
