//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package output

import (
	"os"
	"syscall"
)

// lockFolder waits until no other run has the folder. The lock ends with the file, or with the process.
func lockFolder(dir *os.File) (alone bool, err error) {
	return true, syscall.Flock(int(dir.Fd()), syscall.LOCK_EX)
}

// syncFolder waits until what was linked and renamed in the folder is on disk.
func syncFolder(dir *os.File) error { return dir.Sync() }
