//go:build unix

package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// serverAccount makes a process run in a session of its own, so that the terminal's interrupt does not reach it, and,
// because initdb refuses root, never as root.
func serverAccount() (*syscall.SysProcAttr, error) {
	account := &syscall.SysProcAttr{Setsid: true}
	if os.Geteuid() != 0 {
		return account, nil
	}
	credential, err := unprivileged("postgres", "nobody")
	account.Credential = credential
	return account, err
}

// unprivileged is the first of the users that this machine has.
func unprivileged(names ...string) (*syscall.Credential, error) {
	for _, name := range names {
		found, err := user.Lookup(name)
		if errors.As(err, new(user.UnknownUserError)) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look for a user to run Postgres as: %w", err)
		}
		return credential(found)
	}
	return nil, fmt.Errorf("initdb refuses root, and this machine has none of the users %q", names)
}

func credential(u *user.User) (*syscall.Credential, error) {
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("user %s: %w", u.Username, err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("user %s: %w", u.Username, err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}
