package faults

import (
	"flag"
	"os"
	"testing"

	"github.com/statigen/statigen/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

var all = flag.Bool("all", false, "cut after every byte in every way, not in the most common ones alone")
