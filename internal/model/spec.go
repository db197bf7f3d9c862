package model

// Spec is one store as a host's config words it: text, defaults not filled in. New checks it.
type Spec struct {
	Name        string
	Package     string
	Out         string
	Prefix      string
	TablePrefix *string
	Tables      map[string]string // by concept: charts, positions, executions, inputs
	ID          string
	Leading     []ColumnSpec
	LockKey     string

	TimestampsPosition string
	Collations         map[string]string // by column
	DistinctSearchPath bool
}

// ColumnSpec is one leading column as a host's config words it.
type ColumnSpec struct {
	Name      string
	Type      string
	Collation string
	NotNull   bool
	Default   *string
}

// Problem is a fault in a Spec: where, and what would be accepted. Field is a path such as
// "leading_columns.1.type"; whoever read the spec knows at which line that stands.
type Problem struct {
	Field string
	Text  string
}

// Module is the Go module that the stores are generated into.
type Module struct {
	Path string // from its go.mod
	Dir  string // where the config lies below the module's root, slash-separated, "." for the root
}
