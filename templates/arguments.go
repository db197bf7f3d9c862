package store

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

func (c Chart) check() error {
	if err := checkKey("ContentHash", c.ContentHash); err != nil {
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
	if err := checkKey("ExecutionID", e.ExecutionID); err != nil {
		return err
	}
	if err := checkKey("ContentHash", e.ContentHash); err != nil {
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
	if err := e.Linkage.check(); err != nil {
		return err
	}
	return checkMetadata(e.Metadata)
}

func (r ExecutionRef) check() error {
	if err := checkKey("ExecutionID", r.ExecutionID); err != nil {
		return err
	}
	if err := checkKey("ContentHash", r.ContentHash); err != nil {
		return err
	}
	return r.Linkage.check()
}

func (p Position) check() error {
	if err := checkKey("SessionID", p.SessionID); err != nil {
		return err
	}
	if err := checkKey("ContentHash", p.ContentHash); err != nil {
		return err
	}
	if err := p.Leading.check(); err != nil {
		return err
	}
	if err := checkBlob("IdentityBlob", p.IdentityBlob); err != nil {
		return err
	}
	return checkBlob("PositionBlob", p.PositionBlob)
}

func (i Input) check() error {
	if err := checkText("Door", i.Door); err != nil {
		return err
	}
	return checkBlob("InputBlob", i.InputBlob)
}

func (s Step) check() error {
	switch {
	case s.Discard && (s.Status != "" || s.PositionBlob != nil || s.KeepPosition || s.Failure != nil || s.OutcomeBlob != nil || s.Input != nil):
		return &InvalidError{"Discard", "is set beside what is to be written"}
	case s.Discard:
		return nil
	case s.Status != Active && s.Status != Completed && s.Status != Failed && s.Status != Cancelled:
		return &InvalidError{"Status", fmt.Sprintf("is %q (want active, completed, failed or cancelled)", s.Status)}
	case s.KeepPosition && s.PositionBlob != nil:
		return &InvalidError{"PositionBlob", "is set beside KeepPosition"}
	}
	if s.Failure != nil {
		if err := checkChars("Failure", *s.Failure); err != nil {
			return err
		}
	}
	if s.Input != nil {
		return s.Input.check()
	}
	return nil
}

// maxKey is how many bytes a text may have that is written into an index. A row of an index holds 2,704 bytes; the widest
// index, that of inputs by execution and number, leaves this many. Some longer ones the server would compress and take, but
// which ones is not for a caller to know.
const maxKey = 2684

// checkKey is checkText for what is written into an index. What is only looked for may be longer: it is not found.
func checkKey(field, value string) error {
	if len(value) > maxKey {
		return &InvalidError{field, fmt.Sprintf("has more than %d bytes", maxKey)}
	}
	return checkText(field, value)
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
