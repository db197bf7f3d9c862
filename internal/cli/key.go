package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/statigen/statigen/internal/keyspec"
	"github.com/statigen/statigen/internal/model"
)

// lockRow is an advisory lock as pg_locks shows it: classid and objid are unsigned.
type lockRow struct {
	ClassID  uint32 `json:"classid"`
	ObjID    uint32 `json:"objid"`
	ObjSubID int    `json:"objsubid"`
}

// chartLock is one of the keys of a chart's lock.
type chartLock struct {
	ContentHash string   `json:"content_hash"`
	Keys        [2]int32 `json:"keys"`
	PgLocks     lockRow  `json:"pg_locks"`
}

// executionLock is an execution's one key.
type executionLock struct {
	ExecutionID string  `json:"execution_id"`
	Key         int64   `json:"key"`
	PgLocks     lockRow `json:"pg_locks"`
}

// storeKeys is what the key command says of a store.
type storeKeys struct {
	Store       string          `json:"store"`
	StoreString string          `json:"store_string"`
	LockKey     string          `json:"lock_key"`
	Namespace   int32           `json:"namespace"`
	Server      string          `json:"server"` // where the numbers hold
	Charts      []chartLock     `json:"charts,omitempty"`
	Executions  []executionLock `json:"executions,omitempty"`
}

func runKey(_ context.Context, o options, hashes []string, stdout io.Writer) error {
	job, err := o.job(nil)
	if err != nil {
		return err
	}
	all := make([]storeKeys, len(job.Stores))
	for i, s := range job.Stores {
		all[i] = keysOf(s, hashes, o.executions)
	}
	if o.json {
		encoder := json.NewEncoder(stdout)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(all)
	}
	for _, k := range all {
		k.print(stdout)
	}
	return nil
}

func keysOf(s model.Store, hashes, executions []string) storeKeys {
	k := storeKeys{
		Store: s.Name, StoreString: s.StoreString(), LockKey: string(s.LockKey), Namespace: keyspec.Namespace,
		Server: "UTF8, little-endian",
	}
	for _, hash := range hashes {
		for _, key := range keyspec.ChartKeys(s.LockKey, s.StoreString(), hash) {
			k.Charts = append(k.Charts, chartLock{hash, [2]int32{keyspec.Namespace, key}, lockRow{uint32(keyspec.Namespace), uint32(key), 2}})
		}
	}
	for _, id := range executions {
		key := keyspec.ExecutionKey(id)
		k.Executions = append(k.Executions, executionLock{id, key, lockRow{uint32(uint64(key) >> 32), uint32(key), 1}})
	}
	return k
}

func (k storeKeys) print(stdout io.Writer) {
	fmt.Fprintf(stdout, "store %s: lock key %s, store string %s, namespace %d (%s server)\n", k.Store, k.LockKey, k.StoreString, k.Namespace, k.Server)
	for _, c := range k.Charts {
		fmt.Fprintf(stdout, "  chart %q: (%d, %d), in pg_locks %s\n", c.ContentHash, c.Keys[0], c.Keys[1], c.PgLocks)
	}
	for _, e := range k.Executions {
		fmt.Fprintf(stdout, "  execution %q: %d, in pg_locks %s\n", e.ExecutionID, e.Key, e.PgLocks)
	}
}

func (r lockRow) String() string {
	return fmt.Sprintf("classid %d, objid %d, objsubid %d", r.ClassID, r.ObjID, r.ObjSubID)
}
