//go:build !unix

package pgtest

import "errors"

func killServer(int, func() ([]int, error)) error { return errors.ErrUnsupported }

func postmasterIn(string) (int, error) { return 0, errors.ErrUnsupported }
