# The only list of commands. A bare `make` prints it. `make demo` and `make test` set up all they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help setup demo check test rules bench golden docs shots clean

help: ## print this list
	@awk -F':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.ready ## make the virtual environment with everything in it

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("vaultkeeper needs Python 3.11 or newer: make PYTHON=python3.12 …") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	touch $@

demo: setup ## copy the sample vault, watch it, and see what the keeper does while a person edits
	@$(BIN)/python -m tests.demo

check: setup ## linters, types and import contracts
	$(BIN)/ruff check vaultkeeper tests
	$(BIN)/ruff format --check vaultkeeper tests
	$(BIN)/mypy
	PYTHONPATH=. $(BIN)/lint-imports --no-logo

test: check ## everything CI runs
	$(BIN)/python -m pytest -q -n auto --cov --cov-report=term:skip-covered

rules: setup ## list the rules of the specification that no test proves
	@$(BIN)/python -m pytest -q --collect-only --rules -p no:randomly

bench: setup ## speed and memory, side by side with what they are compared to, as ratios
	$(BIN)/python -m tests.perf

golden: setup ## write the golden files anew after looking at why they differ
	$(BIN)/python -m pytest -q tests/golden --update-golden

docs: setup ## write the tables of the documents anew from the code
	$(BIN)/python -m tests.documents

shots: setup ## make the pictures of the README anew
	$(BIN)/python -m tests.shots

clean: ## remove everything that was made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage* .demo .bench
