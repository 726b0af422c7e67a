# Foldline: `make run` starts it, `make test` checks everything. Needs Python 3.11 or newer, git and make.
.DEFAULT_GOAL := help
.PHONY: help run test test-many damage lint format messages bench soak audit lock clean
BIN := .venv/bin

help: ## What there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

run: ## Start Foldline and print its address (HOST, PORT and the rest: see README.md)
	@scripts/environment.sh run
	@exec $(BIN)/python manage.py serve --prepare

test: ## Lint, types, contracts and every test, on both databases (BROWSER=skip leaves Chromium out)
	@scripts/environment.sh dev
	@scripts/test.sh

test-many: ## The pages in a browser at two processes on PostgreSQL and Valkey behind a proxy, all of them
	@scripts/environment.sh dev
	@scripts/many.sh tests/browser tests/server

damage: ## What tests/server does to running servers in a slice, at length (docs/operating.md); half an hour
	@scripts/environment.sh dev
	FOLDLINE_KILLS=60 FOLDLINE_STEPS=150 FOLDLINE_SEEDS=5 FOLDLINE_AWAY_SECONDS=40 $(BIN)/pytest tests/server

lint: ## Style, types and import contracts
	@scripts/environment.sh dev
	@scripts/lint.sh

format: ## Format Python and templates
	@scripts/environment.sh dev
	$(BIN)/ruff check --fix --quiet . || true
	$(BIN)/ruff format .
	git ls-files -z '*.html' | xargs -0 -r $(BIN)/djade --target-version 5.2 || true

messages: ## Collect the texts of the interface into locale/, and compile it (docs/translating.md)
	@scripts/environment.sh dev
	@$(BIN)/python -m scripts.messages

bench: ## Measure, beside other products too (QUICK=1 a few minutes, PEERS=no alone); a table and build/bench/report.html
	@scripts/environment.sh dev
	@$(BIN)/python -m bench

soak: ## Ten minutes (SECONDS=600) of 500 sockets and 100 replies at once; fails where anything went wrong
	@scripts/environment.sh dev
	@$(BIN)/python -m bench.soak $(or $(SECONDS),600)

audit: ## Ask PyPI whether a pinned package has a known weakness (needs the network)
	@scripts/audit.sh

lock: ## Write constraints.txt anew after a change of requirements
	@scripts/lock.sh

clean: ## Remove the environment, caches and what the bench wrote; data/ stays
	rm -rf .venv build .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis test-artifacts
