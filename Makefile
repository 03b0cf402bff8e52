# Surehook. `make` lists what there is.

SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS   += --no-builtin-rules --no-print-directory

FUNCTIONS := ingest deliver breaker replay manage authorize export sender
HOST_ARCH := $(shell go env GOARCH 2>/dev/null)
ENV       ?=
# The stack, and the prefix of all names. A second stack of one ENV in an account and region has another PREFIX, from the
# command line or from the environment.
STACK      = $(or $(PREFIX),surehook-$(ENV))
ARCH      ?= arm64
# The version that the functions report (User-Agent) and that their resources are tagged with.
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
DIST      := dist/$(ARCH)
VENV      := .venv
PYTHON313 ?= python3.13
LOCALSTACK := localstack/python313/.venv
RECEIVER  := examples/receiver-python/.venv
TOOLS     := .tools/bin
CDK       := infra/node_modules/.bin/cdk
SBOM      := .ci/sbom/node_modules/.bin/cdxgen
CLIENTS   := clients/ts

# What the CDK app is told (infra/main.go). Name those that a deployment has at every synth, diff and deploy of it.
CONTEXT = -c env=$(ENV) -c prefix=$(STACK) -c dist=../$(DIST) -c version=$(VERSION)
CONTEXT += $(if $(ALARM_EMAIL),-c email=$(ALARM_EMAIL))
CONTEXT += $(if $(TRACES),-c traces=$(TRACES))
CONTEXT += $(if $(EVENT_BUS),-c event_bus=$(EVENT_BUS) -c event_pattern='$(EVENT_PATTERN)')
CONTEXT += $(if $(TENANT_PATH),-c tenant_path=$(TENANT_PATH))
CONTEXT += $(if $(VALIDATION),-c validation=$(VALIDATION))
CONTEXT += $(if $(ENDPOINTS_PER_HOST),-c endpoints_per_host=$(ENDPOINTS_PER_HOST))
CONTEXT += $(if $(SENDERS),-c senders=$(SENDERS)) $(if $(FIXED),-c fixed=$(FIXED))
CONTEXT += $(if $(ENVELOPE),-c envelope=$(ENVELOPE))
CONTEXT += $(if $(SIGNATURE_PROFILES),-c signature_profiles=$(abspath $(SIGNATURE_PROFILES))) $(if $(SIGNATURES),-c signatures=$(SIGNATURES))
CONTEXT += $(if $(DESTINATIONS),-c destinations=$(DESTINATIONS))
CONTEXT += $(if $(PORTAL_NAME),-c portal_name="$(PORTAL_NAME)")
CONTEXT += $(if $(PORTAL_ACCENT),-c portal_accent="$(PORTAL_ACCENT)")
CONTEXT += $(if $(PORTAL_LOGO),-c portal_logo="$(PORTAL_LOGO)")
CONTEXT += $(if $(PORTAL_EMBEDDERS),-c portal_embedders="$(PORTAL_EMBEDDERS)")
CONTEXT += $(if $(API_DOMAIN),-c domain=$(API_DOMAIN) -c certificate=$(API_CERTIFICATE))

DOCS      := api/docs/dist/swagger-ui-bundle.js
WEB       := web/dist/index.html
CHROMIUM  ?= $(or $(shell command -v chromium 2>/dev/null),/usr/bin/chromium)

GOLANGCI_VERSION    := v2.15.0
GOVULNCHECK_VERSION := v1.9.0
ACTIONLINT_VERSION  := v1.7.7

# CDK's JavaScript runtime works on Node 20, and warns about its age at every start.
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := 20
export CDK_DISABLE_CLI_TELEMETRY := true
export REDOCLY_TELEMETRY := off
export REDOCLY_SUPPRESS_UPDATE_NOTICE := true

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9\/ _-]+:.*## / {sub(/^.* /, "", $$1); printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

## --- run ---------------------------------------------------------------

.PHONY: run
run: need/go need/node need/python local ## Bring the whole stack up on this machine and show it working (ONESHOT=1: then stop)
	@go run ./localstack/cmd/run

.PHONY: dev
dev: need/go $(if $(shell command -v npm),$(DOCS) $(WEB)) ## The same API and deliveries in one process on memory, until Ctrl-C (PORT=8080, LOG=info)
	@$(MAKE) cli
	@SUREHOOK_API_KEY="$(KEY)" exec bin/surehook dev $(if $(PORT),--port $(PORT)) $(if $(LOG),--log $(LOG))

