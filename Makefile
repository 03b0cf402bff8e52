# Surehook. `make` lists what people use. The rest is in .ci/mk: proofs, generators of documents, tools.

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
LICENSES  := .ci/licenses/node_modules/.bin/license-checker-rseidelsohn
CLIENTS   := clients/ts

# Programs know their version.
LDFLAGS = -s -w -X surehook.example/surehook/internal/names.Version=$(VERSION:v%=%)

# A group of people may have an apostrophe.
quoted = '$(subst ','\'',$(1))'

# What the CDK app is told (infra/main.go): the settings of the deployment are in a file, and those of the command line
# come before it.
SETTINGS ?= $(wildcard settings/$(or $(PREFIX),$(ENV)).json)
NAMES    := $(shell sed -n 's/^    "\([A-Z_]*\)": {$$/\1/p' infra/settings.schema.json)
CONTEXT   = -c env=$(ENV) -c prefix=$(STACK) -c dist=../$(DIST) -c version=$(VERSION) $(if $(RELEASED),-c release=1)
CONTEXT  += $(if $(SETTINGS),-c settings=$(abspath $(SETTINGS)))
CONTEXT  += $(foreach name,$(NAMES),$(if $($(name)),-c $(name)=$(call quoted,$(if $(filter SIGNATURE_PROFILES,$(name)),$(abspath $($(name))),$($(name))))))

DOCS      := api/docs/dist/swagger-ui-bundle.js
WEB       := web/dist/index.html
CHROMIUM  ?= $(or $(shell command -v chromium-headless-shell || command -v chromium),/usr/bin/chromium)

# Without what a debugger needs, test programs link in half the time, and they collect garbage less
# often, up to 2 GiB each. With the flags of `make run`, what it compiled serves the tests, too. Lint runs vet.
GO_TEST := env CGO_ENABLED=0 GOFLAGS='$(GOFLAGS) -trimpath' GOGC=400 GOMEMLIMIT=2GiB go test -vet=off -ldflags='-s -w'

GOLANGCI_VERSION    := v2.15.0
GOVULNCHECK_VERSION := v1.9.0
SBOM                := go run github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
ACTIONLINT          := go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.7

# CDK needs Node.js 22. On Linux, need/node installs it here if the machine has an older one.
export PATH := $(CURDIR)/.ci/node/node_modules/.bin:$(PATH)
export CDK_DISABLE_CLI_TELEMETRY := true
export REDOCLY_TELEMETRY := off
export REDOCLY_SUPPRESS_UPDATE_NOTICE := true

.DEFAULT_GOAL := help

.PHONY: help
help:
	@awk 'BEGIN {FS = ":.*## "} /^## --- / {printf "\n%s\n", substr($$0, 8); next} /^[a-z0-9\/-]+:.*## / {sub(/ .*/, "", $$1); printf "  make %-10s %s\n", $$1, $$2}' Makefile
	@printf '\nProofs, generators of documents and tools: make help/more\n'

.PHONY: help/more
help/more:
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9\/-]+:.*## / {sub(/ .*/, "", $$1); printf "  make %-22s %s\n", $$1, $$2}' .ci/mk/*.mk

## --- Use

.PHONY: run
run: need/go need/node need/python ## Bring the whole stack up on this machine and show it working (ONESHOT=1: then stop)
	@[ -x bin/infra ] || echo "The first run downloads and compiles: three to four minutes on two cores. Later runs take less than one."
	@$(MAKE) --jobs=4 local bin/infra run/compile
	@CGO_ENABLED=0 go run -trimpath ./localstack/cmd/run

.PHONY: dev
dev: need/go $(if $(shell command -v npm),$(DOCS) $(WEB)) ## The same API and deliveries in one process on memory, until Ctrl-C (PORT=8080, LOG=info)
	@$(MAKE) cli
	@SUREHOOK_API_KEY="$(KEY)" exec bin/surehook dev $(if $(PORT),--port $(PORT)) $(if $(LOG),--log $(LOG))

# The program embeds the pages, so targets that need both build the program last.
.PHONY: cli
cli: need/go ## Build the command line, bin/surehook
	@mkdir -p bin
	@CGO_ENABLED=0 go build -trimpath -ldflags='$(LDFLAGS)' -o bin/surehook ./cmd/surehook

## --- Change

.PHONY: check
check: lint tidy test test/rest ## The quick queue before each commit: style, go.mod, unit tests, one synth
	@$(MAKE) synth ENV=prod > /dev/null
	@echo "all is well: make ci proves the rest"

.PHONY: test
test: need/go ## Test the product, the largest tables at some of their places; make prove tests all
	@.ci/progress $(GO_TEST) -short -timeout 20m $$(go list ./... | grep -vE '/surehook/(infra|localstack|cmd|internal/smoke)')
	@cd verify && $(GO_TEST) ./...

