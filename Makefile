# Everything there is to do here. `make help` tells.
.DEFAULT_GOAL := help
.PHONY: help up test test-slow check fix build bench chaos prove lock

UV ?= uv
# Most tests wait for processes, so there may be more of these than cores.
TESTERS ?= 3
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -n $(TESTERS) --dist loadfile --no-loadscope-reorder

help:  ## What can be made
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-16s %s\n", $$1, $$2}'

up:  ## Run everything here, on own servers (PORT=8001 DATA_DIR=.officeplane WORKERS=3)
	@./bootstrap.sh
	@exec $(BIN)/officeplane up --with-parent $(if $(PORT),--port $(PORT)) \
	    $(if $(DATA_DIR),--data-dir $(DATA_DIR)) $(if $(WORKERS),--workers $(WORKERS))

test:  ## Run the suite but for what takes longest (ARGS="-k lanes -x" is passed to pytest)
	@./bootstrap.sh dev
	@$(PYTEST) -m "not slow" $(ARGS)
	@echo "make test: chaos, fuzz, the model, the wheel, LibreOffice and the benchmarks are left to \`make test-slow\`"

test-slow:  ## Run what `make test` leaves out: chaos, fuzz, the model, the wheel, LibreOffice, the benchmarks
	@./bootstrap.sh dev
	@$(PYTEST) -m slow $(ARGS)

check:  ## Format, lint, import contracts, types: each is run, and what failed is named
	@./bootstrap.sh dev
	@failed=; \
	run() { name=$$1; shift; printf '%s\n' "-- $$name"; "$$@" || failed="$$failed $$name"; }; \
	run ruff-format $(BIN)/ruff format --check --quiet .; \
	run ruff $(BIN)/ruff check --quiet .; \
	run import-linter $(BIN)/lint-imports --no-logo; \
	run basedpyright $(BIN)/basedpyright; \
	run mypy $(BIN)/mypy; \
	if [ -n "$$failed" ]; then echo "make check: failed:$$failed" >&2; exit 1; fi; \
	echo "make check: all passed"

fix:  ## Format, and repair what the linter can
	@./bootstrap.sh dev
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

build:  ## Make the wheel and the source distribution in dist/
	@./bootstrap.sh dev
	@rm -rf dist
	@$(BIN)/python -m hatchling build

bench:  ## Measure this system and the limits of its servers (ARGS="--quick --only drain")
	@./bootstrap.sh
	@$(BIN)/officeplane bench $(ARGS)

chaos:  ## Break everything at once and see that nothing is lost (SEED=42 MINUTES=1.5)
	@./bootstrap.sh dev
	@$(BIN)/python -m tests.chaos --seed $(or $(SEED),42) --minutes $(or $(MINUTES),1.5)

prove:  ## What takes too long for `make test`: large counts, recovery times, mutants (ARGS="--only zombies")
	@./bootstrap.sh dev
	@$(BIN)/python -m tests.prove $(ARGS)

lock:  ## Choose versions anew and write them down with their hashes (needs uv)
	@command -v $(UV) >/dev/null || { echo "make lock needs uv; name it with UV=/path/to/uv" >&2; exit 1; }
	$(UV) pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --upgrade \
	    --group build --output-file requirements.lock pyproject.toml
	$(UV) pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
	    --group dev --extra oidc --constraints requirements.lock --output-file requirements-dev.lock pyproject.toml
