package store_test

import (
	"reflect"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	store "github.com/statigen/statigen/templates"
)

// setRowID gives an execution a row id of the host's making, if the store's id scheme lets it.
func setRowID(e *store.NewExecution) bool {
	field := reflect.ValueOf(&e.RowID).Elem()
	switch field.Interface().(type) {
	case string:
		field.SetString("exec_" + newHash())
	case pgtype.UUID:
		n := serial.Add(1)
		field.Set(reflect.ValueOf(pgtype.UUID{Bytes: [16]byte{0: 1, 14: byte(n >> 8), 15: byte(n)}, Valid: true}))
	default:
		return false
	}
	return true
}

func TestABigserialRowIDCannotBeSet(t *testing.T) {
	h := newHost(t)
	e := newExecution(newHash())
	if setRowID(&e) {
		return // the store makes the ids
	}
	reflect.ValueOf(&e.RowID).Elem().SetInt(7)
	invalid := wantAs[*store.InvalidError](t, second(h.store(t).CreateExecution(t.Context(), e)))
	if invalid.Field != "RowID" {
		t.Errorf("refused %s, want RowID", invalid.Field)
	}
}