# The program embeds the pages, so targets that need both build the program last.
.PHONY: cli
cli: need/go ## Build the command line, bin/surehook
	@mkdir -p bin
	@CGO_ENABLED=0 go build -trimpath -ldflags='-s -w -X surehook/internal/names.Version=$(VERSION:v%=%)' -o bin/surehook ./cmd/surehook

.PHONY: web
web: need/node $(WEB) ## Build the console and the portal

.PHONY: local
local: $(VENV)/installed $(CDK) $(DOCS) $(WEB)

.PHONY: tools
tools: need/go need/node need/python local bin/infra localstack/verify/node_modules examples/receiver-node/node_modules examples/profiles/node_modules $(RECEIVER)/installed $(SBOM)

.PHONY: build
build: need/go need/node $(DOCS) $(WEB) ## Build the functions as static Linux binaries (ARCH=arm64, or amd64)
	@for f in $(FUNCTIONS); do \
		echo "building $$f for linux/$(ARCH)"; \
		CGO_ENABLED=0 GOOS=linux GOARCH=$(ARCH) go build -trimpath -tags lambda.norpc -ldflags='-s -w -X surehook/internal/names.Version=$(VERSION:v%=%)' \
			-o $(DIST)/$$f/bootstrap ./functions/$$f; \
	done

bin/infra: $(shell find infra internal/names -name '*.go' -not -name '*_test.go' 2>/dev/null) go.mod go.sum
	@echo "building the CDK app (the first time takes about a minute)"
	@go build -o $@ ./infra

$(RECEIVER)/installed: examples/receiver-python/requirements.txt
	@python3 -m venv $(RECEIVER)
	@$(RECEIVER)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r examples/receiver-python/requirements.txt
	@touch $@

$(VENV)/installed: localstack/requirements.txt
	@echo "installing the emulators into $(VENV)"
	@python3 -m venv $(VENV)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r localstack/requirements.txt
	@touch $@

# The weekly run alone generates a client in Python.
.PHONY: .venv/clients
.venv/clients:
	@[ -x .venv/clients/bin/openapi-python-client ] \
		|| { python3 -m venv .venv/clients && .venv/clients/bin/pip install --quiet --disable-pip-version-check --require-hashes -r .ci/requirements/clients.txt; }

.PHONY: .venv/terminal
.venv/terminal:
	@[ -x .venv/terminal/bin/python ] \
		|| { python3 -m venv .venv/terminal && .venv/terminal/bin/pip install --quiet --disable-pip-version-check --require-hashes -r .ci/requirements/terminal.txt; }

$(LOCALSTACK)/installed: localstack/python313/requirements.txt
	@echo "installing LocalStack into $(LOCALSTACK)"
	@$(PYTHON313) -m venv --clear $(LOCALSTACK)
	@$(LOCALSTACK)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r localstack/python313/requirements.txt
	@touch $@

$(CDK): infra/package.json infra/package-lock.json
	@echo "installing the CDK CLI into infra/node_modules"
	@npm --prefix infra ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

$(DOCS): api/docs/package.json api/docs/package-lock.json
	@echo "installing the renderer of the API's document into api/docs/dist"
	@npm --prefix api/docs ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@cp api/docs/node_modules/swagger-ui-dist/swagger-ui-bundle.js api/docs/node_modules/swagger-ui-dist/swagger-ui.css $(dir $(DOCS))
	@touch $@

web/node_modules: web/package.json web/package-lock.json
	@echo "installing what the console is built with into web/node_modules"
	@PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm --prefix web ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

$(WEB): web/node_modules web/index.html web/vite.config.ts web/tsconfig.json $(CLIENTS)/src/openapi.ts $(shell find web/src -type f)
	@echo "building the console and the portal into web/dist"
	@npm --prefix web run --silent build

localstack/verify/node_modules examples/receiver-node/node_modules examples/profiles/node_modules $(CLIENTS)/node_modules: %/node_modules: %/package.json %/package-lock.json
	@npm --prefix $* ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# Not npm ci: npm ci refuses a lock file without the optional packages of every platform.
# --no-save keeps the lock file as it is.
$(SBOM): .ci/sbom/package.json .ci/sbom/package-lock.json
	@npm --prefix .ci/sbom install --no-save --ignore-scripts --omit=optional --no-audit --no-fund --loglevel=error
	@touch $@

