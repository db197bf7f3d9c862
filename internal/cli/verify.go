package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/statigen/statigen/internal/ddl"
	"github.com/statigen/statigen/internal/generate"
	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/verify"
)

func verifyFlags(o *options, flags *pflag.FlagSet) {
	configFlag(o, flags)
	flags.StringVar(&o.store, "store", "", "the `name` of one of the config's stores; default: all of them")
	flags.StringVar(&o.databaseURL, "database-url", "", "the `URL` of the database; default: what PGHOST, PGPASSWORD and the like say, as psql takes it")
	flags.StringVar(&o.role, "role", "", "the `name` of the role whose privileges are looked at; default: the one that connects")
	flags.BoolVar(&o.json, "json", false, "print JSON")
}

func runVerify(ctx context.Context, o options, args []string, stdout io.Writer) error {
	job, err := o.verifyJob(ctx, args)
	if err != nil {
		return err
	}
	conn, err := verify.Connect(ctx, o.databaseURL)
	if err != nil {
		return err
	}
	found, err := verify.Run(ctx, conn, job)
	_ = conn.Close(context.WithoutCancel(ctx)) // nothing is on its way
	if err != nil {
		return err
	}
	if err := printVerified(stdout, o.json, found); err != nil {
		return err
	}
	for _, f := range found {
		if !f.Note {
			return errOutOfDate
		}
	}
	return nil
}

func (o options) verifyJob(ctx context.Context, args []string) (verify.Job, error) {
	job, err := o.job(args)
	if err != nil {
		return verify.Job{}, err
	}
	stores := job.Stores
	if o.store != "" {
		s, err := o.named(job.Stores)
		if err != nil {
			return verify.Job{}, err
		}
		stores = []model.Store{s}
	}
	statements, err := generate.Statements(ctx, stores)
	if err != nil {
		return verify.Job{}, err
	}
	verified := verify.Job{Config: job.Stores, Role: o.role}
	for i, s := range stores {
		verified.Subjects = append(verified.Subjects, verify.Subject{Store: s, Statements: statements[i]})
	}
	return verified, nil
}

// verified is a finding in JSON.
type verified struct {
	Kind   verify.Kind `json:"kind"`
	Store  string      `json:"store"`
	Object string      `json:"object"`
	Text   string      `json:"text"`
	Note   bool        `json:"note,omitempty"`
	Risk   string      `json:"risk,omitempty"`
	SQL    []string    `json:"sql"` // each is sent by itself; what must stand outside a transaction does then
}

func printVerified(stdout io.Writer, asJSON bool, found []verify.Finding) error {
	if !asJSON {
		for _, f := range found {
			if _, err := io.WriteString(stdout, verifiedText(f)); err != nil {
				return err
			}
		}
		return nil
	}
	all := make([]verified, len(found))
	for i, f := range found {
		all[i] = verified{Kind: f.Kind, Store: f.Store, Object: f.Object, Text: f.Text, Note: f.Note, Risk: f.Risk, SQL: []string{}}
		for _, s := range f.SQL {
			all[i].SQL = append(all[i].SQL, s.SQL)
		}
	}
	encoder := json.NewEncoder(stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(all)
}

// verifiedText is a finding as psql takes it: a comment, and the SQL that mends. SQL that takes a decision is a comment
// as well, for whoever sends all of it to psql has taken none.
func verifiedText(f verify.Finding) string {
	var text strings.Builder
	words := []string{}
	for _, word := range []string{f.Store, f.Object} {
		if word != "" {
			words = append(words, word)
		}
	}
	line := strings.Join(append(words, f.Text), ": ")
	fmt.Fprintf(&text, "-- %s\n", model.Shown(line))
	sql := script(f.SQL)
	switch {
	case f.Risk != "" && sql != "":
		fmt.Fprintf(&text, "-- Look before you run it: %s.\n%s", model.Shown(f.Risk), commented(sql))
	case hidden(sql):
		fmt.Fprintf(&text, "-- A name in the SQL holds what does not show; --json has it as it is.\n%s", commented(sql))
	default:
		text.WriteString(sql)
	}
	return text.String() + "\n"
}

// script has a transaction around statements that belong together.
func script(statements []ddl.Statement) string {
	if len(statements) == 1 {
		return statements[0].SQL + ";\n"
	}
	return ddl.Text(statements)
}

// commented is text of which nothing is run.
func commented(sql string) string {
	var text strings.Builder
	for line := range strings.Lines(sql) {
		fmt.Fprintf(&text, "-- %s\n", model.Shown(strings.TrimSuffix(line, "\n")))
	}
	return text.String()
}

// hidden says whether a terminal would not show all of it.
func hidden(sql string) bool {
	return strings.ContainsFunc(sql, func(r rune) bool { return r != '\n' && (model.Unprintable(r) || r == unicode.ReplacementChar) })
}
