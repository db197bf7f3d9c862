package sqlc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/statigen/statigen/internal/config"
	"github.com/statigen/statigen/internal/sqltext"
)

// BenchmarkGenerate runs the command and, in between, its sqlc alone on the same SQL. The machine's noise is the same
// for both, so their medians may be compared: beside sqlc, a run of the example is to cost 40 ms at most, one of a
// hundred stores 30 % at most, and an unchanged run of a release, which starts no sqlc, 50 ms at most.
func BenchmarkGenerate(b *testing.B) {
	released := build(b)
	example := read(b, "../../gen/example/statigen.yaml")
	b.Run("a new example", func(b *testing.B) {
		byTurns(b, released, example, func(dir string) { aside(b, filepath.Join(dir, "loanstore")) })
	})
	b.Run("an example out of date", func(b *testing.B) {
		byTurns(b, released, example, func(dir string) { aside(b, filepath.Join(dir, "loanstore/doc.go")) })
	})
	b.Run("an unchanged example", func(b *testing.B) { byTurns(b, released, example, func(string) {}) })
	b.Run("100 new stores", func(b *testing.B) {
		byTurns(b, released, hundred(), func(dir string) { aside(b, filepath.Join(dir, "gen")) })
	})
}

// build makes a release of what is committed: the go command takes the version from the tag of a clean checkout.
func build(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	command(b, ".", "git", "clone", "-q", "../..", dir)
	command(b, dir, "git", "tag", "v0.0.1")
	command(b, dir, "go", "build", "-buildvcs=true", "-o", "statigen", "./cmd/statigen")
	binary := filepath.Join(dir, "statigen")
	if said := command(b, dir, binary, "version"); !strings.HasPrefix(said, "statigen v0.0.1 ") {
		b.Fatalf("built %s", said)
	}
	return binary
}

func hundred() string {
	var text strings.Builder
	text.WriteString("version: 1\nstores:\n")
	for i := range 100 {
		fmt.Fprintf(&text, "  s%d: {out: gen/s%d, prefix: p%d, leading_columns: [{name: tenant_id, type: uuid}]}\n", i, i, i)
	}
	return text.String()
}

// byTurns times the two by turns, and reports their medians in milliseconds.
func byTurns(b *testing.B, binary, text string, before func(dir string)) {
	b.Helper()
	dir, sql := b.TempDir(), b.TempDir()
	write(b, filepath.Join(dir, "go.mod"), "module example.com/host\n")
	write(b, filepath.Join(dir, "statigen.yaml"), text)
	stores := inputs(b, dir)
	if err := layOut(sql, stores); err != nil {
		b.Fatal(err)
	}
	command(b, dir, binary)
	var runs, children []time.Duration
	for b.Loop() {
		before(dir)
		start := time.Now()
		command(b, dir, binary)
		run := time.Since(start)
		for i := range stores {
			aside(b, filepath.Join(sql, strconv.Itoa(i), "db")) // it begins with an empty folder here too
		}
		ran := time.Now()
		command(b, sql, "env", childMarker+"=1", binary, "generate", "-f", "sqlc.json")
		runs, children = append(runs, run), append(children, time.Since(ran))
	}
	run, child := median(runs), median(children)
	b.ReportMetric(0, "ns/op") // the sum of two things says nothing
	b.ReportMetric(run, "run-ms")
	b.ReportMetric(child, "sqlc-ms")
	b.ReportMetric(run/child, "run/sqlc")
}

func inputs(b *testing.B, dir string) []Input {
	b.Helper()
	cfg, err := config.Load(filepath.Join(dir, "statigen.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	all := make([]Input, len(cfg.Stores))
	for i, s := range cfg.Stores {
		all[i].Name = s.Name
		if all[i].Schema, err = sqltext.Schema(s); err != nil {
			b.Fatal(err)
		}
		if all[i].Queries, err = sqltext.Queries(s); err != nil {
			b.Fatal(err)
		}
	}
	return all
}

func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}

func command(b *testing.B, dir, name string, args ...string) string {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

func read(b *testing.B, file string) string {
	b.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

func write(b *testing.B, file, text string) {
	b.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}

// aside moves what a run made out of the way of the next one. It is not removed: ext4 looks for an inode that was not free
// a few seconds ago, and after thousands of removals each new file takes it three times as long.
func aside(b *testing.B, path string) {
	b.Helper()
	if err := os.Rename(path, filepath.Join(b.TempDir(), "aside")); err != nil && !os.IsNotExist(err) {
		b.Fatal(err)
	}
}
