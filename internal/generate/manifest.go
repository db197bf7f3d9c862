package generate

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"runtime/debug"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/output"
	"github.com/statigen/statigen/internal/sqlc"
)

// SQLCVersion is the version of the embedded sqlc.
const SQLCVersion = sqlc.Version

// schemaVersion is the reference's migration that schema/ is as of.
const schemaVersion = 8

// devel is the version of a build that is not exactly a released tag.
const devel = "devel"

// Version is the released version that this binary was built as, or devel.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return devel
	}
	return release(info.Main.Version)
}

// release tells a released tag from what else a build may be called: (devel), a pseudo-version, +dirty.
func release(version string) string {
	if !semver.IsValid(version) || semver.Canonical(version) != version || module.IsPseudoVersion(version) {
		return devel
	}
	return version
}

// manifest is what a package's folder says of itself. configFile is the config's path below the module's root.
func manifest(configFile string, s model.Store, files map[string][]byte) output.Manifest {
	return output.Manifest{
		Statigen: Version(), SQLC: sqlc.Version, Schema: schemaVersion,
		Config: configFile, Store: s.Name, StoreString: s.StoreString(), LockKey: string(s.LockKey),
		Model: modelSum(s), Files: output.Sums(files),
	}
}

func modelSum(s model.Store) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // names and values always encode
	}
	return output.Sum(text)
}

// folders puts every store's files, and its manifest, into its folder below root.
func folders(root, configFile string, stores []model.Store, packages []map[string][]byte) []output.Folder {
	all := make([]output.Folder, len(stores))
	for i, s := range stores {
		files := maps.Clone(packages[i])
		files[output.ManifestName] = manifest(configFile, s, packages[i]).Text()
		all[i] = output.Folder{Root: root, Path: s.Out, Files: files}
	}
	return all
}

// notNewer refuses to go over what a newer statigen wrote: it may know of faults that this one still makes.
func notNewer(folder string, old output.Manifest) error {
	mine := Version()
	if semver.IsValid(old.Statigen) && semver.IsValid(mine) && semver.Compare(old.Statigen, mine) > 0 {
		return fmt.Errorf("%s was written by statigen %s, and this is %s (run the newer one)", folder, old.Statigen, mine)
	}
	if old.Schema > schemaVersion {
		return fmt.Errorf("%s has schema version %d, and this statigen knows %d (run the newer one)", folder, old.Schema, schemaVersion)
	}
	return nil
}

// lockState is the part of a store that a running fleet must agree on.
type lockState struct{ key, storeString string }

func (l lockState) String() string { return l.key + " " + l.storeString }

// lockOf reads the lock's state from the SQL that a host committed. The store string is empty where the key is without.
func lockOf(locksGo []byte) (lockState, error) {
	constants, err := sqlc.Constants("locks.sql.go", locksGo)
	if err != nil {
		return lockState{}, err
	}
	call := regexp.MustCompile(`pg_catalog\.hashtext\((?:(E?)'((?:[^']|'')*) ' OPERATOR\(pg_catalog\.\|\|\) )?\$\d+::pg_catalog\.text\)`)
	var state lockState
	byHash := false
	for _, sql := range constants {
		for _, m := range call.FindAllStringSubmatch(sql, -1) {
			if m[2] == "" {
				byHash = true
				continue
			}
			state.storeString = unquoted(m[1], m[2])
		}
	}
	switch {
	case byHash && state.storeString != "":
		state.key = "both"
	case byHash:
		state.key = "content_hash"
	case state.storeString != "":
		state.key = "store"
	}
	return state, nil
}

func unquoted(escaped, text string) string {
	text = regexp.MustCompile(`''`).ReplaceAllString(text, "'")
	if escaped != "" {
		text = regexp.MustCompile(`\\\\`).ReplaceAllString(text, `\`)
	}
	return text
}