## --- prove -------------------------------------------------------------

.PHONY: check
check: lint tidy test ## The five-minute lane before each commit: style, go.mod, unit tests, one synth
	@$(MAKE) synth ENV=prod > /dev/null
	@echo "all is well: make ci proves the rest"

.PHONY: ci
ci: ## Everything that must hold before a change lands
	@.ci/run

.PHONY: weekly
weekly: ## The long proofs: chaos, mutations, long fuzzing
	@.ci/weekly

.PHONY: test
test: need/go need/node ## Prove everything that needs no emulator
	@go test -timeout 20m ./...

.PHONY: test/race
test/race: need/go need/node ## The same under the race detector, with fewer repetitions, and without the proofs over days
	@go test -race -short -timeout 20m $$(go list ./internal/... ./functions/... ./localstack/... | grep -v '/proof/\(isolation\|reliability\)$$')

.PHONY: test/integration integration
test/integration integration: need/go need/python $(VENV)/installed ## Port suites on two AWS emulators
	@go run ./localstack/cmd/emulators -- go test -tags integration -count=1 -timeout 20m ./internal/aws/...

.PHONY: test/web
test/web: need/node need/chromium $(DOCS) $(WEB) ## Prove the console and the portal in a browser
	@$(MAKE) cli
	@cd web && DEV=../bin/surehook CHROMIUM=$(CHROMIUM) node_modules/.bin/playwright test

.PHONY: test/web/local
test/web/local: need/go need/node need/python need/chromium local ## The same against the deployed local stack
	@CHROMIUM=$(CHROMIUM) go run ./localstack/cmd/web

.PHONY: pictures
pictures: need/node need/chromium $(WEB) ## Draw the pictures of the console and the portal; writes docs/pictures
	@$(MAKE) cli
	@mkdir -p docs/pictures
	@cd web && DEV=../bin/surehook CHROMIUM=$(CHROMIUM) PICTURES=../docs/pictures node_modules/.bin/playwright test pictures

.PHONY: picture/terminal
picture/terminal: cli need/python .venv/terminal ## Draw the terminal of the README from a run; writes docs/pictures/terminal.svg
	@.venv/terminal/bin/python .ci/terminal.py
	@echo "docs/pictures/terminal.svg"

.PHONY: first
first: need/go ## Clone into a fresh folder, and time the way to the first verified webhook
	@.ci/first

# LocalStack listens on all interfaces, so it runs in a network namespace with
# loopback alone, together with the tests. There is no network in it, so the first
# two commands fetch and compile everything before.
LOCALSTACK_SUITES := ./internal/aws/sqs ./internal/aws/kms ./internal/aws/scheduler
NAMESPACE := unshare $(if $(filter-out 0,$(shell id -u)),--map-root-user) --net

.PHONY: integration/localstack
integration/localstack: need/go need/python need/localstack $(VENV)/installed $(LOCALSTACK)/installed ## Port suites of SQS, KMS and Scheduler on LocalStack 4.14.0, without Docker
	@go build -o bin/emulators ./localstack/cmd/emulators
	@go test -tags integration -run '^$$' $(LOCALSTACK_SUITES) > /dev/null
	@EMULATOR=localstack-4.14.0 EMULATORS_FOLDER=localstack $(NAMESPACE) bash -c 'ip link set lo up; exec "$$@"' in-namespace \
		bin/emulators -- go test -tags integration -count=1 -timeout 20m $(LOCALSTACK_SUITES)

.PHONY: probe
probe: need/go ## Print what the server at EMULATOR_URL has of what the stack needs
	@go run ./localstack/cmd/probe

.PHONY: test/e2e e2e
test/e2e e2e: need/go need/node need/python local localstack/verify/node_modules ## Whole flows on the deployed local stack
	@go test -tags e2e -count=1 -timeout 30m -v ./localstack/...

.PHONY: sim
sim: need/go ## Run everything under faults, each run from its own seed (SEEDS=3000 FIRST=1 LEVEL=mild|rough|brutal, or SEED=n: print one)
	@export GOGC=400; if [ -n "$(SEED)" ]; then \
		go test -count=1 -run '^TestSeed$$' -v ./internal/proof/sim -args -seed $(SEED) -level "$(LEVEL)"; \
	else \
		go test -count=1 -timeout 24h -run '^TestSeeds$$' -v ./internal/proof/sim -args -seeds $${SEEDS:-3000} -first $${FIRST:-1} -level "$(LEVEL)"; \
	fi

