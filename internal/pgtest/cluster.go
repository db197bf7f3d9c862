package pgtest

import (
	_ "embed"
	"net/url"
)

// clusterScript is a cluster's watchdog.
//
//go:embed cluster.sh
var clusterScript string

// cluster is a throwaway Postgres cluster.
type cluster struct{ *throwaway }

// startCluster starts a cluster from the Postgres that the environment names, else from the newest on this machine.
func startCluster() (cluster, error) {
	bin, err := findBin()
	if err != nil {
		return cluster{}, err
	}
	cmd, err := watchdogCommand(clusterScript, bin)
	if err != nil {
		return cluster{}, err
	}
	running, err := runThrowaway(cmd, 12*patience)
	return cluster{running}, err
}

func (c cluster) url() *url.URL {
	place := url.Values{"host": {c.folder}, "port": {"5432"}, "sslmode": {"disable"}}
	return &url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/postgres", RawQuery: place.Encode()}
}
