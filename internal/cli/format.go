package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/output"
)

func knownFormat(format string) error {
	if !slices.Contains([]string{"text", "json", "github"}, format) {
		return fmt.Errorf("unknown format %q (want text, json or github)", format)
	}
	return nil
}

// printFindings prints what check found: a line each, or JSON, or the commands by which GitHub marks files.
func printFindings(stdout io.Writer, format string, findings []output.Finding) error {
	switch format {
	case "json":
		encoder := json.NewEncoder(stdout)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(append([]output.Finding{}, findings...))
	case "github":
		for _, f := range findings {
			fmt.Fprintf(stdout, "::error file=%s::%s\n", githubProperty(f.Name), f.State)
		}
	default:
		for _, f := range findings {
			fmt.Fprintf(stdout, "%s: %s\n", printable(f.Name), f.State)
		}
	}
	return nil
}

// githubProperty escapes a value that stands before the command's message, as a URL does: a foreign file may be called
// anything, and must not make a command of its own, nor move the cursor in a log.
func githubProperty(name string) string {
	var text strings.Builder
	for _, r := range name {
		if strings.ContainsRune("%:,", r) || unicode.IsControl(r) {
			fmt.Fprintf(&text, "%%%02X", r)
		} else {
			text.WriteRune(r)
		}
	}
	return text.String()
}

// printable quotes a file's name that a terminal would act on, or that would look like two lines.
func printable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return model.Unprintable(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// shown is an error as a terminal may have it: a path or a file's text in it may hold anything.
func shown(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		lines[i] = model.Shown(line)
	}
	return strings.Join(lines, "\n")
}
