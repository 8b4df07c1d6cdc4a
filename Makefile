# Two commands are all a newcomer needs: `make reproduce` and `make test`. Both set everything up themselves.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help setup test check reproduce bench clean

help:
	@echo "make reproduce   set up, then run the paper's clique-group table (FULL=1 for all 40 repeats)"
	@echo "make test        set up, then lint, type-check and test"
	@echo "make check       lint and types only"
	@echo "make clean       remove the virtual environment and all caches"

setup: $(READY)

$(READY): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) not found; set PYTHON to a Python 3.11 or newer"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)