.PHONY: test/rest
test/rest: need/go need/node ## Test what stands around it: deployment, command line, smoke test, local stack
	@.ci/progress $(GO_TEST) -short -timeout 20m ./infra/... ./localstack/... ./cmd/... ./internal/smoke

.PHONY: one
one: need/go ## Format, vet and test one package, in less than a minute (PACKAGE=internal/rule/retry)
	@[ -d "$(PACKAGE)" ] || { echo "say which package: make one PACKAGE=internal/rule/retry"; exit 1; }
	@gofmt -l "$(PACKAGE)" | sed 's/$$/ is not formatted: run gofmt -w/' | (! grep .)
	@CGO_ENABLED=0 GOFLAGS='$(GOFLAGS) -trimpath' go vet "./$(PACKAGE)/..."
	@$(GO_TEST) -short "./$(PACKAGE)/..."

.PHONY: lint
lint: $(TOOLS)/golangci-lint ## Check formatting and style
	@$(TOOLS)/golangci-lint fmt --diff > /dev/null || { $(TOOLS)/golangci-lint fmt --diff | grep "^diff"; echo "run: make fmt"; exit 1; }
	@$(TOOLS)/golangci-lint run
	@cd verify && ../$(TOOLS)/golangci-lint run

.PHONY: fmt
fmt: $(TOOLS)/golangci-lint ## Format the code
	@$(TOOLS)/golangci-lint fmt

# The generator of the Go client. Not in go.mod: a client needs the generated code alone.
OAPI_CODEGEN := go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2

# INTO is a folder for the files, in place of the work tree.
INTO ?= .

.PHONY: generate
generate: need/go need/node need/python $(CLIENTS)/node_modules .venv/clients/installed ## Write the clients' types, requests and methods from the contract
	@mkdir -p bin $(INTO)/client/openapi $(INTO)/$(CLIENTS)/src $(INTO)/clients/python/surehook
	@$(CLIENTS)/node_modules/.bin/openapi-typescript api/openapi.yaml -o $(INTO)/$(CLIENTS)/src/openapi.ts > /dev/null
	@cd clients/python && ../../.venv/clients/bin/datamodel-codegen --output $(abspath $(INTO))/clients/python/surehook/types.py
	@go run ./clients/generate $(INTO)
	@cd client/openapi && $(OAPI_CODEGEN) --config config.yaml ../../api/openapi.yaml > ../../bin/openapi.gen
	@mv bin/openapi.gen $(INTO)/client/openapi/openapi.gen.go

.PHONY: ci
ci: ## Everything that must hold before a change lands
	@.ci/run

.PHONY: weekly
weekly: ## The long proofs: chaos, mutations, long fuzzing
	@.ci/weekly

## --- Deploy

.PHONY: build
build: need/go need/node $(DOCS) $(WEB) ## Build the functions as static Linux binaries (ARCH=arm64, or amd64)
	@for f in $(FUNCTIONS); do \
		echo "building $$f for linux/$(ARCH)"; \
		CGO_ENABLED=0 GOOS=linux GOARCH=$(ARCH) go build -trimpath -tags lambda.norpc -ldflags='$(LDFLAGS)' \
			-o $(DIST)/$$f/bootstrap ./functions/$$f; \
	done

.PHONY: bootstrap
bootstrap: need/env need/go need/node build $(CDK) bin/infra ## Prepare the account and region for CDK, once, with an administrator's credentials
	@cd infra && node_modules/.bin/cdk bootstrap $(CONTEXT)

.PHONY: synth
synth: need/env need/go need/node build $(CDK) bin/infra ## Write the CloudFormation template of ENV to infra/cdk.out
	@cd infra && node_modules/.bin/cdk synth --quiet $(CONTEXT)
	@echo "infra/cdk.out/$(STACK).template.json"

.PHONY: diff
diff: need/env need/node build $(CDK) bin/infra ## Show what a deployment to ENV would change
	@cd infra && node_modules/.bin/cdk diff --all $(CONTEXT)

# What deploy.sh is told beside CDK's context. CLEAN=1 removes what a failed first deployment left, DROP names settings that
# the stack may lose, and REPLACE resources with data that it may.
DEPLOYMENT = --cdk --environment $(ENV) --stack $(STACK) $(if $(CLEAN),--clean) $(if $(DROP),--drop $(call quoted,$(DROP))) $(if $(REPLACE),--replace $(call quoted,$(REPLACE)))

.PHONY: preflight
preflight: need/env need/aws synth ## Check that the account is ready for a deployment of ENV; nothing is made
	@bash infra/deploy.sh $(DEPLOYMENT) --check

