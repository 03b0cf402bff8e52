# What the other targets need: tools and packages, installed into the project.

NPM    := .ci/again npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --prefix
PYTHON := python3

# DIR/installed: FILE is a virtual environment of Python in DIR, with the packages of FILE.
define venv
	@$(PYTHON) -m venv $(@D)
	@.ci/again $(@D)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@
endef

.PHONY: web
web: need/node $(WEB) ## Build the console and the portal

.PHONY: local
local: $(VENV)/installed $(CDK) $(DOCS) $(WEB)

.PHONY: tools
tools: need/go need/node need/python local bin/infra .venv/clients/installed localstack/verify/node_modules examples/receiver-node/node_modules examples/profiles/node_modules examples/outbox/node_modules $(RECEIVER)/installed $(CLIENTS)/dist/esm/index.js $(LICENSES)

# Compiles what `make run` needs and what embeds no pages, with the flags of the functions, so that nothing is compiled twice.
.PHONY: run/compile
run/compile:
	@CGO_ENABLED=0 go build -trimpath -tags lambda.norpc ./functions/deliver ./functions/breaker ./functions/export ./functions/sender ./localstack/cmd/run

.PHONY: module
module: need/go ## Rename the Go module (MODULE=github.com/acme/webhooks)
	@.ci/module "$(MODULE)"

bin/infra: $(shell find infra internal/names internal/config internal/hook internal/rule -name '*.go' -not -name '*_test.go' 2>/dev/null) go.mod go.sum
	@echo "building the CDK app (the first time takes about a minute)"
	@CGO_ENABLED=0 go build -trimpath -o $@ ./infra

$(RECEIVER)/installed: examples/receiver-python/requirements.txt
	$(venv)

examples/cdk-python/.venv/installed: examples/cdk-python/requirements.txt
	$(venv)

$(VENV)/installed: localstack/requirements.txt
	@echo "installing the emulators into $(VENV)"
	$(venv)

# The tools in Python of one purpose each.
.venv/%/installed: .ci/requirements/%.txt
	$(venv)

$(LOCALSTACK)/installed: PYTHON := $(PYTHON313)
$(LOCALSTACK)/installed: localstack/python313/requirements.txt
	@echo "installing LocalStack into $(LOCALSTACK)"
	@rm -rf $(@D) # perhaps of another Python
	$(venv)

$(CDK): infra/package.json infra/package-lock.json
	@echo "installing the CDK CLI into infra/node_modules"
	@$(NPM) infra
	@touch $@

$(DOCS): api/docs/package.json api/docs/package-lock.json
	@echo "installing the renderer of the API's document into api/docs/dist"
	@$(NPM) api/docs
	@cp api/docs/node_modules/swagger-ui-dist/swagger-ui-bundle.js api/docs/node_modules/swagger-ui-dist/swagger-ui.css $(dir $(DOCS))
	@touch $@

web/node_modules: web/package.json web/package-lock.json
	@echo "installing what the console is built with into web/node_modules"
	@PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 $(NPM) web
	@touch $@

$(WEB): web/node_modules web/index.html web/vite.config.ts web/tsconfig.json $(CLIENTS)/src/openapi.ts $(shell find web/src -type f)
	@echo "building the console and the portal into web/dist"
	@npm --prefix web run --silent build

.ci/site/node_modules localstack/verify/node_modules examples/receiver-node/node_modules examples/recipes/node_modules examples/profiles/node_modules examples/outbox/node_modules examples/cdk-typescript/node_modules $(CLIENTS)/node_modules: %/node_modules: %/package.json %/package-lock.json
	@$(NPM) $*
	@touch $@

# The client as npm packs it. More than one step uses it, so `make tools` builds it.
$(CLIENTS)/dist/esm/index.js: $(CLIENTS)/node_modules $(CLIENTS)/package.json $(wildcard $(CLIENTS)/src/*.ts $(CLIENTS)/tsconfig*.json)
	@npm --prefix $(CLIENTS) run --silent build

# Without the parsers of swagger-ui that are compiled for each platform: no page has them.
$(LICENSES): .ci/licenses/package.json .ci/licenses/package-lock.json
	@$(NPM) .ci/licenses --omit=optional
	@touch $@

$(TOOLS)/golangci-lint:
	@echo "building golangci-lint $(GOLANGCI_VERSION) (the first time takes some minutes)"
	@GOBIN=$(CURDIR)/$(TOOLS) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

.PHONY: need/env need/go need/node need/python need/localstack need/aws need/chromium
need/env:
	@[ -n "$(ENV)" ] || { echo "say which environment: make ... ENV=dev|staging|prod|local"; exit 1; }
need/aws:
	@command -v aws > /dev/null || { echo "the AWS CLI is needed: https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html"; exit 1; }
need/go:
	@command -v go > /dev/null || { echo "Go 1.26 or newer is needed: https://go.dev/doc/install"; exit 1; }
need/node:
	@current() { node -e 'process.exit(+(parseInt(process.versions.node) < 22))' 2> /dev/null; }; command -v npm > /dev/null && { current || { \
		$(NPM) .ci/node && hash -r && current; }; } \
		|| { echo "Node.js 22 or newer with npm is needed (the CDK runs on it): https://nodejs.org/en/download"; exit 1; }
need/python:
	@command -v python3 > /dev/null && python3 -c 'import venv, ensurepip, sys; sys.exit(sys.version_info < (3, 10))' 2> /dev/null \
		|| { echo "Python 3.10 or newer with venv is needed (the AWS emulator runs on it): https://www.python.org/downloads"; exit 1; }
need/chromium:
	@[ -x "$(CHROMIUM)" ] || { echo "Chromium is needed (apt-get install chromium-headless-shell on Debian): put it on the path, or say CHROMIUM=path"; exit 1; }
need/localstack:
	@$(PYTHON313) -c 'import venv, ensurepip, sys; sys.exit(sys.version_info[:2] != (3, 13))' > /dev/null 2>&1 \
		|| { echo "Python 3.13 with venv is needed (LocalStack 4.14.0 runs on it): put python3.13 on the path, or say PYTHON313=path"; exit 1; }
	@$(NAMESPACE) ip link set lo up > /dev/null 2>&1 \
		|| { echo "a network namespace is needed (LocalStack listens on all interfaces): Linux with unshare and ip, and root or unprivileged user namespaces"; exit 1; }
