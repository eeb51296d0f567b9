# Needs python3 (3.11 or newer) with pip and venv, nothing else. `make PYTHON=python3.12 test` takes another one.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?= -n auto

.PHONY: predict test quick docs clean
.DELETE_ON_ERROR:

export PIP_DISABLE_PIP_VERSION_CHECK := 1

predict: $(VENV)/.installed
	$(BIN)/vmodel predict --path vf --rx-usecs 10

# One BLAS thread per process: the test workers already use every core.
test quick: export OPENBLAS_NUM_THREADS := 1

test: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest $(PYTEST_ARGS) --doctest-modules vmodel tests

quick: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m "not slow"

# The site, with everything generated from code and catalogue; warnings and dead links are errors.
docs: export NO_MKDOCS_2_WARNING := 1
docs: $(VENV)/.installed-docs
	$(BIN)/python -m mkdocs build --strict
	@echo "open build/site/index.html"

bench: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks -o benchmarks/results.md

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find vmodel tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The install is editable, so only a change of pyproject.toml makes a new one necessary.
$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	$(BIN)/python -m compileall -q vmodel
	touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $(VENV)/.installed $@

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@
