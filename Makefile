# Everything here sets up what it needs, in .envs, with nothing but Python 3.11+.

PYTHON ?= python3
ENVS := $(PYTHON) scripts/envs.py
BIN := .envs/tools/bin
PEERS := $(addprefix peer-,mcp-1.30 mcp-2.3 ts-2.4-modern fastmcp-2 fastmcp-3 \
    fastmcp-4 everything-2025 everything-2026 ts-1.32-client \
    langchain-adapters-client mcp-use-client)
# Frameworks that the documentation shows; which SDK line runs the tests is all the
# same to them.
GUIDES := $(addprefix guide-,google-adk langchain mcp-use openai-agents pydantic-ai)
# What depends on the SDK; the engine does not.
FLOOR_TESTS := tests/interop/test_verbs.py tests/interop/test_http.py \
    tests/test_in_process.py tests/test_parity.py

# They run in processes of their own, where the tests look at them from outside and
# nothing is counted.
COMMANDS := */cli/*,*/matrix/*,*/bridge/*

MATRIX := .envs/sdk2/bin/python -m mcp_anyera matrix run
LOCKS := src/mcp_anyera/matrix/locks
RESULTS := compat-matrix/results/latest
QUICK := compat-matrix/results/quick

# The tests of two lines at once would measure each other's load.
.NOTPARALLEL:
.PHONY: help test demo lint types test-sdk1 test-sdk2 contract test-floors coverage \
    conformance docs wheel bench bench-quick bench-docs soak matrix matrix-quick matrix-docs \
    matrix-page-test format lock clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

test: lint types wheel docs test-sdk1 test-sdk2 contract test-floors coverage ## everything that must pass, on both SDK lines

demo: ## one client program against three real servers, on both SDK lines
	$(ENVS) sdk1 sdk2 peer-mcp-1.30 peer-mcp-2.3
	$(PYTHON) demo/run.py

lint: ## style, formatting, direction of imports
	$(ENVS) tools sdk2
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PYTHONPATH=src $(BIN)/lint-imports --no-cache

types: ## strict type checks, once for each SDK line
	$(ENVS) tools sdk1 sdk2
	$(BIN)/pyright --project pyright-sdk1.json
	$(BIN)/pyright --project pyright-sdk2.json

test-sdk1 test-sdk2: test-%: ## the tests on one SDK line
	$(ENVS) $* $(PEERS) $(if $(filter sdk2,$*),$(GUIDES))
	rm -f .coverage.$*.*
	COVERAGE_FILE=.coverage.$* .envs/$*/bin/python -m coverage run -m pytest $(ARGS)

contract: ## whether the table of the behaviour contract is what the tests have found
	$(PYTHON) scripts/behaviour_table.py --check

test-floors: ## the tests on the oldest SDKs that are supported
	$(ENVS) sdk1-floor sdk2-floor $(PEERS)
	.envs/sdk1-floor/bin/python -m pytest $(FLOOR_TESTS)
	.envs/sdk2-floor/bin/python -m pytest $(FLOOR_TESTS)

coverage: ## what the tests of both lines have reached
	$(ENVS) tools
	$(BIN)/coverage combine --keep --data-file=.coverage .coverage.sdk1.* .coverage.sdk2.*
	$(BIN)/coverage report --include='src/mcp_anyera/engine/*,src/mcp_anyera/eras.py' --fail-under=100
	$(BIN)/coverage report --omit='$(COMMANDS)' --fail-under=95

docs: ## the site, in site/index.html; any warning is an error
	$(ENVS) docs
	NO_MKDOCS_2_WARNING=1 .envs/docs/bin/mkdocs build --strict --quiet

wheel: ## what is released: what it holds, its types, and that it installs
	$(ENVS) tools sdk1 sdk2
	$(PYTHON) scripts/wheel_check.py

conformance: ## the public conformance suite, on both SDK lines
	$(ENVS) sdk1 sdk2 conformance
	for line in sdk1 sdk2; do $(PYTHON) conformance/run.py --suite-dir .envs/conformance \
	    --python .envs/$$line/bin/python --node "$$($(ENVS) new-node)" $(ARGS) || exit 1; done

matrix: ## every client stack with every server: the whole compat matrix, and its page
	$(ENVS) sdk2
	$(MATRIX) --jobs 6 --json $(RESULTS).json --html $(RESULTS).html $(ARGS)

matrix-quick: ## the reduced matrix, and its page
	$(ENVS) sdk2
	$(MATRIX) --quick --jobs 6 --json $(QUICK).json --html $(QUICK).html $(ARGS)

matrix-docs: ## write the documentation's page and picture and the README's table again
	$(ENVS) sdk2
	.envs/sdk2/bin/python scripts/matrix_docs.py
	.envs/sdk2/bin/python scripts/matrix_picture.py

matrix-page-test: ## the matrix page in a real browser (needs Chromium on the machine)
	$(ENVS) page
	.envs/page/bin/python -m pytest compat-matrix/test_page.py $(ARGS)

BENCH_ENVS := sdk1 sdk2 $(addprefix peer-,mcp-1.30 mcp-2.3 ts-2.4-modern fastmcp-4) \
    bench-mcp-remote

bench: ## everything that the project promises about speed, beside its peers
	$(ENVS) $(BENCH_ENVS)
	$(PYTHON) benchmarks/run.py $(ARGS)

bench-quick: ## the same with fewer turns
	$(ENVS) $(BENCH_ENVS)
	$(PYTHON) benchmarks/run.py --quick $(ARGS)

bench-docs: ## write the page of the documentation from the run that was kept
	$(PYTHON) benchmarks/report.py

soak: ## 20 000 calls through the bridge on both transports
	$(ENVS) sdk2 peer-ts-2.4-modern
	$(PYTHON) benchmarks/soak.py

format: ## rewrite the sources in our style
	$(ENVS) tools
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: ## pin the requirements again
	$(ENVS) tools
	for name in tools docs sdk1 sdk1-floor sdk2 sdk2-floor page $(GUIDES); do \
	    $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header \
	        --no-annotate requirements/$$name.in -o requirements/$$name.txt; done
	for name in 1.24 1.30 2.0 2.3; do \
	    $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header \
	        --no-annotate $(LOCKS)/mcp-$$name.in -o $(LOCKS)/mcp-$$name.txt; done

clean: ## remove the environments and what the tests left
	rm -rf .envs .contract .coverage* .pytest_cache .ruff_cache .hypothesis dist site
