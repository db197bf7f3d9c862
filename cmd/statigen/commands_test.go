package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

// refused runs a command that must end with exit code 2, print nothing on stdout, and leave the script's whole tree, what
// lies outside the host with it, as it was. What it said is there for stderr to look at.
func refused(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: refused command [argument]...")
	}
	before := tree(ts)
	err := ts.Exec(args[0], args[1:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 {
		ts.Fatalf("%q ended with %v, want exit status 2", args, err)
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("%q printed %s", args, out)
	}
	if diff := cmp.Diff(before, tree(ts)); diff != "" {
		ts.Fatalf("%q changed the tree (-before +after):\n%s", args, diff)
	}
}

// tree is all that lies in a script's folder: a file's text, where a link leads, and the mode of each.
func tree(ts *testscript.TestScript) map[string]string {
	all := map[string]string{}
	ts.Check(filepath.WalkDir(ts.Getenv("WORK"), func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		text, err := contents(name, entry)
		all[name] = entry.Type().String() + text
		return err
	}))
	return all
}

func contents(name string, entry fs.DirEntry) (string, error) {
	switch {
	case entry.IsDir():
		return "", nil
	case entry.Type()&fs.ModeSymlink != 0:
		return os.Readlink(name)
	}
	text, err := os.ReadFile(name)
	return string(text), err
}
