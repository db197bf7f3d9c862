package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/statigen/statigen/internal/keyspec"
)

// collation turns "C" or "schema.name" into the name as SQL writes it. One without a schema is the
// server's, so that no schema of the search_path can put its own in front.
func (c *checker) collation(field, text string) string {
	if text == "" {
		return ""
	}
	schema, name, found := strings.Cut(text, ".")
	if !found {
		schema, name = "pg_catalog", text
	}
	if schema == "" || name == "" {
		c.report(field, "an empty name (want a collation of pg_catalog's, such as C, or schema.name)")
		return ""
	}
	if !c.name(field, schema) || !c.name(field, name) {
		return ""
	}
	return keyspec.Relation(schema, name)
}

// collations checks the collations of the schema's own columns.
func (c *checker) collations(spec map[string]string) map[string]string {
	var out map[string]string
	for _, column := range CollatedColumns() {
		if name := c.collation("column_collations."+column, spec[column]); name != "" {
			if out == nil {
				out = map[string]string{}
			}
			out[column] = name
		}
	}
	return out
}

// CollatedColumns lists the schema's own columns that may have a collation.
func CollatedColumns() []string {
	return []string{"content_hash", "session_id", "execution_id", "status", "failure", "door"}
}

// MaxDefault is how many bytes a default may have. sqlc reads lines of up to 64 KiB, a literal stands on one, and a byte of it
// takes up to six as an escape.
const MaxDefault = 8192

// checkDefault refuses a literal that the server would refuse for the type, or read in two ways.
func (c *checker) checkDefault(field string, t Type, text *string) {
	if text == nil {
		return
	}
	if len(*text) > MaxDefault {
		c.report(field, "a default of %d bytes (want at most %d)", len(*text), MaxDefault)
		return
	}
	want := ""
	if !t.Array {
		want = wantDefault(t, *text)
	} else if *text != "{}" {
		want = "{}: an array's default is the empty one or none"
	}
	if want != "" {
		c.report(field, "%.100q is not a default for %s (want %s)", *text, t, want)
	}
}

// wantDefault says what would be a default; "" if text is one.
func wantDefault(t Type, text string) string {
	takes := func(ok bool, want string) string {
		if ok {
			return ""
		}
		return want
	}
	switch t.Base {
	case TextType:
		return takes(isText(text), "UTF-8 without a NUL")
	case VarcharType:
		return takes(isText(text) && utf8.RuneCountInString(text) <= t.Length, fmt.Sprintf("UTF-8 without a NUL, at most %d characters", t.Length))
	case UUIDType:
		return takes(matches(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`, text), "8-4-4-4-12 hexadecimal digits")
	case SmallintType:
		return takes(isInteger(text, 16), "digits, such as 42, from -32768 to 32767")
	case IntegerType:
		return takes(isInteger(text, 32), "digits, such as 42, from -2147483648 to 2147483647")
	case BigintType:
		return takes(isInteger(text, 64), "digits, such as 42, from -9223372036854775808 to 9223372036854775807")
	case BooleanType:
		return takes(text == "true" || text == "false", "true or false")
	case NumericType:
		return takes(matches(`-?(0|[1-9][0-9]{0,999})(\.[0-9]{1,1000})?`, text), "a number, such as 12.50, at most 1000 digits on each side of the point")
	case DateType:
		return takes(isTime("2006-01-02", `[0-9]{4}-[0-9]{2}-[0-9]{2}`, text), "YYYY-MM-DD")
	case TimestampType:
		return takes(isTime("2006-01-02 15:04:05", dateTime, text), "YYYY-MM-DD HH:MM:SS in UTC, with up to six digits of a fraction")
	case TimestamptzType:
		return takes(isTime("2006-01-02 15:04:05Z", dateTime+"Z", text), "YYYY-MM-DD HH:MM:SSZ, with up to six digits of a fraction before the Z")
	case JSONBType:
		return takes(isJSON(text), `JSON without \u escapes, numbers of at most 1000 digits and exponents, and at most 100 levels`)
	case ByteaType:
		return takes(matches(`\\x([0-9a-fA-F]{2})*`, text), `\x and pairs of hexadecimal digits`)
	}
	return "none"
}

const dateTime = `[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?`

func matches(pattern, text string) bool {
	return regexp.MustCompile(`\A(?:` + pattern + `)\z`).MatchString(text)
}

func isText(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

func isInteger(text string, bits int) bool {
	n, err := strconv.ParseInt(text, 10, bits)
	return err == nil && strconv.FormatInt(n, 10) == text
}

func isTime(layout, pattern, text string) bool {
	t, err := time.Parse(layout, text)
	return err == nil && t.Year() >= 1 && matches(pattern, text)
}

// isJSON says whether the text is JSON that jsonb takes for certain: what it refuses needs an escape, a number outside numeric's
// range or a depth that overflows its stack.
func isJSON(text string) bool {
	if !isText(text) || !json.Valid([]byte(text)) || strings.Contains(text, `\u`) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil {
			return true // the end, for the text is valid
		}
		switch token := token.(type) {
		case json.Delim:
			if depth++; token == '}' || token == ']' {
				depth -= 2
			}
		case json.Number:
			if !matches(`-?[0-9]{1,1000}(\.[0-9]{1,1000})?([eE][+-]?[0-9]{1,3})?`, token.String()) {
				return false
			}
		}
		if depth > 100 {
			return false
		}
	}
}
