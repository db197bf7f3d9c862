package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Module is what a module holds of statigen's.
type Module struct {
	Configs  []string            // the configs' paths below the module's root
	Packages map[string]Manifest // the generated packages, by folder
}

// Survey finds the module's configs, which are the files of that name and those that a package says it was made from, and
// its packages. A folder with a go.mod of its own is another module, and is not looked into; nor is what the go command
// passes over.
func Survey(root, configName string) (Module, error) {
	module, err := os.OpenRoot(root)
	if err != nil {
		return Module{}, fmt.Errorf("open the module: %w", err)
	}
	defer module.Close()
	m := Module{Packages: map[string]Manifest{}}
	err = fs.WalkDir(module.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrPermission) && name != ".":
			return fs.SkipDir // a database's data folder, say: the go command sees no package in it either
		case err != nil:
			return err
		case entry.IsDir() && name != "." && passedOver(module, name):
			return fs.SkipDir
		case entry.Name() == configName && entry.Type().IsRegular():
			m.Configs = append(m.Configs, name)
		case entry.Name() == ManifestName && entry.Type().IsRegular():
			return m.add(module, name)
		}
		return nil
	})
	if err != nil {
		return m, fmt.Errorf("look for the module's packages: %w", err)
	}
	slices.Sort(m.Configs)
	m.Configs = slices.Compact(m.Configs)
	return m, nil
}

// add reads a package's manifest. One that cannot be read is nobody's here; who works on its folder says so.
func (m *Module) add(module *os.Root, name string) error {
	text, err := module.ReadFile(name)
	var of Manifest
	if err != nil || json.Unmarshal(text, &of) != nil {
		return err
	}
	m.Packages[path.Dir(name)] = of
	if info, err := module.Stat(of.Config); err == nil && info.Mode().IsRegular() {
		m.Configs = append(m.Configs, of.Config)
	}
	return nil
}

// Orphans are the folders that hold a package of this config's, or of one that is gone, which is none of its folders.
func (m Module) Orphans(config string, folders []string) []string {
	var orphans []string
	for folder, of := range m.Packages {
		ours := of.Config == config || !slices.Contains(m.Configs, of.Config)
		if ours && !slices.Contains(folders, folder) {
			orphans = append(orphans, folder)
		}
	}
	slices.Sort(orphans)
	return orphans
}

func passedOver(module *os.Root, name string) bool {
	base := path.Base(name)
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "vendor" || base == "node_modules" {
		return true
	}
	_, err := module.Lstat(path.Join(name, "go.mod"))
	return err == nil
}