.PHONY: sim/mutations
sim/mutations: need/go ## Prove that the simulator finds bugs that are put in on purpose
	@go test -tags mutation -count=1 -timeout 2h -run '^TestMutations$$' -v ./internal/proof/sim

.PHONY: isolation/mutations
isolation/mutations: need/go ## Prove that the rows and tests of isolation find each rule that is taken out
	@go test -tags mutation -count=1 -timeout 1h -run '^TestMutations$$' -v ./internal/proof/isolation

.PHONY: chaos
chaos: need/go need/node need/python local ## Kill the functions of the local stack while 500 events are on their way (CHAOS_SEED=n)
	@E2E_FOLDER=chaos go test -tags e2e,chaos -count=1 -timeout 20m -run '^TestChaos$$' -v ./localstack

.PHONY: upgrade
upgrade: need/go need/node need/python need/aws local ## Roll the local stack back to a version without a lane, and upgrade it again
	@E2E_FOLDER=upgrade go test -tags e2e,upgrade -count=1 -timeout 25m -run '^TestUpgrade$$' -v ./localstack

.PHONY: fuzz
fuzz: need/go ## Fuzz every parser and rule, for FUZZBUDGET seconds (300) altogether
	@.ci/fuzz $${FUZZBUDGET:-300}

.PHONY: cost
cost: need/go ## Count and price every request; writes docs/cost.md
	@go test -count=1 -run '^TestCost$$' ./internal/proof/cost -args -write

.PHONY: scale
scale: need/go ## Compute what one stack carries from its template and docs/cost.md; writes docs/scale.md
	@go test -count=1 -run '^TestScale$$' ./internal/proof/scale -args -write "$(CURDIR)/docs/scale.md" > /dev/null
	@echo "docs/scale.md"

.PHONY: reliability
reliability: need/go ## Compare with a plain retry schedule over 30 days of outages; writes docs/reliability.md
	@go test -count=1 -timeout 60m -run '^TestReliability$$' -v ./internal/proof/reliability -args -update

.PHONY: isolation
isolation: need/go ## Measure what slow, failing and limited endpoints take from others; writes docs/isolation.md (ROW="mass drain": that row only)
	@GOGC=200 go test -count=1 -timeout 2h -run '^TestWrite$$' -v ./internal/proof/isolation -args -write -row '$(ROW)'

.PHONY: picture
picture: need/go need/node need/python local ## Draw the dashboard with the metrics of a local run; writes docs/dashboard.svg (RUN=6m)
	@go run ./localstack/cmd/picture

.PHONY: bench
bench: need/go ## Measure the CPU time of the path, cold starts and packages; writes docs/performance.md
	@go run ./localstack/cmd/bench

.PHONY: lint
lint: $(TOOLS)/golangci-lint ## Check formatting and style
	@$(TOOLS)/golangci-lint fmt --diff > /dev/null || { $(TOOLS)/golangci-lint fmt --diff | grep "^diff"; echo "run: make fmt"; exit 1; }
	@$(TOOLS)/golangci-lint run

