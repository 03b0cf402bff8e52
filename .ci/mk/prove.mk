# Proofs beside `make test`. CI and the weekly run call them.

.PHONY: prove
prove: need/go need/node ## The tests of `make test` and `make test/rest`, with every place of the largest tables, and the measurements
	@.ci/progress $(GO_TEST) -timeout 30m ./...
	@cd verify && $(GO_TEST) ./...

.PHONY: test/load
test/load: need/go need/node ## The same three times on a busy machine, with 1, 2 and 8 processors
	@.ci/load

.PHONY: test/race
test/race: need/go need/node ## Those of `make test` under the race detector, without the proofs over days and the tables of crashes, where one goroutine runs at a time
	@GOGC=400 go test -race -short -skip 'Crash|KilledAtAnyEffect' -timeout 20m $$(go list ./internal/... ./proof/... ./functions/... ./localstack/... | grep -v '/proof/\(isolation\|reliability\)$$')

.PHONY: test/integration
test/integration: need/go need/python $(VENV)/installed ## Port suites on two AWS emulators
	@go run ./localstack/cmd/emulators -- go test -tags integration -count=1 -timeout 20m ./internal/aws/...

.PHONY: test/web
test/web: need/node need/chromium $(DOCS) $(WEB) ## Prove the console and the portal in a browser
	@$(MAKE) cli
	@cd web && DEV=../bin/surehook CHROMIUM=$(CHROMIUM) node_modules/.bin/playwright test

.PHONY: test/web/local
test/web/local: need/go need/node need/python need/chromium local ## The same against the deployed local stack
	@CHROMIUM=$(CHROMIUM) go run ./localstack/cmd/web

.PHONY: first
first: need/go ## Clone into a fresh folder, and time the way to the first verified webhook
	@.ci/first

# LocalStack listens on all interfaces, so it runs in a network namespace with
# loopback alone, together with the tests. There is no network in it, so the first
# two commands fetch and compile everything before.
LOCALSTACK_SUITES := ./internal/aws/sqs ./internal/aws/kms ./internal/aws/scheduler
NAMESPACE := unshare $(if $(filter-out 0,$(shell id -u)),--map-root-user) --net

.PHONY: test/localstack
test/localstack: need/go need/python need/localstack $(VENV)/installed $(LOCALSTACK)/installed ## Port suites of SQS, KMS and Scheduler on LocalStack 4.14.0, without Docker
	@go build -o bin/emulators ./localstack/cmd/emulators
	@go test -tags integration -run '^$$' $(LOCALSTACK_SUITES) > /dev/null
	@EMULATOR=localstack-4.14.0 EMULATORS_FOLDER=localstack $(NAMESPACE) bash -c 'ip link set lo up; exec "$$@"' in-namespace \
		bin/emulators -- go test -tags integration -count=1 -timeout 20m $(LOCALSTACK_SUITES)

.PHONY: probe
probe: need/go ## Print what the server at EMULATOR_URL has of what the stack needs
	@go run ./localstack/cmd/probe

.PHONY: test/e2e
test/e2e: need/go need/node need/python local localstack/verify/node_modules ## Whole flows on the deployed local stack
	@go test -tags e2e -count=1 -timeout 30m -v ./localstack/... ./functions/sender

.PHONY: test/contract
test/contract: need/go need/node need/python local localstack/verify/node_modules ## Hold the deployed API to the contract, with each bound of each parameter
	@E2E_FOLDER=contract CONTRACT_PHASES=examples,coverage,fuzzing,stateful go test -tags e2e -count=1 -timeout 30m -run '^TestTheContractHolds$$' -v ./localstack

.PHONY: sim
sim: need/go ## Run everything under faults, each run from its own seed (SEEDS=3000 FIRST=1 LEVEL=mild|rough|brutal, or SEED=n: print one)
	@export GOGC=400; if [ -n "$(SEED)" ]; then \
		go test -count=1 -run '^TestSeed$$' -v ./proof/sim -args -seed $(SEED) -level "$(LEVEL)"; \
	else \
		go test -count=1 -timeout 24h -run '^(TestSeeds|TestRestore|TestOrdered)$$' -v ./proof/sim -args -seeds $${SEEDS:-3000} -first $${FIRST:-1} -level "$(LEVEL)"; \
	fi

.PHONY: sim/mutations
sim/mutations: need/go ## Prove that the simulator finds bugs that are put in on purpose
	@go test -tags mutation -count=1 -timeout 2h -run '^TestMutations$$' -v ./proof/sim