.PHONY: deploy
deploy: need/env need/aws synth ## Deploy to AWS (ENV=dev|staging|prod; credentials as for the AWS CLI)
	@bash infra/deploy.sh $(DEPLOYMENT) -- $(CONTEXT)

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
		[ -n "$(QUEUE)" ] || { echo "say which queue: QUEUE=Live, Retry, Replay, Slot, Overflow, Coalesce, Circuits or ReplayJobs"; exit 1; }; \
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

.PHONY: destroy
destroy: need/env need/go need/node build $(CDK) bin/infra ## Remove the stacks of ENV from AWS
	@cd infra && node_modules/.bin/cdk destroy --all $(CONTEXT)

## --- Release

RELEASE := dist/release
ENVIRONMENTS := dev staging prod

CHECKSUMS = cd $(RELEASE) && find * -type f ! -name checksums.txt | LC_ALL=C sort | xargs sha256sum > checksums.txt && sha256sum --check --quiet checksums.txt

# Archives of the same files are equal byte for byte: the times in them are the commit's, and so are
# the modes, whatever the umask: Lambda runs the functions as another user.
.PHONY: release
release: need/go need/node need/python $(LICENSES) ## Write what a release consists of to dist/release (VERSION=v1.2.3)
	@[[ "$(VERSION)" =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$$ ]] || { echo "VERSION is $(VERSION), and not like v1.2.3 or v1.2.3-rc.1"; exit 1; }
	@case "$(VERSION)" in *-*) ;; *) \
		[ -d "proof/formats/testdata/$(VERSION)" ] || { echo "the formats of $(VERSION) are not frozen: see docs/release.md"; exit 1; }; \
		grep --quiet --fixed-strings '## [$(VERSION:v%=%)] - ' CHANGELOG.md || { echo "CHANGELOG.md has no section of $(VERSION) with its date"; exit 1; }; \
	esac
	@$(MAKE) release/stack ARCH=arm64 VERSION=$(VERSION)
	@mkdir -p bin; at=$$(git log -1 --format=%ct); for on in linux/amd64 linux/arm64 darwin/arm64; do \
		cli=dist/cli/$${on%/*}-$${on#*/}; \
		CGO_ENABLED=0 GOOS=$${on%/*} GOARCH=$${on#*/} go build -trimpath -ldflags='$(LDFLAGS)' \
			-o $$cli/surehook ./cmd/surehook; \
		tar --create --directory $$cli --mtime="@$$at" --owner=0 --group=0 --numeric-owner --mode=0755 surehook | gzip --no-name > $(RELEASE)/surehook-$${cli##*/}.tar.gz; \
	done
	@$(SBOM) mod -json -std -licenses -assert-licenses -output $(RELEASE)/sbom.cdx.json 2> bin/sbom.log || { cat bin/sbom.log; exit 1; }
	@go test -count=1 -run '^TestSupply_licenses$$' ./docs -args -notices "$(abspath $(RELEASE))/THIRD_PARTY_NOTICES.txt"
	@python3 .ci/supply.py $(VERSION) $(RELEASE)
	@.ci/proxy $(VERSION) $(RELEASE)/go
	@chmod -R u=rwX,go=rX $(RELEASE)
	@$(CHECKSUMS)
	@ls -l $(RELEASE)

# What deploy.sh deploys.
.PHONY: release/stack
release/stack: build
	@rm -rf $(RELEASE) && mkdir -p $(RELEASE)
	@grep --quiet --text --fixed-strings "$(VERSION:v%=%)" $(DIST)/deliver/bootstrap || { echo "the functions do not know their version"; exit 1; }
	@at=$$(git log -1 --format=%ct); for f in $(FUNCTIONS); do \
		touch --date="@$$at" $(DIST)/$$f/bootstrap; chmod 755 $(DIST)/$$f/bootstrap; \
		TZ=UTC python3 -m zipfile -c $(RELEASE)/$$f.zip $(DIST)/$$f/bootstrap; \
	done
	@for env in $(ENVIRONMENTS); do \
		$(MAKE) synth ENV=$$env PREFIX= RELEASED=1 > /dev/null; \
		cp infra/cdk.out/surehook-$$env.template.json $(RELEASE); \
	done
	@sed 's/@VERSION@/$(VERSION)/' infra/deploy.sh > $(RELEASE)/deploy.sh && chmod +x $(RELEASE)/deploy.sh
	@cp infra/deployer.json $(RELEASE)
	@$(CHECKSUMS)

.PHONY: clean
clean: ## Remove what was built (installed tools stay)
	@rm -rf bin dist infra/cdk.out

include .ci/mk/*.mk
