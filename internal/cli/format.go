package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/statigen/statigen/internal/output"
)

// printFindings prints what check found: a line each, or JSON, or the commands by which GitHub marks files.
func (o options) printFindings(stdout io.Writer, findings []output.Finding) error {
	line := "%s: %s\n"
	switch o.format {
	case "text":
	case "github":
		line = "::error file=%s::%s\n"
	case "json":
		encoder := json.NewEncoder(stdout)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if findings == nil {
			findings = []output.Finding{}
		}
		return encoder.Encode(findings)
	default:
		return fmt.Errorf("unknown format %q (want text, json or github)", o.format)
	}
	for _, f := range findings {
		fmt.Fprintf(stdout, line, f.Name, f.State)
	}
	return nil
}
