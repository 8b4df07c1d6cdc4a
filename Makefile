# Two commands are all a newcomer needs: `make reproduce` and `make test`. Both set everything up themselves.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
BASE := $(VENV)/.base
READY := $(VENV)/.ready
WORKERS ?= auto
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
export MPLBACKEND := Agg
# hundreds of processes import the package and its libraries: the first one keeps what it compiles for the others
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup test fuzz check shapes reproduce bench serve docs dist clean

help:
	@echo "make reproduce         set up, then run the paper's experiments and check its claims (FULL=1: in full;"
	@echo "                       NETWORK=edges.csv: on a network of your own)"
	@echo "make test              set up, then lint, type-check and test"
	@echo "make fuzz              set up, then try hard to break it, for minutes (SEED=1, SCALE=30, ONLY=numerics)"
	@echo "make check             set up, then lint and type-check only"
	@echo "make shapes            set up, then run a part of the tests with the shapes in annotations checked"
	@echo "make bench             set up, then measure against the rivals"
	@echo "make serve             set up, then start the decision service with simulated visitors, and show its page"
	@echo "make docs              set up, then build the site into docs/_build/html"
	@echo "make dist              build wheel and sdist, install and try them with every Python 3.11 to 3.13 that is here"
	@echo "make clean             remove the virtual environment and all caches"

setup: $(READY)

# what the package itself needs: enough to reproduce the paper
$(BASE): pyproject.toml
	$(make_venv)
	$(PIP_INSTALL) --editable .
	@touch $(BASE)

# and what tests, linters and optional parts need; most of their files are never imported, so none is compiled before
$(READY): pyproject.toml
	$(make_venv)
	$(PIP_INSTALL) --no-compile --editable '.[dev]'
	@touch $(BASE) $(READY)

define make_venv
@command -v $(PYTHON) >/dev/null || { echo "make: no $(PYTHON) here; try make PYTHON=python3 (3.11 or newer)"; exit 1; }
$(PYTHON) -m venv $(VENV)
endef

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Checks the shapes in the annotations at run time. Whatever calls the same functions with the same shapes hundreds of
# times more is left out, as is what hands in wrong shapes on purpose.
shapes: $(READY)
	GRAPHBANDIT_CHECK_SHAPES=1 $(BIN)/python -m pytest --quiet \
		-k "not refused and not kinds and not actions_follow_it and not rare_clicks and (not any_chunk or 64)" \
		tests/learners/test_interface.py tests/test_simulate.py tests/environments/test_synthetic.py tests/function_classes/test_finite.py \
		tests/graphs/test_graph.py tests/graphs/test_batch.py tests/test_theory.py

# mypy has one core and shapes the other, and most kernels are compiled before there are two workers to do it twice
test: $(READY)
	$(MAKE) --jobs 2 --output-sync --no-print-directory check shapes
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# ten times the part of `make test`; the same seed gives the same cases
fuzz: $(READY)
	$(BIN)/python -m tests.fuzz --seed $(or $(SEED),0) --scale $(or $(SCALE),10) $(addprefix --only ,$(ONLY))

reproduce: $(BASE)
	$(BIN)/graphbandit reproduce $(if $(FULL),--full,--quick) $(if $(NETWORK),--network "$(NETWORK)")

# a service and visitors, on this machine only; Ctrl-C ends both
$(VENV)/.service: $(BASE)
	$(PIP_INSTALL) --editable '.[service]'
	@touch $@

serve: $(VENV)/.service
	PROGRAM=$(BIN)/graphbandit examples/service/demo.sh

bench: $(READY)
	$(PIP_INSTALL) --editable '.[dev,bench]'
	$(BIN)/graphbandit bench --history $(if $(QUICK),--quick)

# the site: notebooks are run, and a warning is an error
docs: $(BASE)
	$(PIP_INSTALL) --editable '.[docs]'
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

# wheel and sdist, each tried in a clean environment
dist: $(BASE)
	$(PIP_INSTALL) build
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python tests/docs/try_dist.py dist

clean:
	rm -rf docs/_build docs/api/generated dist $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find graphbandit tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
