//go:build unix

package pgtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// killServer ends the postmaster and all its children by SIGKILL: nothing is flushed, nobody is told. The postmaster is
// stopped first, and starts no child while the others are counted.
func killServer(postmaster int, backends func() ([]int, error)) error {
	if err := syscall.Kill(postmaster, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stop postmaster %d: %w", postmaster, err)
	}
	pids, err := backends()
	pids = append(pids, postmaster) // even if its children are not known
	for _, pid := range pids {
		if gone := syscall.Kill(pid, syscall.SIGKILL); gone != nil && !errors.Is(gone, syscall.ESRCH) {
			err = errors.Join(err, fmt.Errorf("kill %d: %w", pid, gone))
		}
	}
	if !within(patience, func() bool { return !slices.ContainsFunc(pids, alive) }) {
		err = errors.Join(err, fmt.Errorf("some of the processes %v do not end", pids))
	}
	return err
}

// alive tells a process from none, and, on Linux, from one that has ended and that its new parent has not reaped yet.
func alive(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // other systems have no /proc
	return syscall.Kill(pid, 0) == nil && !bytes.Contains(stat, []byte(") Z "))
}

// postmasterIn reads the process of the server whose data are in the folder.
func postmasterIn(data string) (pid int, err error) {
	lock, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Sscan(string(lock), &pid); err != nil {
		return 0, fmt.Errorf("read postmaster.pid: %w", err)
	}
	return pid, nil
}
