// Package example is a host of statigen's: it keeps loan applications as durable executions, in the store that
// statigen generated into loanstore.
package example

//go:generate go run github.com/statigen/statigen/cmd/statigen
