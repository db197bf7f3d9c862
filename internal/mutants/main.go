// Command mutants breaks the lock rule on purpose, one way at a time, and demands that a named test notices: in a
// copy of the tree it changes a query or a template, regenerates, and runs that test. It prints a table, and a
// mutant that survives is an error.
//
// Arguments choose mutants by name; without any, all are run.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is a fault and the test that must notice it.
type mutant struct {
	name  string
	edits []edit
	in    string // the test's packages; empty is ./templates/...
	test  string
	says  string // what the failing test prints
}

// edit is a change of one file.
type edit struct {
	file string
	old  string // every occurrence is replaced; there must be one
	new  string
}

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1:], os.Stdout); err != nil {
		log.Fatal("mutants: ", err)
	}
}

func run(names []string, table io.Writer) error {
	tree, err := copyTree()
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)
	all := slices.Concat(mutants(), databaseMutants())
	if err := applicable(tree, all); err != nil {
		return err
	}
	survivors := 0
	for _, m := range all {
		if len(names) > 0 && !slices.Contains(names, m.name) {
			continue
		}
		verdict, err := try(tree, m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		if verdict != killed {
			survivors++
		}
		fmt.Fprintf(table, "%-40s %-9s %s\n", m.name, verdict, m.test)
	}
	if survivors > 0 {
		return fmt.Errorf("%d survived", survivors)
	}
	return nil
}

// applicable reports every edit that the tree has moved away from, before the first mutant takes its time.
func applicable(tree string, all []mutant) error {
	var problems []error
	for _, m := range all {
		for _, e := range m.edits {
			src, err := os.ReadFile(filepath.Join(tree, e.file))
			if err == nil && !bytes.Contains(src, []byte(e.old)) {
				err = fmt.Errorf("%s has no %q any more", e.file, e.old)
			}
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", m.name, err))
			}
		}
	}
	return errors.Join(problems...)
}

const (
	killed   = "killed"
	survived = "SURVIVED"
)

// try applies the mutant, runs its test, and puts the tree back.
func try(tree string, m mutant) (verdict string, err error) {
	for _, e := range m.edits {
		putBack, err := apply(tree, e)
		if err != nil {
			return "", err
		}
		defer putBack()
	}
	if out, err := command(tree, "go", "run", "./internal/templategen"); err != nil {
		return "", fmt.Errorf("generate: %w\n%s", err, out)
	}
	out, err := command(tree, "go", "test", "-timeout=120s", "-run=^"+m.test+"$", cmp.Or(m.in, "./templates/..."))
	var exit *exec.ExitError
	switch {
	case err == nil && bytes.Count(out, []byte("[no tests to run]")) == bytes.Count(out, []byte("ok  \t")):
		return "", fmt.Errorf("no test is called %s", m.test)
	case err == nil:
		return survived, nil
	case !errors.As(err, &exit):
		return "", err
	case !bytes.Contains(out, []byte("--- FAIL: "+m.test)) || !bytes.Contains(out, []byte(m.says)):
		return "", fmt.Errorf("failed for another reason:\n%s", out)
	}
	return killed, nil
}

func apply(tree string, e edit) (putBack func(), err error) {
	file := filepath.Join(tree, e.file)
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	putBack = func() {
		if err := os.WriteFile(file, src, 0o644); err != nil {
			log.Fatal("mutants: ", err) // whatever came next would be about two mutants
		}
	}
	return putBack, os.WriteFile(file, bytes.ReplaceAll(src, []byte(e.old), []byte(e.new)), 0o644)
}

func command(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	return cmd.CombinedOutput()
}

// copyTree copies what git knows of the tree, or does not ignore, so that the mutants never touch the original.
func copyTree() (string, error) {
	list, err := command(".", "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return "", fmt.Errorf("list the tree: %w", err)
	}
	tree, err := os.MkdirTemp("", "statigen-mutants-")
	if err != nil {
		return "", err
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		if err := copyFile(name, filepath.Join(tree, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("copy the tree: %w", err)
		}
	}
	return tree, nil
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}
