package verify

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/model"
)

//go:embed namesakes.sql
var namesakesSQL string

// namesake is a table, in any schema, that has the name of one of the store's. Its fields are the columns of namesakes.sql.
type namesake struct {
	Schema, Name string
	Searched     bool // the schema is in the search_path
}

// searched judges what the search_path finds for a store that leaves its schema to it.
func (l *look) searched(ctx context.Context, path []string) (ours bool, err error) {
	names := []string{}
	for _, t := range l.store.Tables() {
		names = append(names, t.Name)
	}
	rows, _ := l.tx.Query(ctx, namesakesSQL, names, path)
	others, err := pgx.CollectRows(rows, pgx.RowToStructByName[namesake])
	if err != nil {
		return false, fmt.Errorf("find the tables: %w", err)
	}
	p := searchPath{look: l, path: path, all: others}
	if err := p.readNames(ctx); err != nil {
		return false, fmt.Errorf("find the tables: %w", err)
	}
	return p.judge(), nil
}

type searchPath struct {
	*look
	path           []string // the schemas that are searched
	all            []namesake
	user, database string // as SQL writes them
}

func (p *searchPath) readNames(ctx context.Context) error {
	return p.tx.QueryRow(ctx, "SELECT quote_ident(session_user), quote_ident(current_database())").Scan(&p.user, &p.database)
}

func (p *searchPath) judge() (ours bool) {
	switch {
	case p.temporary():
		return false
	case len(p.places) == 0:
		return p.nowhere()
	case p.split():
		return false
	}
	for _, found := range p.places {
		p.at.Schema = found.Schema // all are in one
	}
	p.shadows()
	p.sharesKey()
	return !p.twoKeys()
}

func (p *searchPath) temporary() bool {
	found := false
	for _, t := range p.store.Tables() {
		if p.places[t.Concept].Persistence == "t" {
			found = true
			p.add(SearchPath, p.store.Relation(t), "is a temporary table of the session's own, which comes before every other", "", "DROP TABLE pg_temp."+keyspec.QuoteIdent(t.Name))
		}
	}
	return found
}

// nowhere: either the search_path leads elsewhere, or there are no tables yet.
func (p *searchPath) nowhere() (ours bool) {
	if len(p.path) == 0 {
		p.add(SearchPath, p.store.StoreString(), "cannot be found or made: no schema that is there is in the search_path (want one, or a prefix in the config)", "")
		return false
	}
	if homes := p.homes(); len(homes) > 0 {
		p.add(SearchPath, p.store.StoreString(), fmt.Sprintf("is in no schema that is searched (%s), but in %s", quoted(p.path), quoted(homes)), pathRisk, p.repath()...)
		return false
	}
	return true
}

// split: a table that is found elsewhere than the charts table is another store's.
func (p *searchPath) split() bool {
	var words, schemas []string
	for _, t := range p.store.Tables() {
		if found, there := p.places[t.Concept]; there {
			schemas = append(schemas, found.Schema)
			words = append(words, keyspec.Relation(found.Schema, t.Name))
		}
	}
	slices.Sort(schemas)
	if len(slices.Compact(schemas)) == 1 {
		return false
	}
	p.add(SearchPath, p.store.StoreString(), "and the tables that belong to it are found in different schemas: "+strings.Join(words, ", ")+" (want one)", pathRisk, p.repath()...)
	return true
}

// shadows are tables behind the store's own in the search_path: they are found once those are gone, or not visible.
func (p *searchPath) shadows() {
	for _, t := range p.store.Tables() {
		var behind []string
		for _, n := range p.all {
			if n.Name == t.Name && n.Searched && n.Schema != p.at.Schema {
				behind = append(behind, n.Schema)
			}
		}
		if len(behind) > 0 {
			p.add(SearchPath, p.relation(t), fmt.Sprintf("shadows a table of the same name: the search_path leads on to %s (want one table of the name in it, or a prefix in the config)", quoted(behind)),
				pathRisk, p.repath()...)
		}
	}
}

// sharesKey: the key of a store without a prefix is made from the table's name alone.
func (p *searchPath) sharesKey() {
	var others []string
	for _, n := range p.all {
		if n.Name == p.store.Charts.Name && n.Schema != p.at.Schema && !p.prefixed(n.Schema) {
			others = append(others, n.Schema)
		}
	}
	if len(others) == 0 || p.store.LockKey == keyspec.ContentHash {
		return
	}
	p.add(SharedKey, p.relation(p.store.Charts), fmt.Sprintf("has a namesake in %s: a store without a prefix there takes the same lock keys, and each waits for the other's charts. "+
		"Nothing worse comes of it", quoted(others)), "")
	p.found[len(p.found)-1].Note = true
}

// prefixed says whether the tables of a schema are those of a store that names it, and so has another key.
func (p *searchPath) prefixed(schema string) bool {
	return slices.ContainsFunc(p.job.Config, func(s model.Store) bool { return s.Schema == schema && s.Charts.Name == p.store.Charts.Name })
}

// twoKeys: the config's word that this store lies elsewhere than a prefixed one is not kept.
func (p *searchPath) twoKeys() bool {
	for _, s := range p.job.Config {
		for i, t := range s.Tables() {
			if s.Schema != "" && s.Schema == p.at.Schema && t.Name == p.store.Tables()[i].Name {
				p.add(TwoKeys, p.relation(t), fmt.Sprintf("is the table of the store %s too, whose store string is %s: a retirement through one does not exclude a create through the other "+
					"(want one prefix for both, or a search_path that leads elsewhere)", s.Name, s.StoreString()), "")
				return true
			}
		}
	}
	return false
}

const pathRisk = "the role finds whatever else it names by this path, and a search_path that a connection sets comes before it; it holds from the next connection on"

// homes are the schemas that have all the store's tables and are no other store's by name.
func (p *searchPath) homes() []string {
	count := map[string]int{}
	var homes []string
	for _, n := range p.all {
		count[n.Schema]++
		if count[n.Schema] == len(p.store.Tables()) && !p.prefixed(n.Schema) {
			homes = append(homes, n.Schema)
		}
	}
	return homes
}

// repath makes a search_path that finds the store's tables and no others of their names; none if it is open which they are.
func (p *searchPath) repath() []string {
	homes := p.homes()
	if p.at.Schema != "" {
		homes = []string{p.at.Schema}
	}
	if len(homes) != 1 {
		return nil
	}
	path := homes
	for _, schema := range p.path {
		if !slices.ContainsFunc(p.all, func(n namesake) bool { return n.Schema == schema }) {
			path = append(path, schema)
		}
	}
	return []string{"ALTER ROLE " + p.user + " IN DATABASE " + p.database + " SET search_path TO " + quoted(path)}
}

func quoted(schemas []string) string {
	words := make([]string, len(schemas))
	for i, schema := range schemas {
		words[i] = keyspec.QuoteIdent(schema)
	}
	return strings.Join(words, ", ")
}
