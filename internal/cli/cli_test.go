package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/statigen/statigen/internal/generate"
	"github.com/statigen/statigen/internal/output"
)

func TestMain(m *testing.M) {
	generate.Child()
	os.Exit(m.Run())
}

func host(t *testing.T, config string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/host\n", "statigen.yaml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTheExitCodeSaysWhoseFaultItIs(t *testing.T) {
	const fine = "{version: 1, stores: {s: {out: store}}}"
	for name, c := range map[string]struct {
		args, config string
		tmp          string
		code         int
		says         string
	}{
		"all is well":        {config: fine, code: 0},
		"a wrong config":     {config: "{version: 1}", code: 2, says: "statigen.yaml:1:1: no stores"},
		"a wrong flag":       {config: fine, args: "--nope", code: 2, says: "statigen: unknown flag: --nope"},
		"no temporary space": {config: fine, tmp: "/nonexistent", code: 2, says: "make a folder for sqlc"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(host(t, c.config))
			if c.tmp != "" {
				t.Setenv("TMPDIR", c.tmp)
			}
			var stdout, stderr bytes.Buffer
			if code := Main(strings.Fields(c.args), &stdout, &stderr); code != c.code {
				t.Errorf("exit code %d, want %d: %s", code, c.code, stderr.String())
			}
			if !strings.Contains(stderr.String(), c.says) {
				t.Errorf("says %q, want %q", stderr.String(), c.says)
			}
		})
	}
}

// A foreign file may be called anything.
func TestAFilesNameIsOneLineAndNoCommand(t *testing.T) {
	findings := []output.Finding{{Name: "store/a\n::stop-commands::x,%\x1b[2J.go", State: output.Foreign}}
	for format, want := range map[string]string{
		"text":   `"store/a\n::stop-commands::x,%\x1b[2J.go": foreign` + "\n",
		"github": "::error file=store/a%0A%3A%3Astop-commands%3A%3Ax%2C%25%1B[2J.go::foreign\n",
	} {
		var stdout bytes.Buffer
		if err := printFindings(&stdout, format, findings); err != nil {
			t.Fatal(err)
		}
		if got := stdout.String(); got != want {
			t.Errorf("%s: printed %q, want %q", format, got, want)
		}
	}
}

// Whichever room an error is from, a terminal is told nothing by it but text.
func TestErrorsAboutFilesHoldNothingThatATerminalObeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a\x1b[31m\u202e")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, args := range [][]string{{}, {"--config", "no\x1b[2J\u202esuch.yaml"}, {"\x1b[2J"}, {"--\u202e"}} {
		var stdout, stderr bytes.Buffer
		if code := Main(args, &stdout, &stderr); code != exitUser {
			t.Errorf("%q: exit code %d", args, code)
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(stderr.String(), "\n"), "\n") {
			if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsGraphic(r) }) {
				t.Errorf("%q: says what a terminal obeys: %q", args, line)
			}
		}
	}
}
