package emit

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/model"
)

// doc emits the package's documentation.
func doc(f *jen.File, s model.Store) {
	text := fmt.Sprintf(`Package %s is the store %s: durable statechart executions in Postgres.

Putting an execution on a chart and retiring that chart race each other. A lock orders them: whatever puts an
execution on a chart, or reads that the chart is not retired, takes the chart's shared lock first; a retirement
takes the exclusive one first.

	               | a reader or a create comes     | a retirement comes
	while a create | no wait                        | waits; then pinned, or retired if
	is under way   |                                | the create was rolled back
	while a retire | waits; then retired, and       | waits; then retired, by the first
	is under way   | nothing is written             |

Nothing waits across two charts or two stores, short of a collision of the key's 32 bits, which delays and never
answers wrongly; in one transaction, a pin on a chart then counts as one on a chart whose key collides, and a retirement of
that is refused as an upgrade.

The lock is an advisory lock of two int4 keys:

%s

It is fixed in the SQL of this package. Changing the store's prefix, its table names or its lock key changes it,
and while replicas with the old key and the new one run together, they do not exclude each other.

The execution lock is an advisory lock of one bigint, hashtextextended(execution id, 0), in another key space.`,
		s.Package, s.Name, lockText(s))
	for line := range strings.SplitSeq(text, "\n") {
		f.PackageComment(strings.TrimRight("// "+line, " "))
	}
}

func lockText(s model.Store) string {
	byHash := fmt.Sprintf("\t(%d, hashtext(content hash))", keyspec.Namespace)
	byStore := fmt.Sprintf("\t(%d, hashtext('%s' || content hash))", keyspec.Namespace, keyspec.Text(s.StoreString(), ""))
	switch s.LockKey {
	case keyspec.ContentHash:
		return byHash + "\n\nThe store is not in it: all stores of a database wait on each other."
	case keyspec.Both:
		return byHash + "\n" + byStore + "\n\nBoth are taken, the smaller key first."
	}
	return byStore
}

// lock emits the constants of the chart lock.
func lock(f *jen.File, s model.Store) {
	// const Namespace int32 = 1397769032
	f.Comment("Namespace is the first of a chart lock's two int4 keys: the bytes SPCH. It is the classid in pg_locks.")
	f.Const().Id("Namespace").Int32().Op("=").Lit(int(keyspec.Namespace))
	f.Line()
	// const StoreString = `"loans"."statifier_charts"`
	f.Comment("StoreString is the charts table as the chart lock's key knows it.")
	f.Const().Id("StoreString").Op("=").Add(stringConstant(s.StoreString()))
	f.Line()
	// const LockKey = "store"
	comment(f, "LockKey says which text is hashed for the second key: store, a space and the content hash (store), the\n"+
		"content hash alone (content_hash), or each of them (both).")
	f.Const().Id("LockKey").Op("=").Lit(string(s.LockKey))
}

// schemaConstant emits the DDL.
//
//	const Schema = `CREATE TABLE …`
func schemaConstant(f *jen.File, schema []byte) {
	f.Comment("Schema is the DDL of the store's tables, the text of schema.sql. Apply it once, with your migration tool.")
	f.Const().Id("Schema").Op("=").Add(stringConstant(string(schema)))
}

// stringConstant is a raw string, which reads as it is, unless the text holds a backquote.
func stringConstant(text string) *jen.Statement {
	if strings.ContainsAny(text, "`\r") {
		return jen.Lit(text)
	}
	return jen.Op("`" + text + "`")
}
