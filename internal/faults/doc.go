// Package faults breaks what stands between a store and its data, and compares what callers were told with what is there.
// A connection is cut after every byte of a verb's conversation, and the server is killed while verbs run. (That the server
// ends one session, in front of each of its steps, is internal/explore's.) It is for tests alone, and holds nothing else.
package faults
