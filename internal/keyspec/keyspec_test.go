package keyspec_test

import (
	"slices"
	"testing"

	"github.com/statigen/statigen/internal/keyspec"
)

const emptyHash = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestNamespaceIsTheBytesSPCH(t *testing.T) {
	for _, want := range []int32{'S'<<24 | 'P'<<16 | 'C'<<8 | 'H', 1397769032} {
		if keyspec.Namespace != want {
			t.Errorf("Namespace = %d, want %d", keyspec.Namespace, want)
		}
	}
}

// The key is another number on another machine, or after an upgrade: https://github.com/Gitlawb/node/issues/210. These were read
// off servers: the reference's own, and those of its bug reports. The fuzz test asks the server at hand, and that every statement has
// this key is TestA03TheKeyIsOneExpressionInEveryStatement's of package templates.
func TestA03TheKeyIsTheSameNumberEverywhere(t *testing.T) {
	for text, want := range map[string]int32{
		emptyHash:                                 1242904406,
		`"statifier_charts" ` + emptyHash:         -1585408228,
		`"loans"."statifier_charts" ` + emptyHash: -1099562665,
		"s h":    -520808500,
		"café h": -2011383655,
		// In a LATIN1 database the bytes are others, and so is the key: why the server hashes, and not a host.
		"caf\xe9 h": -150841557,
		"statigen ca3be5683a703f8a1beebd61852c1f1a6dfd3f49afe699d69abdf67ca61dd0dd": -513461569,
		"statigen f3702c5e81847180540f69c9961beecc77793eb819ef38885e8c000bce98652c": -513461569,
		"statigen ba674e3c2aa09f0a92506d825485bf6f152451815e67873c34ae1a8b707f47a1": 1969512981,
		"statigen e400c28b66dec3c6c97330174ab20ac25a48fbe7c980451d896e5907c5b40e31": 1969512981,
	} {
		if got := keyspec.Hashtext(text); got != want {
			t.Errorf("Hashtext(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestExecutionKeyGivesTheServersNumbers(t *testing.T) {
	for id, want := range map[string]int64{
		"loan_01H8":        -8115668170478821061,
		"loan_01H8/call/0": 3915891988988216674,
	} {
		if got := keyspec.ExecutionKey(id); got != want {
			t.Errorf("ExecutionKey(%q) = %d, want %d", id, got, want)
		}
	}
}

func TestStoreStringDoublesQuotes(t *testing.T) {
	for _, c := range []struct{ schema, table, want string }{
		{"", "statifier_charts", `"statifier_charts"`},
		{"loans", "statifier_charts", `"loans"."statifier_charts"`},
		{`a"b`, `c.d`, `"a""b"."c.d"`},
	} {
		if got := keyspec.StoreString(c.schema, c.table); got != c.want {
			t.Errorf("StoreString(%q, %q) = %s, want %s", c.schema, c.table, got, c.want)
		}
	}
}

func TestChartKeysAreDistinctAndAscending(t *testing.T) {
	const store = `"loans"."statifier_charts"`
	for k, want := range map[keyspec.LockKey][]int32{
		keyspec.Store:       {-1099562665},
		keyspec.ContentHash: {1242904406},
		keyspec.Both:        {-1099562665, 1242904406},
	} {
		if got := keyspec.ChartKeys(k, store, emptyHash); !slices.Equal(got, want) {
			t.Errorf("ChartKeys(%s) = %d, want %d", k, got, want)
		}
	}
}
