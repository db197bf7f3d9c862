// Package cli is the command line: subcommands, flags, exit codes, and all printing.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/pflag"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/generate"
	"github.com/statigen/statigen/internal/output"
	"github.com/statigen/statigen/internal/start"
)

// Exit codes.
const (
	exitFine = 0
	exitOld  = 1 // check found something
	exitUser = 2 // the config, the command line or the file system is at fault
	exitOurs = 3 // statigen is
)

// Main runs the command and returns the exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	generate.Child()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, args, stdout)
	if err == nil {
		return exitFine
	}
	if errors.Is(err, errOutOfDate) {
		return exitOld
	}
	var problems config.Errors
	if errors.As(err, &problems) {
		fmt.Fprintln(stderr, shown(err)) // each line begins with its place in the file, as a compiler's does
		return exitUser
	}
	fmt.Fprintln(stderr, "statigen:", shown(err))
	var bug *generate.Bug
	if errors.As(err, &bug) {
		return exitOurs
	}
	return exitUser
}

// options are the flags' values.
type options struct {
	config        string
	acceptLockKey []string
	adopt         bool
	prune         bool
	executions    []string
	json          bool
	format        string
	store         string
	databaseURL   string
	role          string
	from, to      string
	down          bool
	dir           string
	considered    bool
	begin         start.Wish
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
		_, err := io.WriteString(stdout, overview())
		return err
	}
	c, args, err := find(args)
	if err != nil {
		return err
	}
	var o options
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	c.flags(&o, flags)
	err = flags.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		_, err := io.WriteString(stdout, c.help(flags))
		return err
	}
	if err != nil {
		return fmt.Errorf("%w (statigen %s --help lists its flags)", err, c.name)
	}
	return c.run(ctx, o, flags.Args(), stdout)
}

// noArguments refuses what stands behind a command that takes flags alone.
func noArguments(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q", args[0])
	}
	return nil
}

func runGenerate(ctx context.Context, o options, args []string, stdout io.Writer) error {
	job, err := o.job(args)
	if err != nil {
		return err
	}
	changes, err := generate.Write(ctx, job)
	for _, c := range changes {
		if c.Removed {
			fmt.Fprintln(stdout, c.Name, "(removed)")
		} else {
			fmt.Fprintln(stdout, c.Name)
		}
	}
	return err
}

// errOutOfDate ends a check that found something; what it found is printed already.
var errOutOfDate = errors.New("out of date")

func runCheck(ctx context.Context, o options, args []string, stdout io.Writer) error {
	if err := knownFormat(o.format); err != nil {
		return err
	}
	job, err := o.job(args)
	if err != nil {
		return err
	}
	findings, err := generate.Check(ctx, job)
	if err != nil {
		return err
	}
	if err := printFindings(stdout, o.format, findings); err != nil {
		return err
	}
	if len(findings) > 0 {
		return errOutOfDate
	}
	return nil
}

// job is what the config asks for. A command that works on it takes no arguments of its own.
func (o options) job(args []string) (generate.Job, error) {
	if err := noArguments(args); err != nil {
		return generate.Job{}, err
	}
	job := generate.Job{AcceptLockKey: o.acceptLockKey, Adopt: o.adopt, Prune: o.prune}
	file, err := o.configFile()
	if err != nil {
		return job, err
	}
	root, err := config.Root(file)
	if err != nil {
		return job, err
	}
	if job.Module, err = output.Survey(root, config.FileName); err != nil {
		return job, err
	}
	cfg, err := config.Load(file, job.Module.Configs...)
	job.Root, job.Config, job.Stores = cfg.Root, cfg.Path, cfg.Stores
	return job, err
}

func (o options) configFile() (string, error) {
	if o.config != "" {
		return o.config, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the config: %w", err)
	}
	return config.Find(here)
}
