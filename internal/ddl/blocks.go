package ddl

import (
	"strconv"
	"strings"

	"github.com/statigen/statigen/internal/model"
	"github.com/statigen/statigen/internal/sqltext"
)

// block is a DO statement. Its quotes are such as do not stand in it, whatever names do.
func block(lines ...string) []Statement {
	body := "\nBEGIN\n  " + strings.Join(lines, "\n  ") + "\nEND\n"
	quotes := "$statigen$"
	for i := 2; strings.Contains(body, quotes); i++ {
		quotes = "$statigen" + strconv.Itoa(i) + "$"
	}
	return together("DO " + quotes + body + quotes)
}

// refuseOverTombstones ends a way down from version 7: without its two columns a retired chart is one that was never
// saved whole, and anybody could put an execution on it.
func refuseOverTombstones(s model.Store) []Statement {
	return block(
		"IF EXISTS (SELECT FROM "+s.Relation(s.Charts)+` WHERE "retired_at" IS NOT NULL) THEN`,
		"  RAISE EXCEPTION USING MESSAGE = "+sqltext.Literal("charts of "+s.Relation(s.Charts)+" are retired: the tables stay at version 7")+";",
		"END IF;",
	)
}
