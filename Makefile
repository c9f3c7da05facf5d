# make demo   sets up everything and runs the quickstart campaign and its verdict
# make test   sets up everything and passes the tests (with lint, types and a wheel check)
#
# PYTHON=python3.12 chooses another interpreter. The environment lives in .venv; the stamp is written
# last and carries the hash of pyproject.toml, so a failed or outdated set-up is made again.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KEY := $(shell (cat pyproject.toml; $(PYTHON) --version) 2>/dev/null | sha256sum | cut -c1-16)
READY := $(VENV)/ready-$(KEY)
TESTS ?= tests
PYTEST_ARGS ?=

.PHONY: demo test lint unit wheel generated setup clean

demo: $(READY)
	$(BIN)/fairtrial run configs/quickstart.yaml
	@echo
	$(BIN)/fairtrial verdict "$$(ls -td runs/quickstart-* | head -n 1)"

test: lint unit wheel

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

unit: $(READY)
	$(BIN)/python -m pytest -q $(TESTS) $(PYTEST_ARGS)

# The wheel must hold everything: install it alone and use it from another folder.
wheel: $(READY)
	$(BIN)/python tests/contract/wheel_check.py

# What is made from the code: the editor's schema, the lists in the documentation.
generated: $(READY)
	$(BIN)/python tests/contract/generate.py

setup: $(READY)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "fairtrial needs Python 3.11 or newer; '$(PYTHON)' is not. Choose one: make PYTHON=python3.12 ..."; exit 1; }
	rm -rf $(VENV)
	$(PYTHON) tests/contract/make_venv.py $(VENV)
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