.PHONY: lint/templates
lint/templates: $(VENV)/installed $(CDK) bin/infra ## Check the synthesised CloudFormation templates
	@for env in dev staging prod local; do \
		$(MAKE) synth ENV=$$env PREFIX= > /dev/null; \
		echo "cfn-lint surehook-$$env"; \
		$(VENV)/bin/cfn-lint --config-file infra/.cfnlintrc.yaml infra/cdk.out/surehook-$$env.template.json; \
	done
	@echo "cfn-lint prod with senders in other regions and fixed addresses"
	@$(MAKE) synth ENV=prod PREFIX= SENDERS=us-east-1 FIXED=2 > /dev/null
	@$(VENV)/bin/cfn-lint --config-file infra/.cfnlintrc.yaml infra/cdk.out/surehook-prod.template.json infra/cdk.out/surehook-prod-sender-us-east-1.template.json
	@echo "cfn-lint prod with destinations in AWS, and the role of a customer"
	@$(MAKE) synth ENV=prod PREFIX= DESTINATIONS=/surehook/ > /dev/null
	@$(VENV)/bin/cfn-lint --config-file infra/.cfnlintrc.yaml infra/cdk.out/surehook-prod.template.json examples/destinations/role.yaml
	@echo "cfn-lint the receiver's stack of make smoke"
	@go run ./cmd/surehook smoke --template > infra/cdk.out/smoke.template.json
	@$(VENV)/bin/cfn-lint --config-file infra/.cfnlintrc.yaml infra/cdk.out/smoke.template.json
	@echo "cfn-lint prod with events of a bus, and the templates of examples"
	@$(MAKE) synth ENV=prod PREFIX= EVENT_BUS=orders EVENT_PATTERN='{"source":["com.example.orders"]}' > /dev/null
	@$(VENV)/bin/cfn-lint --config-file infra/.cfnlintrc.yaml infra/cdk.out/surehook-prod.template.json $(wildcard examples/*/template.yaml)

.PHONY: lint/contract
lint/contract: need/node $(CLIENTS)/node_modules ## Check the style of the contract
	@cd api && ../$(CLIENTS)/node_modules/.bin/redocly lint openapi.yaml

# The generator of the Go client. Not in go.mod: a client needs the generated code alone.
OAPI_CODEGEN := go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2

.PHONY: generate
generate: need/go need/node $(CLIENTS)/node_modules ## Write the Go client and the TypeScript types from the contract
	@npm --prefix $(CLIENTS) run --silent generate > /dev/null
	@mkdir -p bin
	@cd client/openapi && $(OAPI_CODEGEN) --config config.yaml ../../api/openapi.yaml > ../../bin/openapi.gen && mv ../../bin/openapi.gen openapi.gen.go

.PHONY: verify/client
verify/client: need/go ## Check that the Go client is what `make generate` writes
	@mkdir -p bin
	@cd client/openapi && $(OAPI_CODEGEN) --config config.yaml ../../api/openapi.yaml > ../../bin/openapi.gen
	@diff -q client/openapi/openapi.gen.go bin/openapi.gen || { echo "the Go client is not what the contract says: run make generate"; exit 1; }

.PHONY: clients
clients: need/go need/node $(CLIENTS)/node_modules ## Generate, compile and run clients of the contract
	@.ci/clients

.PHONY: fmt
fmt: $(TOOLS)/golangci-lint ## Format the code
	@$(TOOLS)/golangci-lint fmt

.PHONY: verify
verify: tidy verify/golden verify/client ## Check that go.mod, the golden files and the Go client are current

.PHONY: tidy
tidy: need/go
	@go mod tidy -diff
	@go -C examples/cdk mod tidy -diff
	@go mod verify > /dev/null

.PHONY: verify/golden
verify/golden: need/go need/node
	@.ci/golden

# It compares a committed document with what the code writes; a test does so with
# docs/cost.md. No target compares docs/performance.md and docs/dashboard.svg: measurements
# differ from run to run.
.PHONY: verify/reliability
verify/reliability: ## Check that docs/reliability.md is what `make reliability` writes
	@mkdir -p bin && cp docs/reliability.md bin/reliability.md
	@$(MAKE) reliability
	@diff -u bin/reliability.md docs/reliability.md || { echo "docs/reliability.md was not what the code writes, and is now"; exit 1; }

.PHONY: vulnerabilities
vulnerabilities: need/go ## Look up known vulnerabilities in what is used (on the internet)
	@go run golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION) ./...

.PHONY: lint/workflows
lint/workflows: need/go ## Check the GitHub workflows
	@go run github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION)

$(TOOLS)/golangci-lint:
	@echo "building golangci-lint $(GOLANGCI_VERSION) (the first time takes some minutes)"
	@GOBIN=$(CURDIR)/$(TOOLS) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

## --- examples ----------------------------------------------------------

.PHONY: examples
examples: examples/cdk examples/receivers examples/profiles ## Build and try everything in examples/

.PHONY: examples/cdk
examples/cdk: need/go need/node build $(CDK) ## Synthesise the CDK app that embeds Surehook
	@go -C examples/cdk vet ./...
	@cd examples/cdk && rm -rf cdk.out && ../../$(CDK) synth --quiet
	@cd examples/cdk && ls cdk.out/Shop.template.json cdk.out/shop-webhooks-sender-us-east-1.template.json

.PHONY: examples/receivers
examples/receivers: need/go need/node need/python examples/receiver-node/node_modules $(RECEIVER)/installed
	@go test -tags examples -count=1 -timeout 5m -v ./examples

.PHONY: examples/profiles
examples/profiles: need/node examples/profiles/node_modules ## Verify requests with the libraries of GitHub, Shopify, Slack, Stripe and Svix
	@cd examples/profiles && npm test

## --- release -----------------------------------------------------------

RELEASE := dist/release

# Archives of the same files are equal byte for byte: the times in them are the commit's.
.PHONY: release
release: need/go need/node need/python $(SBOM) ## Write what a release consists of to dist/release (VERSION=v1.2.3)
	@[[ "$(VERSION)" =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$$ ]] || { echo "VERSION is $(VERSION), and not like v1.2.3 or v1.2.3-rc.1"; exit 1; }
	@rm -rf $(RELEASE) && mkdir -p $(RELEASE)
	@$(MAKE) build ARCH=arm64 VERSION=$(VERSION)
	@grep --quiet --text --fixed-strings "$(VERSION:v%=%)" dist/arm64/deliver/bootstrap || { echo "the functions do not know their version"; exit 1; }
	@$(MAKE) synth ENV=prod PREFIX= ARCH=arm64 VERSION=$(VERSION) > /dev/null
	@for on in linux/amd64 linux/arm64 darwin/arm64; do \
		CGO_ENABLED=0 GOOS=$${on%/*} GOARCH=$${on#*/} go build -trimpath -ldflags='-s -w -X surehook/internal/names.Version=$(VERSION:v%=%)' \
			-o $(RELEASE)/surehook-$${on%/*}-$${on#*/} ./cmd/surehook; \
	done
	@cp infra/cdk.out/surehook-prod.template.json infra/cdk.out/surehook-prod.assets.json $(RELEASE)
	@at=$$(git log -1 --format=%ct); for f in $(FUNCTIONS); do \
		touch --date="@$$at" dist/arm64/$$f/bootstrap; \
		TZ=UTC python3 -m zipfile -c $(RELEASE)/$$f.zip dist/arm64/$$f/bootstrap; \
	done
	@$(SBOM) --type go --no-recurse --no-install-deps --project-version $(VERSION) --output $(RELEASE)/sbom.cdx.json . > /dev/null
	@go test -count=1 -run '^TestSupply_licenses$$' ./docs -args -notices "$(abspath $(RELEASE))/THIRD_PARTY_NOTICES.txt"
	@cd $(RELEASE) && sha256sum * > checksums.txt && sha256sum --check --quiet checksums.txt
	@ls -l $(RELEASE)

