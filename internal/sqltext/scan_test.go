package sqltext

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	pgquery "github.com/pganalyze/pg_query_go/v6"

	"github.com/statigen/statigen/internal/keyspec"
)

// judged are the kinds of nodes that emitted SQL is made of. What the search_path could resolve in them is a name in a
// field of fields, or is reported by implied; the rest of each is wired into the server. A kind that is not here is
// reported, so whoever writes one has to find out first what it looks up.
//
// ORDER BY, GROUP BY, DISTINCT, UNION, GREATEST and LEAST compare by the default operator class of the type, of which there is
// one whatever the path. COALESCE, IS NULL, IS TRUE, AND, OR and NOT look nothing up.
var judged = []string{
	"SelectStmt", "InsertStmt", "UpdateStmt", "DeleteStmt", "CreateSchemaStmt", "CreateStmt", "IndexStmt",
	"ColumnDef", "Constraint", "IndexElem", "CommonTableExpr", "RangeVar", "RangeSubselect", "RangeFunction", "JoinExpr", "LockingClause",
	"ResTarget", "ColumnRef", "SortBy", "A_Const", "A_ArrayExpr", "A_Expr", "FuncCall", "TypeCast", "CollateClause", "SubLink",
	"BoolExpr", "NullTest", "BooleanTest", "CoalesceExpr", "MinMaxExpr", "CaseExpr", "CaseWhen",
	"List", "String", "Integer",
}

// fields are those in which the parser leaves the parts of a name. What it qualifies itself, as it does AT TIME ZONE,
// EXTRACT and the type timestamp, has its schema there already.
var fields = map[string]string{
	"funcname": "function", "names": "type", "collname": "collation", "opclass": "operator class",
	"name": "operator", "operName": "operator", "useOp": "operator",
}

// named collects what a text leaves to the search_path.
type named struct {
	own   map[string]bool // the store's tables and the statement's WITH queries, as SQL writes them
	seen  int             // how many names were looked at
	found []string
}

// leftToThePath lists what the search_path would resolve in a text, and says how many names there are.
func leftToThePath(text string, relations ...string) ([]string, int, error) {
	tree, err := pgquery.ParseToJSON(text)
	if err != nil {
		return nil, 0, err
	}
	var parsed struct{ Stmts []any }
	if err := json.Unmarshal([]byte(tree), &parsed); err != nil {
		return nil, 0, err
	}
	n := &named{own: map[string]bool{}}
	for _, r := range relations {
		n.own[r] = true
	}
	n.withQueries(parsed.Stmts)
	n.walk("", parsed.Stmts)
	return n.found, n.seen, nil
}

func (n *named) report(format string, args ...any) {
	n.found = append(n.found, fmt.Sprintf(format, args...))
}

// withQueries notes the names of WITH queries, which come before any relation.
func (n *named) withQueries(node any) {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			n.withQueries(item)
		}
	case map[string]any:
		if name, ok := node["ctename"].(string); ok {
			n.own[keyspec.QuoteIdent(name)] = true
		}
		for _, child := range node {
			n.withQueries(child)
		}
	}
}

func (n *named) walk(kind string, node any) {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			n.walk(kind, item)
		}
	case map[string]any:
		if !parameter(kind, node) {
			n.node(kind, node)
		}
		for _, key := range slices.Sorted(maps.Keys(node)) {
			n.walk(n.kind(key), node[key])
		}
	}
}

// kind is what a key says of the node below it: kinds are written large, fields small.
func (n *named) kind(key string) string {
	if !unicode.IsUpper(rune(key[0])) {
		return ""
	}
	if !slices.Contains(judged, key) {
		n.report("a %s, which nobody has judged", key)
	}
	return key
}

// parameter knows the two ways to write one in our texts, which sqlc makes $1 of: @name and sqlc.narg(name). To the parser
// they are an operator before a column, with a cast or without, and a function.
func parameter(kind string, node map[string]any) bool {
	if kind == "FuncCall" {
		return slices.Equal(parts(node["funcname"]), []string{"sqlc", "narg"})
	}
	if kind != "A_Expr" || node["lexpr"] != nil || !slices.Equal(parts(node["name"]), []string{"@"}) {
		return false
	}
	of, _ := node["rexpr"].(map[string]any)
	if cast, ok := of["TypeCast"].(map[string]any); ok {
		of, _ = cast["arg"].(map[string]any)
	}
	return of["ColumnRef"] != nil
}

// parts are those of a name.
func parts(name any) []string {
	list, _ := name.([]any)
	var all []string
	for _, item := range list {
		node, _ := item.(map[string]any)
		text, _ := node["String"].(map[string]any)
		part, _ := text["sval"].(string)
		all = append(all, part)
	}
	return all
}

func (n *named) node(kind string, node map[string]any) {
	for field, what := range fields {
		if name := parts(node[field]); name != nil {
			n.name(what, name)
		}
	}
	if table, ok := node["relname"].(string); ok {
		schema, _ := node["schemaname"].(string)
		n.relation(schema, table)
	}
	n.implied(kind, node)
	n.spelled(kind, node)
}

// name reports one that has no schema, or another than the server's own; a collation's may be a host's.
func (n *named) name(what string, name []string) {
	n.seen++
	switch {
	case what == "type" && slices.Equal(name, []string{"bigserial"}):
		return // a word of the parser's, which cannot be qualified
	case len(name) < 2 || what != "collation" && name[0] != "pg_catalog":
		n.report("%s %s", what, strings.Join(name, "."))
	case what == "type" && strings.HasPrefix(name[1], "reg"):
		n.report("what a %s looks up at run time", name[1])
	}
}

func (n *named) relation(schema, table string) {
	n.seen++
	if name := keyspec.Relation(schema, table); schema != "pg_catalog" && !n.own[name] {
		n.report("relation %s", name)
	}
}

// implied reports the operators that SQL's own syntax looks up by the path. Those of IN, BETWEEN, NULLIF, LIKE and IS DISTINCT
// FROM have a name in their nodes.
func (n *named) implied(kind string, node map[string]any) {
	switch {
	case kind == "CaseExpr" && node["arg"] != nil:
		n.report("operator = of CASE with an operand")
	case kind == "SubLink" && node["testexpr"] != nil && node["operName"] == nil:
		n.report("operator = of IN with a subquery")
	case kind == "JoinExpr" && (node["usingClause"] != nil || node["isNatural"] != nil):
		n.report("operator = of JOIN USING")
	case kind == "ColumnRef" && strings.Contains(fmt.Sprint(node["fields"]), "A_Star"):
		n.report("the columns of *")
	}
}

// spelled reports a relation whose name is given in a string, and which is not the store's.
func (n *named) spelled(kind string, node map[string]any) {
	if kind != "FuncCall" || !slices.Contains(parts(node["funcname"]), "row_security_active") {
		return
	}
	argument, _ := json.Marshal(node["args"])
	if !strings.Contains(string(argument), `"sval":`) || strings.HasPrefix(string(argument), `[{"ColumnRef":`) {
		return // the oid of a relation that the catalogs name
	}
	for name := range n.own {
		if quoted, _ := json.Marshal(name); strings.Contains(string(argument), `"sval":`+string(quoted)) {
			return
		}
	}
	n.report("relation in %s", argument)
}
