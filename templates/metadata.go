package store

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// linkageKey is the one key of an execution's metadata that is not the host's: it links a child to its parent.
const linkageKey = "statifier_persistence"

// emptyMetadata is how the absence of metadata reads; it is stored as NULL.
const emptyMetadata = "{}"

// checkMetadata refuses what is no JSON object, what jsonb refuses although it is JSON, and the linkage key.
func checkMetadata(raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	reason := refusedJSON(raw)
	if reason == "" && bytes.TrimLeft(raw, " \t\r\n")[0] != '{' {
		reason = "is not a JSON object"
	}
	if reason == "" && hasKey(raw, linkageKey) {
		reason = "has the reserved key " + strconv.Quote(linkageKey)
	}
	if reason != "" {
		return &InvalidError{"Metadata", reason}
	}
	return nil
}

// hasKey looks for a key of the object itself, however its letters are escaped.
func hasKey(object json.RawMessage, key string) bool {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return false
	}
	_, found := fields[key]
	return found
}

// storedMetadata is what goes into the column, with the linkage under its key: NULL for the empty object.
func storedMetadata(raw json.RawMessage, linkage *Linkage) json.RawMessage {
	fields := map[string]json.RawMessage{}
	if raw != nil {
		_ = json.Unmarshal(raw, &fields) // it was checked
	}
	if linkage == nil {
		if len(fields) == 0 {
			return nil
		}
		return raw
	}
	fields[linkageKey], _ = json.Marshal(linkage) // strings and numbers
	stored, _ := json.Marshal(fields)
	return stored
}

func readMetadata(column json.RawMessage) json.RawMessage {
	if column == nil {
		return json.RawMessage(emptyMetadata)
	}
	return column
}

// refusedByJSONB finds what valid JSON may hold and jsonb may not: the character U+0000, half a surrogate pair,
// and a number outside numeric's range. encoding/json hides the first two, so the text itself is read.
func refusedByJSONB(raw []byte) string {
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			end, reason := scanString(raw, i+1)
			if reason != "" {
				return reason
			}
			i = end
		case c == '-' || c >= '0' && c <= '9':
			end := i + 1
			for end < len(raw) && strings.IndexByte("0123456789+-.eE", raw[end]) >= 0 {
				end++
			}
			if !fitsNumeric(string(raw[i:end])) {
				return "holds a number that Postgres cannot store"
			}
			i = end
		default:
			i++
		}
	}
	return ""
}

// scanString reads the rest of a string and returns where it ends.
func scanString(raw []byte, i int) (end int, reason string) {
	for raw[i] != '"' {
		if raw[i] != '\\' {
			i++
			continue
		}
		r, size := escape(raw[i:])
		if utf16.IsSurrogate(r) {
			low, lowSize := escape(raw[i+size:])
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				return 0, "holds half a surrogate pair"
			}
			size += lowSize
		}
		if r == 0 {
			return 0, "holds a NUL character"
		}
		i += size
	}
	return i + 1, ""
}

// escape reads one escape of a valid JSON string: the rune, if it is written in hexadecimal, and its length.
func escape(s []byte) (r rune, size int) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return utf8.RuneError, 2
	}
	code, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	if err != nil {
		return utf8.RuneError, 2
	}
	return rune(code), 6
}

// Limits of numeric: digits before and after the point.
const (
	maxIntegerDigits  = 131072
	maxFractionDigits = 16383
)

func fitsNumeric(number string) bool {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(number, "-")), "e")
	shift := 0
	if exponent != "" {
		var err error
		if shift, err = strconv.Atoi(exponent); err != nil || shift > 1<<29 || shift < -1<<29 {
			return false
		}
	}
	integer, fraction, _ := strings.Cut(mantissa, ".")
	if len(fraction)-shift > maxFractionDigits {
		return false
	}
	digits := strings.TrimLeft(integer+fraction, "0")
	return digits == "" || len(digits)-len(fraction)+shift <= maxIntegerDigits
}
