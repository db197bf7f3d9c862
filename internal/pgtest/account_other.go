//go:build !unix

package pgtest

import (
	"errors"
	"syscall"
)

// serverAccount refuses: the watchdog is a shell script.
func serverAccount() (*syscall.SysProcAttr, error) {
	return nil, errors.New("no throwaway Postgres on this system: set " + urlVariable)
}
