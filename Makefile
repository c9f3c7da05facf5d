# make demo        installs what fairtrial needs, measures for 45 s, gives the verdict and its report
# make setup       installs what its tests need too, compiles the kernels and what the tests import
# make test        is the program right? style, types and the tests that hold on every machine, as any user
# make tree        what its files are: sizes, circles, what a command walks through, where files are opened
# make room R=hpt  the unit tests of a room, of runner and judge
# make near        the tests that import what changed since main, the nearest first
# make accept      writes stored screens, answers and generated files anew, and shows which changed
# make host        does it work on this machine? A row a thing: held, not to be had, or differs
# make drill       kills, faults, full disks, damage: an hour, and writes docs/drills.md anew
# make nightly     browsers, tools of others, Dask, pip, recipes, the gallery, the lowest versions
# make flake       whole runs of `make test` and many of its processes, idle and on a busy machine: a table
# make search      the property tests with other examples than those that `make test` always makes
# make calibrate   all simulations of error rates and coverage; `make test` makes a few of them
# make cover       which lines the tests reach, by file
# make gallery     campaigns of configs/gallery in short, with servers and programs of others; nightly does it too
# make drill-vm    a small virtual machine: memory, limits and users' cgroups; skips where it cannot be had
# make mutants     how many small changes of the code the tests notice, by room; hours
# make site        the documentation as pages with a search, read from build/site/html without a network
# make docs-check  the tests of the documentation only
# make versions    the tests with the lowest dependencies, and with other interpreters
# make unchanged   holds what every command does now against what it did at BASE (a commit); ONLY=hpt: one room
# make dist        wheel, source distribution, hashes and a local index of them in dist/, tried as by a user
# make generated   what is made from the code: the editor's schema, lists in the documentation
# make constraints writes anew the versions that `make setup` installs
#
# PYTHON=python3.12 chooses another interpreter, WORKERS=4 the processes that test (one more than there
# are cores: tests that start processes wait more than they compute), TESTS=tests/golden and PYTEST_ARGS
# what they do. The environment lives in .venv; a stamp is written last and carries the hash of what it
# depends on, so a failed or outdated set-up is made again. `make demo` makes one without the extras of
# the tests; `make setup` adds them.

PYTHON ?= python3
CORES := $(shell nproc 2>/dev/null || echo 2)
WORKERS ?= $(shell echo $$(($(CORES) < 8 ? $(CORES) + 1 : 8)))
SEED ?= 1
BASE ?= 35567862
VENV := .venv
BIN := $(VENV)/bin
KEY := $(shell (cat pyproject.toml analysis/version.py tests/constraints.txt; $(PYTHON) --version) 2>/dev/null | sha256sum | cut -c1-16)
READY := $(VENV)/ready-$(KEY)
# not said as $(MAKE) in the recipe: make -n would execute it, which makes the same first, without end
COMPILE = $(MAKE) --no-print-directory -j2 kernels collected
MAKE_VENV := $(PYTHON) tests/contract/make_venv.py $(VENV) $(KEY)
NEWER := $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
  { echo "fairtrial needs Python 3.11 or newer; '$(PYTHON)' is not. Choose one: make PYTHON=python3.12 ..."; exit 1; }
TESTS ?= tests/unit tests/property tests/golden tests/contract tests/calibration tests/e2e
UNCHANGED_ARGS ?=
HOST_ARGS ?=
WHEEL_ARGS ?=
PYTEST_ARGS ?=
ALONE := $(BIN)/python tests/own_network.py
PYTEST := $(ALONE) $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadgroup
MARKS ?= (not calibration or spot_check) and not gallery and not tree
ROOM = $(wildcard tests/unit/*/$(R) tests/unit/*/*/$(R) tests/unit/*/test_$(R).py)

# The tests start the command hundreds of times: what is compiled of it is kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo site test lint style types unit tree room near accept flake wheel dist collected search calibrate cover host drill nightly tools gallery drill-vm mutants docs-check versions unchanged constraints generated kernels setup clean

demo:
	@$(NEWER)
	@$(MAKE_VENV) --step "[1/4] "
	@echo "[2/4] measuring, about 45 s"
	@$(BIN)/fairtrial run configs/quickstart.yaml
	@echo "[3/4] verdict"
	@$(BIN)/fairtrial verdict "$$(ls -td runs/quickstart-*/ | head -n 1)"
	@echo "[4/4] report, a page for any browser"
	@trial="$$(ls -td runs/quickstart-*/ | head -n 1)"; $(BIN)/fairtrial report "$$trial" -o "$${trial%/}.html"
	@printf '%s\n' "next  $(BIN)/fairtrial compare 'gzip -6 -c configs/data/text' \\" \
	  "          'gzip -1 -c configs/data/text'"

# The tests often wait for others: style and types cost little next to them.
test: $(READY)
	$(MAKE) --no-print-directory -j3 style types unit

lint: style types

style: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache

types: $(READY)
	$(BIN)/mypy

unit: $(READY)
	$(PYTEST) -m "$(MARKS)" $(TESTS) $(PYTEST_ARGS)

tree: $(READY)
	$(BIN)/python -m pytest -q -p no:cacheprovider -m tree tests/contract $(PYTEST_ARGS)

room: $(READY)
	$(if $(ROOM),,$(error there is no room R=$(R): try R=verdict, R=hpt or R=launch))
	$(PYTEST) -m "$(MARKS)" $(ROOM) $(PYTEST_ARGS)

