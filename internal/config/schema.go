package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"github.com/statigen/statigen/internal/model"
)

// SchemaName is the file beside a config that its first line leads an editor to.
const SchemaName = "statigen.schema.json"

// schema is a JSON Schema of draft 7, the newest that yaml-language-server reads in every release. A schema without
// references: this one is small, and some readers ignore what stands beside a reference.
type schema map[string]any

// Schema is what JSON Schema can say of a config. It refuses no config that Load takes. What it cannot say, which is what
// one value demands of another and how many bytes a name has, only Load finds.
func Schema() []byte {
	s := object(definition())
	s["$schema"] = "http://json-schema.org/draft-07/schema#"
	s["title"] = FileName
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(s); err != nil {
		panic(err) // words, numbers and booleans always encode
	}
	return text.Bytes()
}

// definition is every key, of a config that nobody reads.
func definition() []key {
	return (&decoder{}).configKeys(new(string), &[]model.Store{}, model.Module{})
}

func object(keys []key) schema {
	properties, required := schema{}, []string{}
	for _, k := range keys {
		properties[k.name] = k.described()
		if k.absent == "" {
			required = append(required, k.name)
		}
	}
	return schema{"type": "object", "additionalProperties": false, "properties": properties, "required": required}
}

func (k key) described() schema {
	s := maps.Clone(k.value.schema)
	text := k.about + "\n\nWant: " + k.value.accepts + "."
	if k.absent != "" {
		text += "\n\nDefault: " + k.absent + "."
	}
	s["description"] = text
	return s
}

// letters is any plain or quoted scalar. The decoder takes the letters that it is written with; who reads a number or a
// boolean in 007 or no must let it by, and the rules, which are about strings, say nothing of it.
func letters(rules schema) schema {
	s := schema{"type": []string{"string", "number", "boolean"}}
	maps.Copy(s, rules)
	return s
}

func nonEmpty(rules schema) schema {
	s := letters(rules)
	s["minLength"] = 1
	return s
}

// except is the rule that a string has no match of a pattern. A schema's "not" alone would refuse every number as well.
func except(pattern string) schema { return schema{"type": "string", "pattern": pattern} }

// printable are the characters that a name may hold.
const printable = `[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]`

// name is a name that the database will hold. A character has at least one byte.
func name(forbidden string) schema {
	s := schema{"pattern": "^" + printable + "*$", "maxLength": model.MaxName}
	if forbidden != "" {
		s["not"] = except(forbidden)
	}
	return s
}

func storeName() schema {
	return schema{"pattern": `^[\p{L}\p{M}\p{Nd}_-]+$`, "maxLength": model.MaxName}
}

func identifier() schema {
	return schema{"pattern": `^[\p{L}_][\p{L}\p{Nd}_]*$`, "not": except(`^(_|main|.*_test)$`)}
}

func relativePath() schema { return schema{"pattern": `^[^/\\:][^\\:]*$`} }

// collationName is a name, or a schema's, a dot, and a name with any dots in it.
func collationName() schema {
	return schema{"pattern": `^[^.]+(\.` + printable + `+)?$`, "maxLength": 2*model.MaxName + 1}
}

// columnType lists the types, for an editor to offer.
func columnType() schema {
	var types []string
	for _, word := range model.TypeWords() {
		if !strings.Contains(word, "(") {
			types = append(types, word, word+"[]")
		}
	}
	return schema{"anyOf": []schema{{"enum": types}, {"pattern": `^varchar\([1-9][0-9]{0,7}\)(\[\])?$`, "type": "string"}}}
}
