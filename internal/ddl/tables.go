package ddl

import (
	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/sqltext"
)

// table is a table that is being described: the id, the host's columns, then the schema's own in order. The two
// timestamps stand on one side of those or the other, and columns of later versions come last.
type table struct {
	store model.Store
	Table
}

func describe(s model.Store, t model.Table, own func(*table)) table {
	d := table{s, Table{Concept: t.Concept, Name: t.Name}}
	d.Columns = append(d.Columns, Column{Name: "id", Type: s.ID.ColumnType(), NotNull: true, PrimaryKey: true})
	for _, c := range s.Leading {
		d.Columns = append(d.Columns, leading(c))
	}
	if s.TimestampsFirst {
		d.timestamps()
	}
	own(&d)
	if !s.TimestampsFirst {
		d.timestamps()
	}
	return d
}

func leading(c model.Column) Column {
	column := Column{Name: c.Name, Type: c.Type.ColumnSQL(), Collation: c.Collation, NotNull: c.NotNull}
	if c.Default != nil {
		column.Default = sqltext.Default(c)
	}
	return column
}

func (t *table) timestamps() {
	t.required("inserted_at", timestampType)
	t.required("updated_at", timestampType)
}

func (t *table) required(name, typ string) {
	t.Columns = append(t.Columns, Column{Name: name, Type: typ, Collation: t.store.Collations[name], NotNull: true})
}

func (t *table) nullable(name, typ string) {
	t.Columns = append(t.Columns, Column{Name: name, Type: typ, Collation: t.store.Collations[name]})
}

// unique is a unique index whose name the reference leaves to Ecto.
func (t *table) unique(suffix string, columns ...string) {
	index := Index{Name: model.Table{Name: t.Name}.DerivedIndex(suffix), Unique: true, Method: "btree"}
	for _, c := range columns {
		index.Keys = append(index.Keys, Key{Column: c})
	}
	t.Indexes = append(t.Indexes, index)
}

// index is another index; its name is spelled from the raw table name.
func (t *table) index(suffix, method string, key Key, predicate string) {
	name := model.Table{Name: t.Name}.Index(suffix)
	t.Indexes = append(t.Indexes, Index{Name: name, Method: method, Keys: []Key{key}, Predicate: predicate})
}

func charts(s model.Store, v Version) Table {
	t := describe(s, s.Charts, func(t *table) {
		t.required("content_hash", textType)
		blob := t.required
		if v >= retired {
			blob = t.nullable
		}
		blob("identity_blob", byteaType)
		blob("chart_blob", byteaType)
	})
	if v >= retired {
		t.nullable("retired_at", timestampType)
		t.nullable("retired_by", textType)
	}
	t.unique("content_hash", "content_hash")
	return t.Table
}

func positions(s model.Store, v Version) Table {
	t := describe(s, s.Positions, func(t *table) {
		t.required("session_id", textType)
		t.required("content_hash", textType)
		t.required("identity_blob", byteaType)
		t.required("position_blob", byteaType)
	})
	t.unique("session_id", "session_id")
	if v > 8 {
		t.index("content_hash", "btree", Key{Column: "content_hash"}, "")
	}
	return t.Table
}

func executions(s model.Store, v Version) Table {
	t := describe(s, s.Executions, func(t *table) {
		t.required("execution_id", textType)
		t.required("status", textType)
		t.required("content_hash", textType)
		t.required("identity_blob", byteaType)
		t.nullable("position_blob", byteaType)
		t.nullable("failure", textType)
		t.nullable("session_id", textType)
	})
	t.unique("execution_id", "execution_id")
	t.later(v)
	return t.Table
}

// later are the columns and indexes of the executions that came after version 1.
func (t *table) later(v Version) {
	if v >= 2 {
		t.nullable("metadata", "pg_catalog.jsonb")
	}
	if v >= 3 {
		t.nullable("outcome_blob", byteaType)
		t.index("metadata_gin", "gin", Key{Column: "metadata", Class: "pg_catalog.jsonb_path_ops"}, "")
	}
	if v >= retired {
		t.index("content_hash", "btree", Key{Column: "content_hash"}, "")
	}
	if v >= 8 {
		t.nullable("ended_at", timestampType)
		t.index("ended_at", "btree", Key{Column: "ended_at"}, "")
	}
	if v > 8 {
		t.index("live_content_hash", "btree", Key{Column: "content_hash"}, Live)
	}
}

func inputs(s model.Store) Table {
	t := describe(s, s.Inputs, func(t *table) {
		t.required("execution_id", textType)
		t.required("seq", "pg_catalog.int8")
		t.required("door", textType)
		t.nullable("input_blob", byteaType)
	})
	t.unique("execution_id_seq", "execution_id", "seq")
	return t.Table
}