near: $(READY)
	@tests="$$($(BIN)/python tests/near.py)" || exit 1; \
	[ -z "$$tests" ] || $(PYTEST) -p no:randomly -m "$(MARKS)" $$tests $(PYTEST_ARGS)

# Then read the difference: what stands there from now on is right because somebody read it.
accept: generated
	$(BIN)/python tests/unchanged/answers.py
	$(BIN)/python -m tests.golden.test_bisections_golden
	$(BIN)/python -m tests.golden.test_readings
	git --no-pager diff --stat

# FLAKE="--whole 2 --short 9" executes fewer; an interrupted one goes on with build/flake.tsv.
flake: $(READY)
	$(BIN)/python tests/flake.py $(FLAKE)

# Once before several workers need the bytecode of the tests, which pytest writes with better messages.
collected: $(READY)
	@$(BIN)/python -m pytest -q --collect-only $(TESTS) >/dev/null

search: kernels
	$(PYTEST) -m hypothesis --hypothesis-profile=search $(TESTS) $(PYTEST_ARGS)

calibrate: kernels
	$(PYTEST) -m calibration tests/calibration $(PYTEST_ARGS)
	$(BIN)/python tests/calibration/passed.py --write

cover: kernels
	COVERAGE_CORE=sysmon $(PYTEST) -m "$(MARKS)" --cov --cov-report=term:skip-covered $(TESTS) $(PYTEST_ARGS)

# One test at a time: they measure. HOST_ARGS=--exact executes what no load changes, "why cgroups" two files.
host: $(READY)
	$(ALONE) $(BIN)/python -m tests.host $(HOST_ARGS)

# SEED=2 makes other cases; `python tests/drills --help` knows parts of it.
drill: $(READY)
	$(PYTEST) tests/drills $(PYTEST_ARGS)
	$(ALONE) $(BIN)/python tests/drills --workers $(CORES) --seed $(SEED) --write

nightly: tools
	$(PYTEST) -m "$(MARKS)" tests/nightly $(PYTEST_ARGS)
	$(MAKE) --no-print-directory gallery versions

# Tools that read our exports: they lie next to the project, never in it.
tools: $(READY)
	@[ -x .venv-tools/bin/python ] || $(PYTHON) -m venv .venv-tools
	@$(BIN)/python tests/contract/make_venv.py --into .venv-tools \
	  pyperf pytest-benchmark pandas duckdb pyarrow cffconvert

# One after the other, in a network of their own: servers, loopback, a bounded number of requests. On a disk: redis counts it.
gallery: $(READY)
	TMPDIR=$${TMPDIR:-/var/tmp} $(ALONE) $(BIN)/python -m pytest -q -p no:randomly -m gallery tests/nightly/test_gallery.py $(PYTEST_ARGS)

# KERNEL=/path/to/vmlinuz names another kernel than the newest in /boot.
drill-vm: $(READY)
	$(BIN)/python tests/drills/vm $(if $(KERNEL),--kernel $(KERNEL))

# MUTANTS="--each 15 --rooms harness/trial" is what is asked of it; `python -m tests.mutants --help`.
mutants: $(READY)
	@$(BIN)/python -c "import cosmic_ray" 2>/dev/null || \
	  $(BIN)/python tests/contract/make_venv.py --into $(VENV) -e '.[mutants]' -c tests/constraints.txt
	$(ALONE) $(BIN)/python -m tests.mutants --seed $(SEED) $(MUTANTS)

site: $(READY)
	$(BIN)/python docs/site/make_site.py

docs-check: $(READY)
	$(BIN)/python -m pytest -q tests/contract/test_docs*.py $(PYTEST_ARGS)

versions: $(READY)
	$(BIN)/python tests/contract/versions.py

# ONLY=ROOM: a command, a part of the product or a pattern; `python tests/unchanged --help` knows more.
unchanged: $(READY)
	$(BIN)/python tests/unchanged --base $(BASE) --workers $(CORES) $(if $(ONLY),--only '$(ONLY)') $(UNCHANGED_ARGS)

# One version of each for all supported interpreters. Then: make test, and commit what changed.
constraints: $(READY)
	$(BIN)/uv pip compile -q --upgrade --universal --fork-strategy fewest --python-version 3.11 \
	  --extra test --extra dev --extra mutants --no-annotate --custom-compile-command "make constraints" \
	  -o tests/constraints.txt pyproject.toml

# Once before several workers need the machine code; it is kept for the next time.
kernels: $(READY)
	$(BIN)/python tests/compile_kernels.py

# The wheel must hold everything: install it alone from an index and use it from another folder.
wheel: $(READY)
	$(BIN)/python tests/contract/wheel_check.py

# The same, and what was built stays; WHEEL_ARGS=--weights prints what an installation weighs.
dist: $(READY)
	$(BIN)/python tests/contract/wheel_check.py --into dist $(WHEEL_ARGS)

# What is made from the code: the editor's schema, the lists in the documentation.
generated: $(READY)
	$(BIN)/python tests/contract/generate.py

setup: $(READY)

$(READY):
	@$(NEWER)
	@$(MAKE_VENV) --extras test,dev
	@echo "      compiling the kernels and the tests, about a minute"
	@$(COMPILE)

clean:
	rm -rf $(VENV) $(VENV)-versions .mutants build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
