package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/statigen/statigen/internal/ddl"
)

// command is a subcommand. Its usage and what it does are what its help prints, above its flags.
type command struct {
	name, usage, about string
	flags              func(*options, *pflag.FlagSet)
	run                func(ctx context.Context, o options, args []string, stdout io.Writer) error
}

func commands() []command {
	return []command{{
		name: "generate", usage: "[generate] [flags]",
		about: "Writes each store's package and prints the files that it changed.", flags: generateFlags, run: runGenerate,
	}, {
		name: "init", usage: "init [flags]",
		about: "Writes a config with every key explained, its JSON Schema, and a generate.go that runs this version of statigen, here.\n" +
			"Overwrites nothing: if one of them is there, or the store's folder, it writes none. Prints the commands that come next.",
		flags: initFlags, run: runInit,
	}, {
		name: "check", usage: "check [flags]",
		about: "Prints what generate would change, and what is in its way, a file a line. Ends with 1 if there is any. Writes nothing.",
		flags: checkFlags, run: runCheck,
	}, {
		name: "diff", usage: "diff [flags]",
		about: "Prints what generate would change, as a patch. Ends with 1 if there is any. Writes nothing.", flags: configFlag, run: runDiff,
	}, {
		name: "key", usage: "key [flags] [content hash]...",
		about: "Prints each store's lock key and, for content hashes and execution ids, the keys as a UTF8, little-endian server\n" +
			"computes them, and the rows that they make in pg_locks.",
		flags: keyFlags, run: runKey,
	}, {
		name: "ddl", usage: "ddl [flags]",
		about: "Prints the statements that make a store's tables at one version of the reference's migrations into those at another,\n" +
			"as a script for psql. From nothing, unless --from says what is there: 1 to 8, or 8.1, which is 8 and statigen's own indexes.",
		flags: ddlFlags, run: runDDL,
	}, {
		name: "migrations", usage: "migrations [flags]",
		about: "Writes migrations for goose, golang-migrate or tern, or plain SQL, that make a store's tables into what the config asks\n" +
			"for, and prints the files that it wrote. What the tables are before is what the last run recorded in the folder, in\n" +
			"statigen.state; the first run is told by --from. No file that is there is touched. A change that may lose rows, or\n" +
			"a lock, ends with 2, the SQL to consider, and nothing written.",
		flags: migrationsFlags, run: runMigrations,
	}, {
		name: "verify", usage: "verify [flags]",
		about: "Holds a live database against the config and prints what differs, and the SQL that mends it, in a form that psql\n" +
			"takes. SQL that takes a decision is printed as a comment. Ends with 1 if there is a difference. Writes nothing.",
		flags: verifyFlags, run: runVerify,
	}, {
		name: "config-schema", usage: "config-schema",
		about: "Prints the JSON Schema of the config, by which an editor completes and checks it.", flags: noFlags, run: runConfigSchema,
	}, {
		name: "version", usage: "version", about: "Prints the version of statigen, and of the sqlc in it.",
		flags: noFlags, run: runVersion,
	}}
}

func noFlags(*options, *pflag.FlagSet) {}

func configFlag(o *options, flags *pflag.FlagSet) {
	flags.StringVar(&o.config, "config", "", "the config `file`; default: statigen.yaml here or above")
}

func generateFlags(o *options, flags *pflag.FlagSet) {
	configFlag(o, flags)
	flags.StringArrayVar(&o.acceptLockKey, "accept-lock-key", nil,
		"a `change` of a committed store's lock that is meant, as 'store: key string'; repeatable")
	flags.BoolVar(&o.adopt, "adopt", false, "take over generated files that have no manifest")
	flags.BoolVar(&o.prune, "prune", false, "remove the packages of stores that the config no longer has")
}

func initFlags(o *options, flags *pflag.FlagSet) {
	flags.StringVar(&o.begin.Store, "store", "", "the store's `name` in the config; default: the module's or the folder's")
	flags.StringVar(&o.begin.Out, "out", "", "the `folder` of its package, relative to this one; default: the name and store, in one word")
	flags.StringVar(&o.begin.Prefix, "prefix", "", "its Postgres `schema`; default: none, search_path decides")
	flags.BoolVar(&o.begin.ToolsMod, "tools-mod", false, "run statigen from a tools.mod, which keeps its version and sums, and not by go run")
}

func checkFlags(o *options, flags *pflag.FlagSet) {
	configFlag(o, flags)
	flags.StringVar(&o.format, "format", "text", "`text`, json, or github, which marks the files in a pull request")
}

func keyFlags(o *options, flags *pflag.FlagSet) {
	configFlag(o, flags)
	flags.StringArrayVar(&o.executions, "execution", nil, "an execution's `id`; repeatable")
	flags.BoolVar(&o.json, "json", false, "print JSON")
}

func ddlFlags(o *options, flags *pflag.FlagSet) {
	configFlag(o, flags)
	storeFlag(o, flags)
	flags.StringVar(&o.from, "from", "", "the `version` that the tables have; default: empty, with --down "+ddl.Latest().String())
	flags.StringVar(&o.to, "to", "", "the `version` that they are to have; default: "+ddl.Latest().String()+", with --down empty")
	flags.BoolVar(&o.down, "down", false, "print the way back")
}

func migrationsFlags(o *options, flags *pflag.FlagSet) {
	configFlag(o, flags)
	storeFlag(o, flags)
	flags.StringVar(&o.dir, "dir", "", "the `folder` of the migrations")
	flags.StringVar(&o.format, "format", "", "the `tool`: goose, golang-migrate, tern or sql; default: that of the folder")
	flags.StringVar(&o.from, "from", "", "in the first run, the `version` that the tables have: empty, 1 to 8, or "+ddl.Latest().String())
	flags.BoolVar(&o.considered, "considered", false, "write what would be refused, for you to finish: it does not run before you edit it")
}

func storeFlag(o *options, flags *pflag.FlagSet) {
	flags.StringVar(&o.store, "store", "", "the `name` of one of the config's stores; it may be left out if there is one")
}

// find returns the command that the arguments name first, and the rest of them. Without a name it is generate.
func find(args []string) (command, []string, error) {
	all := commands()
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return all[0], args, nil
	}
	for _, c := range all {
		if c.name == args[0] {
			return c, args[1:], nil
		}
	}
	return command{}, nil, fmt.Errorf("unknown command %q (want %s)", args[0], listed(all))
}

func listed(all []command) string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.name
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// overview is what statigen --help prints.
func overview() string {
	var text strings.Builder
	text.WriteString("usage:\n")
	for _, c := range commands() {
		fmt.Fprintf(&text, "  statigen %s\n", c.usage)
	}
	return text.String() + "\nstatigen <command> --help tells what a command does, and lists its flags.\n" +
		"Exit codes: 0 fine, 1 out of date or different, 2 a mistake in the config, the command line, the file system or the database,\n3 a bug in statigen.\n"
}

func (c command) help(flags *pflag.FlagSet) string {
	text := fmt.Sprintf("usage: statigen %s\n\n%s\n", c.usage, c.about)
	if usages := flags.FlagUsagesWrapped(120); usages != "" {
		text += "\n" + usages
	}
	return text
}
