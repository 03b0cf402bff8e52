# Generators of documents and pictures, and measurements.

# A page that loads anything from another host fails.
.PHONY: docs
docs: need/node need/python $(DOCS) .venv/docs/installed ## Build a site of docs/ with search; writes dist/docs (REPOSITORY=URL for links to code, SITE=URL)
	@REPOSITORY="$(REPOSITORY)" SITE="$(SITE)" NO_MKDOCS_2_WARNING=1 .venv/docs/bin/mkdocs build --strict --config-file .ci/site/mkdocs.yml
	@! grep -rnoE '<(script|link|img|iframe|source)[^>]+(src|srcset|href)="?(https?:)?//[^> ]+' dist/docs --include='*.html' | grep -v 'rel="canonical"'
	@echo "dist/docs: python3 -m http.server --bind 127.0.0.1 --directory dist/docs"

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

# It compares a committed document with what the code writes; a test does so with
# docs/cost.md. No target compares docs/performance.md and docs/dashboard.svg: measurements
# differ from run to run.
.PHONY: verify/reliability
verify/reliability: ## Check that docs/reliability.md is what `make reliability` writes
	@mkdir -p bin && cp docs/reliability.md bin/reliability.md
	@$(MAKE) reliability
	@diff -u bin/reliability.md docs/reliability.md || { echo "docs/reliability.md was not what the code writes, and is now"; exit 1; }
