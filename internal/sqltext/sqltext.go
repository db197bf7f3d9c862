// Package sqltext writes a store's SQL: it fills the named holes in the files of schema/ and queries/ with
// the words of a model.Store. A hole is filled on its line, so that line numbers in the result are those of
// the file.
//
// Holes are names in double braces. There is no logic in them, so that the files read as the SQL they
// are; text/template was tried, and its conditions hid the statements.
package sqltext

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"

	"github.com/statigen/statigen"
	"github.com/statigen/statigen/internal/model"
)

// Schema renders the store's DDL.
func Schema(s model.Store) ([]byte, error) {
	files, err := render(statigen.Texts, "schema", s)
	return files["schema.sql"], err
}

// Queries renders the store's queries: base names, such as retire.sql, and texts.
func Queries(s model.Store) (map[string][]byte, error) {
	return render(statigen.Texts, "queries", s)
}

func render(texts fs.FS, folder string, s model.Store) (map[string][]byte, error) {
	entries, err := fs.ReadDir(texts, folder)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", folder, err)
	}
	words := holes(s)
	files := map[string][]byte{}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		text, err := fs.ReadFile(texts, name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if files[e.Name()], err = fill(name, text, words); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// fill replaces every hole. One without a word is a fault of the file.
func fill(name string, text []byte, words map[string]string) ([]byte, error) {
	var unknown error
	hole := regexp.MustCompile(`\{\{([a-z_]+)\}\}`)
	filled := hole.ReplaceAllFunc(text, func(m []byte) []byte {
		key := string(m[2 : len(m)-2])
		word, ok := words[key]
		if !ok && unknown == nil {
			unknown = fmt.Errorf("%s: no word for the hole %q", name, key)
		}
		return []byte(word)
	})
	return filled, unknown
}
