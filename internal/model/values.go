package model

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/statigen/statigen/internal/keyspec"
)

// collation turns "C" or "schema.name" into the name as SQL writes it. One without a schema is the
// server's, so that no schema of the search_path can put its own in front.
func (c *checker) collation(field string, t Type, text string) string {
	if text == "" {
		return ""
	}
	if t != TextType {
		c.report(field, "a %s column has no collation", t)
		return ""
	}
	schema, name, found := strings.Cut(text, ".")
	if !found {
		schema, name = "pg_catalog", text
	}
	if !c.name(field, schema) || !c.name(field, name) {
		return ""
	}
	return keyspec.Relation(schema, name)
}

// checkDefault refuses a literal that the server would refuse for the type, or read in two ways.
func (c *checker) checkDefault(field string, t Type, text *string) {
	if text == nil {
		return
	}
	switch t {
	case TextType:
		if strings.ContainsRune(*text, 0) {
			c.report(field, "a text value cannot hold a NUL")
		}
	case BigintType:
		if n, err := strconv.ParseInt(*text, 10, 64); err != nil || strconv.FormatInt(n, 10) != *text {
			c.report(field, "%q is not a bigint (want digits, such as 42)", *text)
		}
	case UUIDType:
		if !uuidText().MatchString(*text) {
			c.report(field, "%q is not a uuid (want 8-4-4-4-12 hexadecimal digits)", *text)
		}
	}
}

func uuidText() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
}