.PHONY: isolation/mutations
isolation/mutations: need/go ## Prove that the rows and tests of isolation find each rule that is taken out
	@go test -tags mutation -count=1 -timeout 1h -run '^TestMutations$$' -v ./proof/isolation

.PHONY: chaos
chaos: need/go need/node need/python local ## Kill the functions of the local stack while 500 events are on their way (CHAOS_SEED=n)
	@E2E_FOLDER=chaos go test -tags e2e,chaos -count=1 -timeout 20m -run '^TestChaos$$' -v ./localstack

.PHONY: upgrade
upgrade: need/go need/node need/python local .venv/release/installed ## Fail creations, take over stacks, delete a queue, and roll the local stack back to a version that lacks a queue
	@$(MAKE) release/stack ENVIRONMENTS=local ARCH=$(HOST_ARCH) VERSION=v0.0.1 RELEASE=dist/upgrade EVENT_BUS=default EVENT_PATTERN='{"source":["com.example.shop"]}'
	@PATH="$(CURDIR)/.venv/release/bin:$$PATH" RELEASE=dist/upgrade E2E_FOLDER=upgrade go test -tags e2e,upgrade -count=1 -timeout 40m \
		-run '^Test(DeletedQueue|FailedCreations|TakeOver|Upgrade)$$' -v ./localstack

.PHONY: fuzz
fuzz: need/go ## Fuzz every parser and rule, for FUZZBUDGET seconds (300) altogether
	@.ci/fuzz $${FUZZBUDGET:-300}

.PHONY: lint/templates
lint/templates: $(VENV)/installed need/go need/node ## Check the CloudFormation templates of all environments, option sets and examples
	@rm -rf bin/templates && mkdir -p bin/templates
	@go test -count=1 -run '^TestOptions_write$$' ./infra/surehook -args -templates "$(CURDIR)/bin/templates" > bin/templates/log 2>&1 || { cat bin/templates/log; exit 1; }
	@go run ./cmd/surehook smoke --template > bin/templates/smoke.template.json
	@$(VENV)/bin/cfn-lint --config-file infra/.cfnlintrc.yaml bin/templates/*.json examples/destinations/role.yaml $(wildcard examples/*/template.yaml)
	@echo "cfn-lint has no findings in $$(ls bin/templates/*.json | wc -l) templates and those of the examples"

.PHONY: lint/contract
lint/contract: need/node $(CLIENTS)/node_modules ## Check the style of the contract
	@cd api && ../$(CLIENTS)/node_modules/.bin/redocly lint openapi.yaml

.PHONY: lint/licenses
lint/licenses: need/node need/python $(DOCS) web/node_modules $(LICENSES) ## Check the licenses of what ships in pages; make test checks those of Go
	@python3 .ci/supply.py

.PHONY: verify/client
verify/client: ## Check that the clients' types, requests and methods are what `make generate` writes
	@rm -rf bin/_generated && $(MAKE) generate INTO=bin/_generated
	@cd bin/_generated && find * -type f | while read -r file; do \
		diff -q "$$file" "../../$$file" || { echo "$$file is not what the contract says: run make generate"; exit 1; }; \
	done

.PHONY: clients
clients: need/go need/node need/python $(CLIENTS)/node_modules .venv/clients/installed ## Generate, compile and run clients of the contract (GENERATORS=all: with those of the weekly run)
	@OAPI_CODEGEN='$(OAPI_CODEGEN)' .ci/clients $(GENERATORS)