## --- AWS ---------------------------------------------------------------

.PHONY: synth
synth: need/env need/go need/node build $(CDK) bin/infra ## Write the CloudFormation template of ENV to infra/cdk.out
	@cd infra && node_modules/.bin/cdk synth --quiet $(CONTEXT)
	@echo "infra/cdk.out/$(STACK).template.json"

.PHONY: diff
diff: need/env need/node build $(CDK) bin/infra ## Show what a deployment to ENV would change
	@cd infra && node_modules/.bin/cdk diff --all $(CONTEXT)

.PHONY: bootstrap
bootstrap: need/env need/go need/node build $(CDK) bin/infra ## Prepare the account and region for CDK, once, with an administrator's credentials
	@cd infra && node_modules/.bin/cdk bootstrap $(CONTEXT)

.PHONY: deploy
deploy: need/env need/go need/node build $(CDK) bin/infra ## Deploy to AWS (ENV=dev|staging|prod; credentials as for the AWS CLI)
	@cd infra && node_modules/.bin/cdk deploy --all $(CONTEXT) --outputs-file cdk.out/outputs.json
	@cat infra/cdk.out/outputs.json

# The program gets Ctrl-C itself, and then still removes what it made.
.PHONY: smoke
smoke: need/env need/go $(if $(filter local,$(ENV)),need/node need/python local,cli) ## Prove a deployment from outside, in five minutes (ENV=local: on an emulator; LONG=1: 17 minutes)
ifeq ($(ENV),local)
	@mkdir -p bin
	@go build -o bin/smoke ./localstack/cmd/smoke
	@exec bin/smoke
else
	@exec bin/surehook smoke --stack $(STACK) $(if $(filter 1,$(LONG)),--long)
endif

