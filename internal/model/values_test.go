package model_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// leadingColumn returns the problems of a store with one leading column.
func leadingColumn(c model.ColumnSpec) (model.Store, []model.Problem) {
	c.Name = "host_column"
	return model.New(model.Module{Path: "example.com/host", Dir: "."}, model.Spec{Name: "s", Out: "store", Leading: []model.ColumnSpec{c}})
}

// Whatever is taken for a default is one for the server, and has the meaning that it has here: written back, it is the same.
func TestTheServerTakesEveryDefaultThatIsTaken(t *testing.T) {
	conn := pgtest.New(t, "").Conn(t, pgtest.Setting("DateStyle", "ISO, DMY"), pgtest.Setting("TimeZone", "UTC"))
	for typeName, texts := range map[string]string{
		"text":        "|a|it's|\\x",
		"varchar(3)":  "|abc|日本語",
		"uuid":        "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
		"smallint":    "0|-32768|32767",
		"integer":     "-2147483648|2147483647",
		"bigint":      "-9223372036854775808|9223372036854775807",
		"boolean":     "true|false",
		"numeric":     "0|-0.50|12|" + strings.Repeat("9", 1000) + "." + strings.Repeat("9", 1000),
		"date":        "0001-01-01|9999-12-31|2024-02-29",
		"timestamp":   "0001-01-01 00:00:00|2024-02-29 23:59:59.123456",
		"timestamptz": "0001-01-01 00:00:00Z|9999-12-31 23:59:59.999999Z",
		"jsonb":       `null|1|"x"|[1, 2]|{"a": [true, {}]}|` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `|"\\n"`,
		"bytea":       `\x|\x00ff`,
		"text[]":      "{}",
		"bytea[]":     "{}",
	} {
		for text := range strings.SplitSeq(texts, "|") {
			store, problems := leadingColumn(model.ColumnSpec{Type: typeName, Default: &text})
			if len(problems) > 0 {
				t.Errorf("%s %.40q is refused: %v", typeName, text, problems)
				continue
			}
			var back string
			sql := "SELECT CAST($1::text AS " + store.Leading[0].Type.ColumnSQL() + ")::text"
			if err := conn.QueryRow(t.Context(), sql, text).Scan(&back); err != nil {
				t.Errorf("%s: the server refuses %.40q: %v", typeName, text, err)
			} else if want := strings.Replace(text, "Z", "+00", 1); back != want {
				t.Errorf("%s: the server reads %.40q as %.40q", typeName, text, back)
			}
		}
	}
}

func TestWhatIsNoDefaultIsRefused(t *testing.T) {
	for typeName, texts := range map[string]string{
		"text":        "a\x00b|a\xffb",
		"varchar(3)":  "abcd|a\x00|abc ",
		"uuid":        "|6ba7b8109dad11d180b400c04fd430c8|gen_random_uuid()",
		"smallint":    "|32768|+1|1.0|0x1",
		"integer":     "2147483648|1_000",
		"bigint":      "9223372036854775808|-0|007",
		"boolean":     "yes|t|TRUE|1|",
		"numeric":     "|.5|1.|1e3|NaN|01|Infinity",
		"date":        "|now|2023-02-29|2024-2-1|0000-01-01|01-02-2024|20240101|infinity|2024-01-01 BC",
		"timestamp":   "2024-01-01|now()|2024-01-01T00:00:00|2024-01-01 00:00:00Z|2024-01-01 24:00:00|2024-01-01 1:00:00|2024-01-01 00:00:00.1234567|2024-01-01 00:00:00,5",
		"timestamptz": "2024-01-01 00:00:00|2024-01-01 00:00:00+01|2024-01-01 00:00:00 UTC",
		"jsonb":       `|{|{} {}|"\u0000"|"\ud800"|1e1000|[1e99999]|nan|` + strings.Repeat("[", 101) + strings.Repeat("]", 101),
		"bytea":       `|abc|\x0|\xgg|\\000`,
		"text[]":      "|{a}|{}{}|ARRAY[]| {}",
	} {
		for text := range strings.SplitSeq(texts, "|") {
			_, problems := leadingColumn(model.ColumnSpec{Type: typeName, Default: &text})
			refused := func(p model.Problem) bool {
				return p.Field == "leading_columns.0.default" && strings.Contains(p.Text, " is not a default for "+typeName+" (want ")
			}
			if len(problems) != 1 || !slices.ContainsFunc(problems, refused) {
				t.Errorf("%s %.40q: problems %v, want one that says what would be a default", typeName, text, problems)
			}
		}
	}
}
