package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Linkage ties a child to its parent: it stands in the child's metadata, under a key of its own. As long as the parent is
// active or parked, it pins the chart that it names.
type Linkage struct {
	ParentExecutionID string `json:"parent_execution_id"`
	InvokeID          string `json:"invoke_id"`
	ChildIndex        int64  `json:"child_index"`           // from 0, among the children of one invocation
	ContentHash       string `json:"content_hash"`          // the child's chart
	ChildCount        int64  `json:"child_count,omitempty"` // of a fan-out, with Policy: how many children it has
	Policy            string `json:"policy,omitempty"`      // of a fan-out: PolicyAll or PolicyFirstError
}

// When a fan-out is done: with all of its children, or with the first that fails.
const (
	PolicyAll        = "all"
	PolicyFirstError = "first_error"
)

// ChildID is the execution id that the Elixir library gives this child.
func (l Linkage) ChildID() string {
	return l.ParentExecutionID + "/" + l.InvokeID + "/" + strconv.FormatInt(l.ChildIndex, 10)
}

func (l *Linkage) check() error {
	if l == nil {
		return nil
	}
	for _, part := range []struct{ field, value string }{
		{"ParentExecutionID", l.ParentExecutionID}, {"InvokeID", l.InvokeID}, {"ContentHash", l.ContentHash},
	} {
		if err := checkText("Linkage."+part.field, part.value); err != nil {
			return err
		}
	}
	return l.checkFanOut()
}

func (l *Linkage) checkFanOut() error {
	switch {
	case l.ChildIndex < 0:
		return &InvalidError{"Linkage.ChildIndex", "is negative"}
	case l.ChildCount == 0 && l.Policy == "":
		return nil
	case l.ChildCount <= l.ChildIndex:
		return &InvalidError{"Linkage.ChildCount", "is not above ChildIndex (want both ChildCount and Policy, or neither)"}
	case l.Policy != PolicyAll && l.Policy != PolicyFirstError:
		return &InvalidError{"Linkage.Policy", fmt.Sprintf("is %q (want all or first_error)", l.Policy)}
	}
	return nil
}

// Linkage is what ties the execution to its parent, and whether anything does. Metadata that is not exactly of the form is
// nothing.
func (e Execution) Linkage() (Linkage, bool) {
	var metadata map[string]json.RawMessage
	if err := json.Unmarshal(e.Metadata, &metadata); err != nil {
		return Linkage{}, false
	}
	var l Linkage
	if err := json.Unmarshal(metadata[linkageKey], &l); err != nil || l.check() != nil {
		return Linkage{}, false
	}
	return l, true
}

// pins are the charts that the execution will pin, each once.
func (e NewExecution) pins() []string {
	pins := []string{e.ContentHash}
	if e.Linkage != nil && e.Linkage.ContentHash != e.ContentHash {
		pins = append(pins, e.Linkage.ContentHash)
	}
	slices.Sort(pins)
	return pins
}
