# Targets are listed by `make help`. Everything needs Go, a C compiler (for the race detector) and make; tools beyond those
# are built into .bin/ at the versions named here.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

BIN  := bin/loadout
TOOLS := .bin

GOFUMPT_VERSION       := v0.12.0
GOLANGCI_LINT_VERSION := v2.15.0

# A tool that is installed already is used with, for example, `make lint GOFUMPT=$(command -v gofumpt)`.
GOFUMPT       ?= $(TOOLS)/gofumpt-$(GOFUMPT_VERSION)
GOLANGCI_LINT ?= $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)

# Every platform must build and vet; what one of them lacks is a clear error at run time.
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

FUZZTIME ?= 10s

# Where the real agent programs are installed, at the versions of the lock file; providers/internal/clienttest looks there.
CLIENTS      := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/loadout/clients
CLIENTS_LOCK := testdata/clients/package-lock.json

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/loadout
	CGO_ENABLED=0 go build -trimpath -o $(BIN) ./cmd/loadout

.PHONY: test
test: ## run every test with the race detector, in random order
	go test -race -shuffle=on -timeout=10m ./...
	@cmp -s $(CLIENTS_LOCK) $(CLIENTS)/package-lock.json || \
		echo "skipped: the tests with the real agent programs, which are not installed; make e2e installs them"

.PHONY: e2e
e2e: clients ## install the real agent programs outside of the tree (npm) and test against them
	LOADOUT_E2E=1 go test -race -count=1 -timeout=10m -run '^TestReal' ./providers/... ./cmd/loadout/...

.PHONY: clients
clients:
	@if cmp -s $(CLIENTS_LOCK) $(CLIENTS)/package-lock.json; then exit 0; fi; \
	mkdir -p $(CLIENTS); \
	cp $(dir $(CLIENTS_LOCK))package.json $(dir $(CLIENTS_LOCK)).npmrc $(CLIENTS_LOCK) $(CLIENTS)/; \
	npm ci --ignore-scripts --prefix $(CLIENTS) || { rm $(CLIENTS)/package-lock.json; exit 1; }

.PHONY: lint
lint: lint-format lint-modules lint-platforms lint-rules ## check format, modules, all platforms, and .golangci.yml

.PHONY: lint-format
lint-format: $(filter $(TOOLS)/%,$(GOFUMPT))
	@unformatted=$$($(GOFUMPT) -l .); \
	if [ -n "$$unformatted" ]; then echo "not formatted, run make fmt:"; echo "$$unformatted"; exit 1; fi

.PHONY: lint-modules
lint-modules:
	go mod tidy -diff
	go mod verify

.PHONY: lint-platforms
lint-platforms:
	@for platform in $(PLATFORMS); do \
		echo "build and vet $$platform"; \
		export GOOS=$${platform%/*} GOARCH=$${platform#*/} CGO_ENABLED=0; \
		go build ./...; \
		go vet ./...; \
	done

.PHONY: lint-rules
lint-rules: $(filter $(TOOLS)/%,$(GOLANGCI_LINT))
	$(GOLANGCI_LINT) run

.PHONY: bench
bench: ## measure side by side with bare programs; WRITE=1 records docs/benchmarks.md
	go run ./cmd/bench $(if $(WRITE),-write)

.PHONY: demo
demo: build ## watch scripted agents in the cockpit; PLAIN=1 tells the same story as text
	./$(BIN) demo $(if $(PLAIN),--plain)

.PHONY: pictures
pictures: ## draw the pictures of docs/ anew
	go run ./cmd/frames

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (10s)
	@go test -list '^Fuzz' ./... \
	| awk '/^Fuzz/ { name[++n] = $$1 } /^ok/ { for (i = 1; i <= n; i++) print $$2, name[i]; n = 0 }' \
	| while read -r package target; do \
		echo "fuzz $$package $$target"; \
		go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) "$$package" </dev/null || exit 1; \
	done

.PHONY: cover
cover: ## measure test coverage, over all packages
	@mkdir -p $(TOOLS)
	go test -coverpkg=./... -coverprofile=$(TOOLS)/cover.out ./...
	go tool cover -func=$(TOOLS)/cover.out | tail -1

.PHONY: fmt
fmt: $(filter $(TOOLS)/%,$(GOFUMPT)) ## format the code
	$(GOFUMPT) -w .

.PHONY: clean
clean: ## remove what was built, also the tools
	rm -rf bin $(TOOLS)

# The file name carries the version, so that a new version here is a new file to build.
$(TOOLS)/gofumpt-$(GOFUMPT_VERSION):
	GOBIN=$(CURDIR)/$(TOOLS) go install mvdan.cc/gofumpt@$(GOFUMPT_VERSION)
	mv $(TOOLS)/gofumpt $@

$(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION):
	GOBIN=$(CURDIR)/$(TOOLS) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv $(TOOLS)/golangci-lint $@
