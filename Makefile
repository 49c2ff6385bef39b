# Everything runs in .venv, made from the pinned requirements.lock.  Needed beforehand: Python 3.11 or newer, make, git.

PYTHON ?= $(shell for python in python3.11 python3; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
READY := .venv/ready

.PHONY: demo test test-long fuzz accuracy accuracy-sparse benchmark reproduce pictures lock clean

demo: $(READY)
	$(BIN)/plandp demo

test: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2 -m "not long"

test-long: $(READY)
	$(BIN)/python -m pytest -n 2 -m long

# hostile input for every public entry, and 10,000 releases in one process; about an hour
fuzz: $(READY)
	$(BIN)/python -m plandp_lab.fuzz --cases 100000 --jobs 2
	$(BIN)/python -m plandp_lab.soak --releases 10000

accuracy: $(READY)
	$(BIN)/python -m plandp_lab.accuracy

# DATA=DIR adds the real sets whose .npz files are there
accuracy-sparse: $(READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m plandp_lab.sparse_accuracy $(if $(DATA),--data "$(DATA)")

benchmark: $(READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m plandp_lab.benchmark
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m plandp_lab.benchmark --profile
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m plandp_lab.benchmark --growth docs/pictures/benchmark/growth.svg
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m plandp_lab.sparse_benchmark

# every figure and table of the paper, and the page on them; hours, and it goes on where it was stopped
reproduce: $(READY)
	$(BIN)/plandp reproduce all --write-docs docs $(if $(DATA),--data "$(DATA)")

pictures: $(READY)
	$(BIN)/python docs/pictures/make_pictures.py

$(READY): .venv/packages pyproject.toml
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

.venv/packages: requirements.lock
	@test -n "$(PYTHON)" || { echo "plandp needs Python 3.11 or newer: make PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --requirement requirements.lock
	@touch $@

# The newest versions that pyproject.toml allows, tried in a fresh environment, become the pins.
lock:
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/python -m pip install --quiet --upgrade "setuptools>=77"
	.venv-lock/bin/python -m pip install --quiet --no-build-isolation --editable ".[dev]"
	{ echo "# Made by: make lock.  Every package of the extra \"dev\", for Python 3.11; no hosts, no paths."; \
	  .venv-lock/bin/python -m pip freeze --all --exclude pip --exclude-editable; } > requirements.lock
	rm -rf .venv-lock

clean:
	rm -rf .venv .venv-lock demo_output build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