.PHONY: clients/python
clients/python: need/python .venv/clients/installed ## Write the wheel of the Python client to dist/python
	@rm -rf dist/python clients/python/build && mkdir -p dist/python
	@.venv/clients/bin/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist/python ./clients/python
	@rm -rf clients/python/build clients/python/*.egg-info
	@ls dist/python

.PHONY: verify
verify: tidy verify/golden verify/client ## Check that go.mod, the golden files and the clients are current

.PHONY: tidy
tidy: need/go
	@go mod tidy -diff
	@go -C examples/cdk mod tidy -diff
	@go -C examples/outbox mod tidy -diff
	@go -C verify mod tidy -diff
	@go mod verify > /dev/null

.PHONY: verify/golden
verify/golden: need/go need/node
	@.ci/golden

.PHONY: vulnerabilities
vulnerabilities: need/go need/node need/python .venv/audit/installed ## Look up known vulnerabilities in what is used (on the internet)
	@go run golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION) ./...
	@for lock in $$(git ls-files '*package-lock.json'); do \
		echo "$$lock"; npm --prefix "$$(dirname "$$lock")" audit --package-lock-only --audit-level=high || exit 1; \
	done
	@for lock in $$(git ls-files '*requirements*.txt' '.ci/requirements/*.txt'); do \
		echo "$$lock"; .venv/audit/bin/pip-audit --disable-pip --progress-spinner=off -r "$$lock" || exit 1; \
	done

.PHONY: lint/workflows
lint/workflows: need/go ## Check the GitHub workflows
	@$(ACTIONLINT)

.PHONY: examples
examples: examples/cdk examples/cdk-typescript examples/cdk-python examples/terraform examples/github-actions examples/receivers examples/outbox examples/profiles ## Build and try everything in examples/

.PHONY: examples/cdk
examples/cdk: need/go need/node build $(CDK) ## Synthesise the CDK app that embeds Surehook
	@go -C examples/cdk vet ./...
	@cd examples/cdk && rm -rf cdk.out && ../../$(CDK) synth --quiet
	@cd examples/cdk && ls cdk.out/Shop.template.json cdk.out/shop-webhooks-sender-us-east-1.template.json

# The template of a release for the examples: TEMPLATE=dist/release/surehook-prod.template.json, or that of this commit.
RELEASED_TEMPLATE = $(abspath $(or $(TEMPLATE),infra/cdk.out/surehook-prod.template.json))
FROM_RELEASE      = -c template=$(RELEASED_TEMPLATE) -c bucket=shop-releases -c prefix=surehook/v1.2.3

.PHONY: examples/template
examples/template:
	@$(if $(TEMPLATE),,$(MAKE) synth ENV=prod PREFIX= RELEASED=1 > /dev/null)

.PHONY: examples/cdk-typescript
examples/cdk-typescript: need/node examples/template examples/cdk-typescript/node_modules $(CDK) ## Synthesise the TypeScript app with the template of a release
	@cd examples/cdk-typescript && rm -rf cdk.out && ../../$(CDK) synth --quiet $(FROM_RELEASE)
	@ls examples/cdk-typescript/cdk.out/Shop.template.json

.PHONY: examples/cdk-python
examples/cdk-python: need/node need/python examples/template examples/cdk-python/.venv/installed $(CDK) ## The same in Python
	@cd examples/cdk-python && rm -rf cdk.out && ../../$(CDK) synth --quiet $(FROM_RELEASE)
	@ls examples/cdk-python/cdk.out/Shop.template.json

.PHONY: examples/terraform
examples/terraform: need/python examples/template .venv/terraform/installed ## Parse the Terraform module, and compare it with the template of a release
	@.venv/terraform/bin/python .ci/terraform.py examples/terraform $(RELEASED_TEMPLATE)

.PHONY: examples/github-actions
examples/github-actions: need/go ## Check the workflow that deploys a release
	@$(ACTIONLINT) examples/github-actions/deploy.yml

.PHONY: examples/receivers
examples/receivers: need/go need/node need/python examples/receiver-node/node_modules $(RECEIVER)/installed examples/recipes/node_modules .venv/recipes/installed
	@go test -tags examples -count=1 -timeout 5m -v -skip TestOutbox ./examples

.PHONY: examples/outbox
examples/outbox: need/go need/node need/python $(VENV)/installed $(CLIENTS)/dist/esm/index.js examples/outbox/node_modules ## Kill the programs with an outbox at every step
	@npm --prefix examples/outbox run --silent build
	@go -C examples/outbox vet ./...
	@go test -tags examples -count=1 -timeout 5m -v -run TestOutbox ./examples

.PHONY: examples/profiles
examples/profiles: need/node examples/profiles/node_modules ## Verify requests with the libraries of GitHub, Shopify, Slack, Stripe and Svix
	@cd examples/profiles && npm test

# The environment local is of the same constructs as prod, for functions of this machine.
.PHONY: test/release
test/release: need/go need/node need/python local .venv/release/installed ## Deploy, upgrade and roll back releases on the emulator with deploy.sh, run the smoke test, and apply the Terraform module
	@.venv/release/bin/shellcheck infra/deploy.sh
	@for version in v0.0.1 v0.0.2; do \
		$(MAKE) release/stack ENVIRONMENTS=local ARCH=$(HOST_ARCH) VERSION=$$version RELEASE=dist/local-$$version; \
	done
	@mkdir -p bin
	@go build -o bin/smoke ./localstack/cmd/smoke
	@PATH="$(CURDIR)/.venv/release/bin:$$PATH" RELEASES="dist/local-v0.0.1 dist/local-v0.0.2 dist/local-v0.0.1" bin/smoke
	@.ci/terraform dist/local-v0.0.1
