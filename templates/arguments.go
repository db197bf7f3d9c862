package store

import (
	"strings"
	"unicode/utf8"
)

func (c Chart) check() error {
	if err := checkText("ContentHash", c.ContentHash); err != nil {
		return err
	}
	if err := c.Leading.check(); err != nil {
		return err
	}
	if err := checkBlob("IdentityBlob", c.IdentityBlob); err != nil {
		return err
	}
	return checkBlob("ChartBlob", c.ChartBlob)
}

func (e NewExecution) check() error {
	if err := checkText("ExecutionID", e.ExecutionID); err != nil {
		return err
	}
	if err := checkText("ContentHash", e.ContentHash); err != nil {
		return err
	}
	if err := e.Leading.check(); err != nil {
		return err
	}
	if err := checkRowID(e.RowID); err != nil {
		return err
	}
	if err := checkBlob("IdentityBlob", e.IdentityBlob); err != nil {
		return err
	}
	return checkMetadata(e.Metadata)
}

// checkText refuses what the server would refuse as text, and the empty string, which names nothing.
func checkText(field, value string) error {
	if value == "" {
		return &InvalidError{field, "is empty"}
	}
	return checkChars(field, value)
}

func checkChars(field, value string) error {
	if reason := refusedByText(value); reason != "" {
		return &InvalidError{field, reason}
	}
	return nil
}

func refusedByText(value string) string {
	switch {
	case strings.ContainsRune(value, 0):
		return "holds a NUL character"
	case !utf8.ValidString(value):
		return "is not valid UTF-8"
	}
	return ""
}

func checkBlob(field string, blob []byte) error {
	if blob == nil {
		return &InvalidError{field, "is nil (want bytes, if only none)"}
	}
	return nil
}
