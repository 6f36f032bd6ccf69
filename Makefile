# The targets of this checkout. What each machine lacks is installed by .ci/setup.sh, which says so first.

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
MADE := $(VENV)/.made
SERIES := 22.05 24.11 26.05
GUESTS := 24.11
DEMO := inventories/dgx-h100-64n
OUT := build/demo
# A file of tests stays in one process: its tests share what they build.
SPREAD := -n auto --dist loadfile
MACHINES := tests/rehearse/machines

# Rehearsals need root. Beside an ordinary user root gets the few variables that matter (sudo drops them) and
# leaves no files of its own in the checkout.
CARRIED := CI SLURMWRIGHT_FIELD_DATA SLURMWRIGHT_CACHE http_proxy https_proxy no_proxy
AS_ROOT := $(if $(filter-out 0,$(shell id -u)),sudo env PYTHONDONTWRITEBYTECODE=1 \
	HYPOTHESIS_STORAGE_DIRECTORY=/var/cache/slurmwright/hypothesis PYTEST_ADDOPTS='-p no:cacheprovider' \
	$(foreach name,$(CARRIED),$(if $($(name)),$(name)='$($(name))')))

.PHONY: help venv rehearsal roots guests for-tests demo test quick lint bench clean

help:
	@echo 'make demo    set up, then render and rehearse $(DEMO)'
	@echo 'make test    set up, then run the whole test suite (rehearsals in a real Slurm: as root, by sudo)'
	@echo 'make quick   the tests that start no Slurm'
	@echo 'make lint    linters, types, and the layers of the package'
	@echo 'make bench   seconds and memory of render, lint and slurmctld for up to 10,000 nodes, of discovery, rehearsals and verify, of reading NCCL logs and those of hosts'
	@echo 'make clean   remove what these targets made in the checkout'

venv: $(MADE)

$(MADE): pyproject.toml .ci/setup.sh
	.ci/setup.sh venv $(VENV)

rehearsal: venv
	.ci/setup.sh rehearsal

# Built once and kept (as root: in /var/cache/slurmwright).
roots: rehearsal
	$(AS_ROOT) $(BIN)/python -m slurmwright.rehearse.roots $(SERIES)

# The disk image of virtual machines, kept likewise.
guests: venv
	.ci/setup.sh guests
	$(AS_ROOT) $(BIN)/python -m slurmwright.rehearse.machines.image $(GUESTS)

for-tests:
	.ci/setup.sh tests

demo: rehearsal
	$(BIN)/slurmwright render -i $(DEMO) -o $(OUT)
	$(AS_ROOT) $(BIN)/slurmwright rehearse -i $(DEMO)

# First what starts no Slurm, on all cores, and what needs them all for itself. Then virtual machines, which often
# wait for each other, and in the time that they leave (nice) the rehearsals in processes; what those said is shown
# when both are done. A shell ignores SIGINT for what it starts in the background, which tests send.
test: roots guests for-tests
	$(AS_ROOT) $(BIN)/python -m pytest -m 'not rehearsal' $(SPREAD)
	@mkdir -p build
	@$(AS_ROOT) $(BIN)/python -m pytest -m 'rehearsal and alone'; alone=$$?; \
	set -m; $(AS_ROOT) env --default-signal=INT nice -n 19 $(BIN)/python -m pytest -m 'rehearsal and not alone' \
		--ignore=$(MACHINES) >build/processes.log 2>&1 & processes=$$!; \
	trap 'kill $$processes' INT TERM; \
	echo 'rehearsals in processes: build/processes.log'; \
	$(AS_ROOT) $(BIN)/python -m pytest -m rehearsal $(MACHINES); guests=$$?; \
	wait $$processes; processes=$$?; cat build/processes.log; exit $$((alone | guests | processes))

quick: venv
	$(BIN)/python -m pytest -m 'not rehearsal' $(SPREAD)

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/yamllint --strict .
	$(BIN)/shellcheck inventories/*/rendered/etc/slurm/*.sh .ci/* src/slurmwright/*/collect.sh
	@if compgen -G 'ansible/*.yml' >/dev/null; then set -x; $(BIN)/ansible-lint; fi

bench: roots
	$(BIN)/python benchmarks/render.py
	$(BIN)/python benchmarks/plan.py
	$(BIN)/python benchmarks/lint.py
	$(BIN)/python benchmarks/nccl_log.py
	$(BIN)/python benchmarks/doctor.py
	$(AS_ROOT) $(BIN)/python benchmarks/discover.py
	$(AS_ROOT) $(BIN)/python benchmarks/slurmctld_load.py $(SERIES)
	$(AS_ROOT) $(BIN)/python benchmarks/rehearse.py $(SERIES)
	$(AS_ROOT) $(BIN)/python benchmarks/verify.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
	@echo 'cached Slurm roots stay; to remove them as well: sudo rm -rf --one-file-system /var/cache/slurmwright'
