//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package output

import "os"

// lockFolder does nothing where folders cannot be locked: two runs at a time still write whole files, but one that comes
// between the other's renames may find generated files without a manifest, and say so.
func lockFolder(*os.File) (alone bool, err error) { return false, nil }

// syncFolder does nothing: where folders cannot be locked, they may not be synced either.
func syncFolder(*os.File) error { return nil }
