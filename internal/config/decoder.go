package config

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/statigen/statigen/internal/model"
)

// decoder walks a node tree. It gathers problems and goes on, so that one run reports them all.
type decoder struct {
	file   string
	errors Errors
	// neighbours are the stores of the module's other configs.
	neighbours []model.Store
	// at remembers where the key or value of a path stands, for problems that are found later.
	at map[string]*yaml.Node
	// unread are the paths of values that could not be read: what is missed at or below them is no second problem.
	unread map[string]bool
}

// mapping reads a mapping whose keys are all known. It answers whether n is a mapping at all.
func (d *decoder) mapping(n *yaml.Node, path string, keys []key) bool {
	return d.entries(n, path, func(name, value *yaml.Node, at string) {
		i := slices.IndexFunc(keys, func(k key) bool { return k.name == name.Value })
		if i < 0 {
			known := names(keys)
			d.report(name, path, "%s", model.Unknown("key", name.Value, strings.Join(known, ", "), known...))
			return
		}
		keys[i].value.read(value, at)
	})
}

func names(keys []key) []string {
	words := make([]string, len(keys))
	for i, k := range keys {
		words[i] = k.name
	}
	return words
}

// entries visits the keys of a mapping in the file's order, each once.
func (d *decoder) entries(n *yaml.Node, path string, visit func(name, value *yaml.Node, at string)) bool {
	if !d.kind(n, path, yaml.MappingNode, "keys and values") {
		return false
	}
	first := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		text, ok := d.scalar(name, path)
		if !ok {
			continue
		}
		if line, seen := first[text]; seen {
			d.report(name, path, "key %s stands twice (first at line %d)", strconv.Quote(text), line)
			continue
		}
		first[text] = name.Line
		at := strings.TrimPrefix(path+"."+element(text), ".")
		d.remember(at, value)
		visit(name, value, at)
	}
	return true
}

// kind answers whether a value is a mapping, or a list, and reports it if not.
func (d *decoder) kind(n *yaml.Node, path string, kind yaml.Kind, want string) bool {
	plain := d.plain(n, path)
	if plain && n.Kind == kind {
		return true
	}
	if plain {
		d.report(n, path, "want %s, not %s", want, describe(n))
	}
	d.skip(path)
	return false
}

func (d *decoder) skip(path string) {
	if d.unread == nil {
		d.unread = map[string]bool{}
	}
	d.unread[path] = true
}

// skipped says whether the value at a path, or one that it is part of, could not be read.
func (d *decoder) skipped(path string) bool {
	for !d.unread[path] {
		i := strings.LastIndexByte(path, '.')
		if i < 0 {
			return false
		}
		path = path[:i]
	}
	return true
}

func (d *decoder) remember(path string, n *yaml.Node) {
	if d.at == nil {
		d.at = map[string]*yaml.Node{}
	}
	d.at[path] = n
}

// node finds where a path stands or, where it does not stand in the file, the nearest key above it.
func (d *decoder) node(path string) *yaml.Node {
	for {
		if n, ok := d.at[path]; ok {
			return n
		}
		i := strings.LastIndexByte(path, '.')
		if i < 0 {
			return &yaml.Node{Line: 1, Column: 1}
		}
		path = path[:i]
	}
}

// plain refuses what makes a value mean something that does not stand where it is used.
func (d *decoder) plain(n *yaml.Node, path string) bool {
	switch {
	case n.Kind == yaml.AliasNode:
		d.report(n, path, "an alias (write the value out)")
	case n.Anchor != "":
		d.report(n, path, "an anchor (write the value out where it is needed)")
	case n.Style&yaml.TaggedStyle != 0:
		d.report(n, path, "a tag (want the bare value)")
	default:
		return true
	}
	return false
}

// scalar returns a scalar's letters as they stand: 007 and no are strings like any other.
func (d *decoder) scalar(n *yaml.Node, path string) (string, bool) {
	if !d.plain(n, path) {
		return "", false
	}
	block := n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	if n.Kind != yaml.ScalarNode || block || n.Tag == "!!null" || n.Tag == "!!merge" {
		d.report(n, path, "want a plain or quoted string, not %s", describe(n))
		return "", false
	}
	return n.Value, true
}

func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "null"
	case n.Tag == "!!merge":
		return "a merge key"
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return "a block of text"
	}
	return strconv.Quote(n.Value)
}
