package explore

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/statigen/statigen/internal/pgtest"
	store "github.com/statigen/statigen/templates"
)

// lab is the database that scenarios are run in, and what came of them.
type lab struct {
	db     *pgtest.DB
	reader *pgxpool.Pool // nobody's session
	store  *store.Store  // the same
	watch  *pgx.Conn     // sees who waits
	result Result
}

func newLab(t *testing.T) *lab {
	t.Helper()
	db := pgtest.New(t, store.Schema)
	reader := db.Pool(t)
	return &lab{db: db, reader: reader, store: store.New(reader), watch: db.Conn(t), result: Result{Outcomes: map[string]int{}}}
}

// cast is a scenario and its players, who keep their connections from one schedule to the next.
type cast struct {
	*lab
	scenario Scenario
	players  []*player
}

func (l *lab) each(t *testing.T, scenarios []Scenario, explore func(*testing.T, *cast)) Result {
	t.Helper()
	for _, s := range scenarios {
		held := t.Run(s.String(), func(t *testing.T) {
			c := &cast{lab: l, scenario: s}
			for i, session := range s.Sessions {
				c.players = append(c.players, newPlayer(t, l.db, session, i))
			}
			explore(t, c)
		})
		if !held {
			break
		}
	}
	return l.result
}