.PHONY: destroy
destroy: need/env need/go need/node build $(CDK) bin/infra ## Remove the stacks of ENV from AWS
	@cd infra && node_modules/.bin/cdk destroy --all $(CONTEXT)

# SQS moves messages only out of a dead-letter queue of another queue. A queue that left the stack is none, so FROM makes an empty
# queue with this dead-letter queue.
.PHONY: redrive
redrive: need/env need/aws ## Move the messages of the undeliverable queues back, or FROM=URL of a kept queue to QUEUE=Live (docs/runbook.md)
	@url() { \
		url=$$(aws cloudformation describe-stacks --stack-name "$(STACK)" --query "Stacks[0].Outputs[?OutputKey=='$$1'].OutputValue" --output text); \
		[ -n "$$url" ] || { echo "the stack $(STACK) has no output $$1" >&2; return 1; }; \
		echo "$$url"; \
	}; \
	arn() { aws sqs get-queue-attributes --queue-url "$$1" --attribute-names QueueArn --query Attributes.QueueArn --output text; }; \
	move() { aws sqs start-message-move-task --source-arn "$$@"; }; \
	if [ -n "$(FROM)" ]; then \
		[ -n "$(QUEUE)" ] || { echo "say which lane: QUEUE=Live, Retry, Replay, Slot, Overflow, Coalesce, Circuits or ReplayJobs"; exit 1; }; \
		from=$$(arn "$(FROM)"); to=$$(url "$(QUEUE)QueueUrl"); to=$$(arn "$$to"); \
		empty=$$(aws sqs get-queue-url --queue-name "$(STACK)-move" --query QueueUrl --output text 2> /dev/null \
			|| aws sqs create-queue --queue-name "$(STACK)-move" --query QueueUrl --output text); \
		aws sqs set-queue-attributes --queue-url "$$empty" \
			--attributes "$$(printf '{"RedrivePolicy":"{\\"deadLetterTargetArn\\":\\"%s\\",\\"maxReceiveCount\\":1000}"}' "$$from")"; \
		move "$$from" --destination-arn "$$to"; \
	else \
		all=$$(url UndeliverableUrl); all=$$(arn "$$all"); retries=$$(url UndeliverableRetryUrl); retries=$$(arn "$$retries"); \
		retry=$$(url RetryQueueUrl); retry=$$(arn "$$retry"); \
		move "$$all" && move "$$retries" --destination-arn "$$retry"; \
	fi

.PHONY: clean
clean: ## Remove what was built (installed tools stay)
	@rm -rf bin dist infra/cdk.out

## --- needs -------------------------------------------------------------

.PHONY: need/env need/go need/node need/python need/localstack need/aws need/chromium
need/env:
	@[ -n "$(ENV)" ] || { echo "say which environment: make ... ENV=dev|staging|prod|local"; exit 1; }
need/aws:
	@command -v aws > /dev/null || { echo "the AWS CLI is needed: https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html"; exit 1; }
need/go:
	@command -v go > /dev/null || { echo "Go 1.26 or newer is needed: https://go.dev/doc/install"; exit 1; }
need/node:
	@command -v node > /dev/null && command -v npm > /dev/null || { echo "Node.js 20 or newer with npm is needed (the CDK runs on it): https://nodejs.org/en/download"; exit 1; }
need/python:
	@command -v python3 > /dev/null && python3 -c 'import venv, ensurepip, sys; sys.exit(sys.version_info < (3, 10))' 2> /dev/null \
		|| { echo "Python 3.10 or newer with venv is needed (the AWS emulator runs on it): https://www.python.org/downloads"; exit 1; }
need/chromium:
	@[ -x "$(CHROMIUM)" ] || { echo "Chromium is needed (apt-get install chromium on Debian): put chromium on the path, or say CHROMIUM=path"; exit 1; }
need/localstack:
	@$(PYTHON313) -c 'import venv, ensurepip, sys; sys.exit(sys.version_info[:2] != (3, 13))' > /dev/null 2>&1 \
		|| { echo "Python 3.13 with venv is needed (LocalStack 4.14.0 runs on it): put python3.13 on the path, or say PYTHON313=path"; exit 1; }
	@$(NAMESPACE) ip link set lo up > /dev/null 2>&1 \
		|| { echo "a network namespace is needed (LocalStack listens on all interfaces): Linux with unshare and ip, and root or unprivileged user namespaces"; exit 1; }
