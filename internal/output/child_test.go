//go:build unix

package output_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/statigen/statigen/internal/output"
)

// errand is a write that a process of its own makes, with what goes wrong in it.
type errand struct {
	Folders      []output.Folder
	Steps        int    // after so many it is killed; negative: never
	FileSize     uint64 // no file may grow beyond; zero: no limit
	Unprivileged bool   // not as root, whom no permission stops
	Survey       string // a module that is looked at instead
	Append       string // a folder to which the addition is made instead
	Addition     output.Addition
}

const errandMarker = "STATIGEN_TEST_ERRAND"

func TestMain(m *testing.M) {
	if os.Getenv(errandMarker) == "" {
		os.Exit(m.Run())
	}
	var e errand
	err := json.NewDecoder(os.Stdin).Decode(&e)
	if err == nil {
		err = e.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (e errand) run() error {
	if e.FileSize > 0 {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: e.FileSize, Max: e.FileSize}); err != nil {
			return err
		}
	}
	if e.Unprivileged && os.Geteuid() == 0 {
		if err := syscall.Setuid(65534); err != nil {
			return err
		}
	}
	if e.Survey != "" {
		_, err := output.Survey(e.Survey, "statigen.yaml")
		return err
	}
	if e.Append != "" && e.Steps < 0 {
		_, err := output.Append(e.Append, always(e.Addition))
		return err
	}
	if e.Append != "" {
		return output.AppendAndDie(e.Append, e.Addition, e.Steps)
	}
	if e.Steps >= 0 {
		return output.WriteAndDie(e.Folders, e.Steps)
	}
	_, err := output.Write(e.Folders, false)
	return err
}

// start runs the errand and returns how it ended, and what it said.
func (e errand) start(t *testing.T) (*os.ProcessState, string) {
	t.Helper()
	input, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), errandMarker+"=1")
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState, stderr.String()
}

// killed says whether the errand was killed before it was done. That it fails is a fault of the test.
func (e errand) killed(t *testing.T) bool {
	t.Helper()
	state, said := e.start(t)
	if state.Exited() && !state.Success() {
		t.Fatal(said)
	}
	return !state.Exited()
}

// refused says what the errand failed with.
func (e errand) refused(t *testing.T) string {
	t.Helper()
	e.Steps = -1
	state, said := e.start(t)
	if state.ExitCode() != 1 {
		t.Errorf("the errand ended with %s, want an error", state)
	}
	return said
}
