// Package keyspec says which advisory locks guard a store: the store string, the namespace, and the
// keys that the server computes from them. It is the one place where they are defined; the emitted SQL
// is built from it, and its own arithmetic is checked against a server.
//
// It imports the standard library only, so that what a key is can be read, and reasoned about, without
// anything else.
package keyspec

import (
	"slices"
	"strings"
)

// Namespace is the first of a chart lock's two int4 keys: the ASCII bytes "SPCH". It is the reference's
// constant, shared by every store of every host, and never a setting: a host with another one would
// exclude nobody.
const Namespace int32 = 0x53504348

// LockKey says which text is hashed for the second key of a chart lock.
type LockKey string

// The lock keys. The reference hashed the content hash alone up to 0.23.1 and the store string with it
// from the release after; a fleet that moves from one to the other takes both for a while.
const (
	Store       LockKey = "store"
	ContentHash LockKey = "content_hash"
	Both        LockKey = "both"
)

// LockKeys lists every LockKey, the default first.
func LockKeys() []LockKey { return []LockKey{Store, ContentHash, Both} }

// QuoteIdent writes a name as an SQL identifier. Every identifier in emitted SQL comes from here.
func QuoteIdent(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Relation writes a table's name, under its schema when there is one.
func Relation(schema, table string) string {
	if schema == "" {
		return QuoteIdent(table)
	}
	return QuoteIdent(schema) + "." + QuoteIdent(table)
}

// StoreString is the charts table as the lock key knows it. It is the relation's own spelling, so two
// configs with one store string are one store, and a search_path is not in it.
func StoreString(schema, charts string) string { return Relation(schema, charts) }

// Text is the text hashed under the lock key Store: the store string, one space, the content hash.
func Text(store, contentHash string) string { return store + " " + contentHash }

// ChartKeys are the second keys of a chart's lock in the order in which they are taken: distinct and
// ascending, so that no two sessions take the same pair in opposite orders.
func ChartKeys(k LockKey, store, contentHash string) []int32 {
	var keys []int32
	if k != Store {
		keys = append(keys, Hashtext(contentHash))
	}
	if k != ContentHash {
		keys = append(keys, Hashtext(Text(store, contentHash)))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// ExecutionKey is the execution lock's single bigint key. No store is in it: two stores of one database
// that use the same execution id wait on each other, as they do in the reference.
func ExecutionKey(executionID string) int64 { return HashtextExtended(executionID) }
