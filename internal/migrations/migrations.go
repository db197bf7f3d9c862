// Package migrations decides which files a migration tool finds in its folder: names, numbers and text, each in the way
// of one of the tools, and the state that is recorded beside them. It writes nothing and asks no database.
//
// A folder is brought from the state that its state file records to the one that the config asks for. Files are added and
// the state file is replaced last, so a run that is cut short leaves files that the recorded state does not know. A journal
// would name them; instead each file says so itself: its first line, the mark, holds the store, the number of the change
// since the first, a sum of what the change leads from and to, and which part of it the file is. The next run reads the marks:
// it adds the parts that are missing, under the numbers after those that are there, and refuses to go on where the marks
// say something else than the recorded state does. That also finds a state file that was lost, or went back in a merge.
package migrations

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/statigen/statigen/internal/ddl"
	"github.com/statigen/statigen/internal/model"
)

// Request is what is wanted, and what is there.
type Request struct {
	Store      model.Store
	Format     string // "" is that of the folder
	From       string // the version of the tables; "" is the recorded state
	Considered bool   // what is refused is written all the same, for somebody to finish
	Files      map[string][]byte
	Now        time.Time
}

// File is a file that is to be.
type File struct {
	Name string
	Text []byte
}

// Plan returns the files that are to be added, in that order, and the new text of the state file, nil if it stays as it is.
func Plan(r Request) (files []File, state []byte, err error) {
	recorded, err := decode(r.Files[StateName])
	if err != nil {
		return nil, nil, err
	}
	format, err := recorded.format(r.Format)
	if err != nil {
		return nil, nil, err
	}
	was, err := recorded.start(r.Store, r.From)
	if err != nil {
		return nil, nil, err
	}
	next := change{store: r.Store.Name, number: was.Changes + 1, format: format, from: was.State, to: ddl.At(r.Store, ddl.Latest())}
	differences := ddl.Changes(r.Store, was.State)
	if err := refuse(r.Store.Name, differences, r.Considered); err != nil {
		return nil, nil, err
	}
	if files, err = next.files(differences, r); err != nil {
		return nil, nil, err
	}
	return files, recorded.with(next, was, len(differences) > 0), nil
}

// change leads from one state of a store's tables to the next.
type change struct {
	store    string
	number   int // of the changes that the folder has of this store, from 1
	format   format
	from, to ddl.State
}

// files are those of the change that are not there.
func (c change) files(differences []ddl.Difference, r Request) ([]File, error) {
	parts := c.format.split(group(differences))
	there, err := c.there(r.Files, len(parts))
	if err != nil {
		return nil, err
	}
	numbers, err := c.format.numbering(slices.Sorted(maps.Keys(r.Files)), r.Now)
	if err != nil {
		return nil, err
	}
	var files []File
	for i, p := range parts {
		p.mark, p.name = c.mark(i+1, len(parts)), there[i+1]
		if p.name == "" {
			p.name = numbers.next() + "_" + c.words()
		}
		for _, f := range c.format.render(p) {
			if _, written := r.Files[f.Name]; !written {
				files = append(files, f)
			}
		}
	}
	return files, nil
}

// words are a file's name behind the number.
func (c change) words() string {
	what := fmt.Sprintf("change_%d", c.number)
	switch {
	case len(c.from.Tables) == 0:
		what = "create"
	case c.from.Version != c.to.Version:
		what = strings.ReplaceAll(c.from.Version.String()+"_to_"+c.to.Version.String(), ".", "_")
	}
	return "statigen_" + strings.Map(plain, c.store) + "_" + what
}

func plain(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
		return r
	}
	return '_'
}

// with is the state file once the change is made; nil if it says so already.
func (f file) with(c change, was record, changed bool) []byte {
	if _, known := f.Stores[c.store]; known && !changed && was.State.Version == c.to.Version {
		return nil
	}
	if changed {
		was.Changes = c.number
	}
	f.Statigen, f.Format = fileNumber, c.format.name
	f.Stores = maps.Clone(f.Stores)
	if f.Stores == nil {
		f.Stores = map[string]record{}
	}
	f.Stores[c.store] = record{was.Changes, c.to}
	return f.encode()
}

// encoded is a value of this package's as JSON.
func encoded(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Errorf("%s: %w", reflect.TypeOf(value), err)) // texts, numbers and lists of them always encode
	}
	return text
}
