.DEFAULT_GOAL := help
.PHONY: help build generate example test test-matrix explore race check lint mutants fuzz bench

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

MAJORS := 14 15 16 17 18
PACKAGES := ./...
FUZZTIME := 1m
# Servers never run as root, and what is root's own they may not enter.
SERVERS := $(if $(filter 0,$(shell id -u)),/var/cache,$(HOME)/.cache)/statigen

help: ## Lists the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Builds bin/statigen; the first time takes minutes, for sqlc's parser is C.
	go build -o bin/statigen ./cmd/statigen

generate: ## Writes templates/ for the default config, the config's reference and schema, and the example.
	go generate . ./gen/...

example: ## Generates the example and runs its tests, verbosely.
	go generate ./gen/example && go test -v ./gen/example/...

test: ## Runs all tests, on a throwaway Postgres or on $STATIGEN_TEST_DATABASE_URL.
	go test -timeout 40m ./...

test-matrix: ## Runs all tests on Postgres 14 to 18, which npm brings; MAJORS=18 and PACKAGES=./templates/... narrow it.
	@failed=; for major in $(MAJORS); do \
		bin=$$(.ci/postgres $$major "$(SERVERS)") && $$bin/postgres --version && \
		STATIGEN_TEST_DATABASE_URL= STATIGEN_TEST_POSTGRES_BIN=$$bin go test -timeout 40m $(PACKAGES) || failed="$$failed $$major"; \
	done; test -z "$$failed" || { echo "failed on Postgres$$failed"; exit 1; }

explore: ## Runs every schedule of every scenario of internal/explore; make test runs a sample of those of three sessions.
	go test -v -timeout 60m ./internal/explore -all | grep -v -e '^=== ' -e '^  *--- PASS'

race: ## Runs the stores' tests under the race detector.
	go test -race -timeout 20m ./templates/... ./gen/...

check: ## Compiles, vets, and looks whether what is generated, and go.mod, are current.
	go build ./... && go vet ./... && go mod tidy -diff && go mod verify
	go test -run 'Current$$' ./internal/generate ./internal/config

lint: ## Runs golangci-lint, which knows the import rules, and staticcheck.
	go run $(GOLANGCI) run ./...
	go run $(STATICCHECK) -checks all,-ST1000 ./...

mutants: ## Breaks the lock rule in every known way and demands that a test notices.
	go run ./internal/mutants

bench: ## Compares a run of the command with its sqlc alone; wants a quiet machine, and TMPDIR in memory to leave the disk out.
	go test -run '^$$' -bench Generate -benchtime 15x -timeout 20m ./internal/sqlc

fuzz: ## Runs each fuzz target for FUZZTIME=1m; what they claim is in docs/proof.md.
	@grep -ro --include='*_test.go' '^func Fuzz[A-Za-z0-9]*' internal templates | sort | sed 's|/[^/]*:func | |' | while read -r package target; do \
		echo "$$target" && go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "./$$package" || exit 1; \
	done
