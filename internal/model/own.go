package model

// maxColumns is how many columns a Postgres table holds.
const maxColumns = 1600

// OwnColumns lists the columns that the schema itself gives each table, by concept.
func OwnColumns() map[string][]string {
	return map[string][]string{
		"charts": {"id", "content_hash", "identity_blob", "chart_blob", "inserted_at", "updated_at", "retired_at", "retired_by"},
		"positions": {
			"id", "session_id", "content_hash", "identity_blob", "position_blob", "inserted_at", "updated_at",
		},
		"executions": {
			"id", "execution_id", "status", "content_hash", "identity_blob", "position_blob", "failure", "session_id",
			"inserted_at", "updated_at", "metadata", "outcome_blob", "ended_at",
		},
		"inputs": {"id", "execution_id", "seq", "door", "input_blob", "inserted_at", "updated_at"},
	}
}

// MaxLeading is how many leading columns the table with the most columns of its own has room for.
func MaxLeading() int {
	widest := 0
	for _, columns := range OwnColumns() {
		widest = max(widest, len(columns))
	}
	return maxColumns - widest
}
