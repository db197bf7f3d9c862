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
)

// Exit codes.
const (
	exitFine = 0
	exitOld  = 1 // check found something
	exitUser = 2 // the config, the command line or the file system is at fault
	exitOurs = 3 // statigen is
)

const usage = `usage: statigen [generate] [--config file] [--adopt] [--prune] [--accept-lock-key 'store: key string']...
       statigen check [--config file] [--format text|json|github]
       statigen diff [--config file]
       statigen key [--config file] [--json] [--execution id]... [content hash]...
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
	if errors.Is(err, errOutOfDate) {
		return exitOld
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

// options are the flags.
type options struct {
	config        string
	acceptLockKey []string
	adopt         bool
	prune         bool
	executions    []string
	json          bool
	format        string
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	flags := o.flags()
	err := flags.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		_, err := io.WriteString(stdout, usage)
		return err
	}
	if err != nil {
		return fmt.Errorf("%w (statigen --help lists what there is)", err)
	}
	name, rest := flags.Arg(0), flags.Args()
	if len(rest) > 0 {
		rest = rest[1:]
	}
	if name != "key" && len(rest) > 0 {
		return fmt.Errorf("unexpected argument %q", rest[0])
	}
	switch name {
	case "", "generate":
		return runGenerate(ctx, o, stdout)
	case "check":
		return runCheck(ctx, o, stdout)
	case "diff":
		return runDiff(ctx, o, stdout)
	case "key":
		return runKey(o, rest, stdout)
	case "version":
		return printVersion(stdout)
	}
	return fmt.Errorf("unknown command %q (want generate, check, diff, key or version)", name)
}

func (o *options) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("statigen", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.config, "config", "", "the config file; default: statigen.yaml here or above")
	flags.StringArrayVar(&o.acceptLockKey, "accept-lock-key", nil, "a change of a store's lock that is meant")
	flags.BoolVar(&o.adopt, "adopt", false, "take over generated files that have no manifest")
	flags.BoolVar(&o.prune, "prune", false, "remove the packages of stores that the config no longer has")
	flags.StringVar(&o.format, "format", "text", "how check prints: text, json or github")
	flags.StringArrayVar(&o.executions, "execution", nil, "an execution id, for key")
	flags.BoolVar(&o.json, "json", false, "print JSON, for key")
	return flags
}

func runGenerate(ctx context.Context, o options, stdout io.Writer) error {
	job, err := o.job()
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

func runCheck(ctx context.Context, o options, stdout io.Writer) error {
	job, err := o.job()
	if err != nil {
		return err
	}
	findings, err := generate.Check(ctx, job)
	if err != nil {
		return err
	}
	if err := o.printFindings(stdout, findings); err != nil {
		return err
	}
	if len(findings) > 0 {
		return errOutOfDate
	}
	return nil
}

func (o options) job() (generate.Job, error) {
	cfg, err := load(o.config)
	return generate.Job{
		Root: cfg.Root, Config: cfg.Path, Stores: cfg.Stores, AcceptLockKey: o.acceptLockKey, Adopt: o.adopt, Prune: o.prune,
	}, err
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
