package migrations

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/statigen/statigen/internal/ddl"
	"github.com/statigen/statigen/internal/model"
)

// StateName is the state file's name in the folder.
const StateName = "statigen.state"

// fileNumber is what a state file begins with. A statigen that writes it in another way counts on.
const fileNumber = 1

// file is the state file: what the folder's migrations lead to, store by store.
type file struct {
	Statigen int               `json:"statigen"`
	Format   string            `json:"format"`
	Stores   map[string]record `json:"stores"`
}

// record is a store's.
type record struct {
	Changes int       `json:"changes"` // that have migrations in the folder
	State   ddl.State `json:"state"`   // after the last of them
}

// encode writes the file so that a reviewer sees what changed.
func (f file) encode() []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(f); err != nil {
		panic(err) // texts, numbers and lists of them always encode
	}
	return text.Bytes()
}

// decode reads a state file; without one nothing is recorded.
func decode(text []byte) (f file, err error) {
	if text == nil {
		return file{}, nil
	}
	var number struct{ Statigen int }
	if err := json.Unmarshal(text, &number); err == nil && number.Statigen > fileNumber {
		return file{}, fmt.Errorf("%s is of a newer statigen (want that one, or newer)", StateName)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&f); err == nil {
		err = f.check(decoder)
	}
	if err != nil {
		return file{}, fmt.Errorf("%s is no state that statigen wrote (want the one that was committed): %w", StateName, err)
	}
	return f, nil
}

func (f file) check(decoder *json.Decoder) error {
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind it")
	}
	if f.Statigen != fileNumber {
		return fmt.Errorf("it begins with the number %d (want %d)", f.Statigen, fileNumber)
	}
	for name, r := range f.Stores {
		if r.Changes < 0 || r.State.Version == 0 {
			return fmt.Errorf("store %s is at version %s after %d changes", name, r.State.Version, r.Changes)
		}
	}
	_, err := formatOf(f.Format)
	return err
}

// format is the one asked for. A folder has one.
func (f file) format(name string) (format, error) {
	switch {
	case f.Format == "" && name == "":
		return format{}, fmt.Errorf("--format is missing (want %s)", formatNames())
	case f.Format != "" && name != "" && name != f.Format:
		return format{}, fmt.Errorf("--format %s: the folder has migrations for %s (want --format %s, or another --dir)", name, f.Format, f.Format)
	case name == "":
		name = f.Format
	}
	known, err := formatOf(name)
	if err != nil {
		return format{}, fmt.Errorf("--format: %w", err)
	}
	return known, nil
}

// start is what the store's tables are before the run: as recorded, or as --from says of a store that is not.
func (f file) start(s model.Store, from string) (record, error) {
	r, known := f.Stores[s.Name]
	switch {
	case known && from != "":
		return record{}, fmt.Errorf("--from %s: %s records store %s at version %s (want no --from)", from, StateName, s.Name, r.State.Version)
	case known:
		return r, nil
	case from == "":
		return record{}, f.unknown(s.Name)
	}
	v, err := ddl.ParseVersion(from)
	if err != nil {
		return record{}, fmt.Errorf("--from: %w", err)
	}
	return record{State: ddl.At(s, v)}, nil
}

func (f file) unknown(store string) error {
	text := fmt.Sprintf("the folder has no %s", StateName)
	if f.Statigen > 0 {
		text = fmt.Sprintf("%s has no store %s (it has %s)", StateName, store, strings.Join(slices.Sorted(maps.Keys(f.Stores)), ", "))
	}
	return fmt.Errorf("%s (want --from empty if the tables are to be made, or --from and the version that they have: 1 to 8, or 8.1)", text)
}
