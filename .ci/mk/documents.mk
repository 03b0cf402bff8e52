# Generators of documents and pictures, and measurements.

# Each version has a folder, so a site keeps the pages of older releases: PUBLISHED may be the folder of a published one.
# A page that loads anything from another host fails.
PUBLISHED ?= dist/docs
.PHONY: docs
docs: need/node need/python $(DOCS) .venv/docs/installed .ci/site/node_modules ## Build a site of docs/ with search, a folder per version; writes dist/docs (VERSION=v1.2.3, PUBLISHED=folder, REPOSITORY=URL for links to code, SITE=URL)
	@[[ "$(VERSION)" =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$$ ]] && folder=$(VERSION) ref=$(VERSION) || { folder=next ref=HEAD; }; \
	VERSION="$(VERSION)" REF=$$ref REPOSITORY="$(REPOSITORY)" SITE="$(if $(SITE),$(SITE:/=)/$$folder/)" OUT="$(abspath $(PUBLISHED))/$$folder" NO_MKDOCS_2_WARNING=1 \
		.venv/docs/bin/mkdocs build --strict --config-file .ci/site/mkdocs.yml
	@.venv/docs/bin/python .ci/site/versions.py "$(PUBLISHED)"
	@! grep -rnoE '<(script|link|img|iframe|source)[^>]+(src|srcset|href)="?(https?:)?//[^> ]+' "$(PUBLISHED)" --include='*.html' | grep -v 'rel="canonical"'
	@echo "$(PUBLISHED): python3 -m http.server --bind 127.0.0.1 --directory $(PUBLISHED)"

.PHONY: test/docs
test/docs: docs need/chromium web/node_modules ## Walk that site in a browser: links, searches, the reference, diagrams, the version
	@CHROMIUM=$(CHROMIUM) node .ci/site/check.js "$(PUBLISHED)"

.PHONY: pictures
pictures: need/node need/chromium $(WEB) ## Draw the pictures of the console and the portal; writes docs/pictures
	@$(MAKE) cli
	@mkdir -p docs/pictures
	@cd web && DEV=../bin/surehook CHROMIUM=$(CHROMIUM) PICTURES=../docs/pictures node_modules/.bin/playwright test pictures

.PHONY: pictures/terminal
pictures/terminal: cli need/python .venv/terminal/installed ## Draw the terminal of the README from a run; writes docs/pictures/terminal.svg
	@.venv/terminal/bin/python .ci/terminal.py
	@echo "docs/pictures/terminal.svg"

.PHONY: cost
cost: need/go ## Count and price every request; writes docs/cost.md
	@go test -count=1 -run '^TestCost$$' ./proof/cost -args -write

.PHONY: scale
scale: need/go ## Compute what one stack carries from its template and docs/cost.md; writes docs/scale.md
	@go test -count=1 -run '^TestScale$$' ./proof/scale -args -write "$(CURDIR)/docs/scale.md" > /dev/null
	@echo "docs/scale.md"

.PHONY: reliability
reliability: need/go ## Compare with a plain retry schedule over ten days of outages, and in each kind of trouble; writes docs/reliability.md
	@go test -count=1 -timeout 60m -run '^TestReliability$$' -v ./proof/reliability -args -update

.PHONY: isolation
isolation: need/go ## Measure what slow, failing and limited endpoints take from others; writes docs/isolation.md (ROW="mass drain": that row only)
	@GOGC=200 go test -count=1 -timeout 2h -run '^TestWrite$$' -v ./proof/isolation -args -write -row '$(ROW)'

.PHONY: pictures/dashboard
pictures/dashboard: need/go need/node need/python local ## Draw the dashboard with the metrics of a local run; writes docs/dashboard.svg (RUN=6m)
	@go run ./localstack/cmd/picture

.PHONY: bench
bench: need/go ## Measure the CPU time of the path, cold starts and packages; writes docs/performance.md
	@go run ./localstack/cmd/bench

.PHONY: bench/hostile
bench/hostile: need/go ## Measure the time of hostile bodies, as ratios to valid bodies of their size; fails past five times
	@go test -run '^$$' -bench HostileBodies -benchtime 1x ./internal/httpapi

.PHONY: bench/peers
bench/peers: need/go ## Measure Outpost and Svix beside Surehook (PEER_OUTPOST=folder PEER_SVIX=file); keeps the chapter for make bench
	@go run ./localstack/cmd/bench peers

# It compares a committed document with what the code writes; a test does so with
# docs/cost.md. No target compares docs/performance.md and docs/dashboard.svg: measurements
# differ from run to run.
.PHONY: verify/reliability
verify/reliability: ## Check that docs/reliability.md is what `make reliability` writes
	@mkdir -p bin && cp docs/reliability.md bin/reliability.md
	@$(MAKE) reliability
	@diff -u bin/reliability.md docs/reliability.md || { echo "docs/reliability.md was not what the code writes, and is now"; exit 1; }
