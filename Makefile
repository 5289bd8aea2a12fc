# make demo      a pipeline of flights: bad data, a killed driver, a wrong rule, a replay and an audit
# make test      everything that must hold: lint, types, unit tests, a hundred simulations, the integration tests on both brokers
# make test-exhaustive   what make test tries at a sample of places, seeds, modules or brokers, at all the others
# make test-pythons   the unit tests of make test on the other Pythons from 3.11 that there are, compiled and plain
# make test-generations   the programs of examples/generations under the kafka-python of their time and under this
# make test-matrix   the clients' integration tests on Apache Kafka 0.8.2 to 4.4.0 (MATRIX_ARGS='--releases 1.1.1,2.8.2')
# make spark-trials   Spark where it runs (a standalone cluster, archives, Connect, declarative pipelines; PySpark 4.0, 4.1 and the next),
#                     kills while it writes exactly once, 50 million rows, and 200 programs on its own Kafka connector and on ours
# make pipeline-trials   kills while a pipeline processes a million records, replays its dead letters and backfills (PIPELINE_RECORDS=20000)
# make pipeline-clusters   pipelines on a standalone cluster, with kills of a worker and the driver, and with Spark Connect
# make ui-trials   every page of the web UI under axe in Chromium, and on three brokers of Apache Kafka of which one dies
# make framework-trials   FastAPI, Litestar, Django, Celery, Airflow and Dagster with this package, each in its own environment
# make container-trials   the steps of deploy/*.Containerfile in chroots, as root: builds, health checks, signals, read-only roots
# make check     lint, types and quick unit tests, in two minutes (make check-all: all unit tests, the exhaustive ones too)
# make bench     the benchmarks, in twenty-five minutes (make bench-quick: a part, in one; make bench-full: all, in half an hour)
# make simulate  clients and brokers in virtual time, from seeds (SEEDS=1-100)
# make mutate    change the code in small ways and see whether a test notices (half an hour)
# make fuzz      mutated batches and messages under sanitizers, for ten minutes (FUZZ_SECONDS=600, FUZZ_ARGS='--start N')
# make docs      the site of guides and reference in build/docs/html; checks links, spelling, search, and page sizes
# make release-check   all of a release but the upload: builds, judges and tries it (RELEASE_ARGS='--pythons 3.11')
# make setup     what all of these do first: .venv, pinned packages, the compiled build
# make clean     remove what was built (make distclean: the environment too)
#
# PYTHON=... chooses the interpreter, PYTEST_ARGS=... goes to pytest, WORKERS=4 share the integration tests,
# KAFKA_COLUMNAR_CACHE=... is where Apache Kafka is kept.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup check check-all lint types unit unit-clients unit-rest unit-plain fuzz fuzz-quick test test-exhaustive jars \
    integration test-pythons test-generations test-matrix spark-trials spark-older pipeline-trials pipeline-clusters ui-trials framework-trials container-trials demo docs release-check bench bench-full bench-quick simulate \
    mutate java clean distclean

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
PYTHON ?=
PYTEST_ARGS ?=
CHOICE ?= -m "not exhaustive"
FUZZ_SECONDS ?= 600
FUZZ_INPUTS ?= 20000
SEEDS ?= 1-100
PIPELINE_RECORDS ?= 1000000
PIPELINE_KILLS ?= 20
PIPELINE_REPLAY_KILLS ?= 10
WORKERS ?= 4
# Three at a time, the longest first: some tests wait, and two processors are to be busy to the end. The compiled unit tests
# are two processes; with xdist, which reports each test to a third one, they take a third more processor time.
CHECKS := unit-plain unit-rest unit-clients types lint
AT_ONCE := --no-print-directory --keep-going -j3 --output-sync=target
CLIENTS := $(addprefix tests/unit/,admin aio cluster config consumer coordinator legacy net producer record wire)
UNIT := -m pytest -p no:cacheprovider
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
SOURCES := $(shell find src -name '*.py' -o -name '*.pxd' 2>/dev/null)

# The environment of whoever calls may not leak into what is tested.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export PYTHONDONTWRITEBYTECODE =

help:
	@sed -n 's/^# \{0,1\}//p; /^$$/q' Makefile

# -- set-up; each step has a stamp, so that it is done again only when what it stands on changed -----------------------

setup: $(STAMPS)/install
	@$(MAKE) --no-print-directory -j2 $(STAMPS)/packages $(STAMPS)/build

$(STAMPS)/venv:
	@python="$(PYTHON)"; \
	for each in $${python:-python3.11 python3.12 python3.13 python3.14 python3 python}; do \
	    if "$$each" -c '$(NEW_ENOUGH)' 2>/dev/null; then found="$$each"; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	    echo "Python 3.11 or later was not found (tried $${python:-python3.11 to python3.14, python3, python}):" \
	         "install one, or name it: make PYTHON=/path/to/python3.11" >&2; exit 1; \
	fi; \
	if ! "$$found" -c 'import venv, ensurepip' 2>/dev/null; then \
	    echo "$$found cannot make environments: it lacks venv or ensurepip." \
	         "On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; \
	fi; \
	echo "Making $(VENV) with $$found"; \
	"$$found" -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

# What compiles the hot modules comes first, so that they are compiled while pip installs the rest.
$(STAMPS)/tools: requirements/dev.txt $(STAMPS)/venv
	$(BIN)/python -m pip install --quiet --no-deps --no-compile $$(grep -iE '^(cython|setuptools)==' requirements/dev.txt)
	@touch $@

$(STAMPS)/packages: requirements/dev.txt $(STAMPS)/tools
	$(BIN)/python -m pip install --quiet --no-deps --no-compile -r requirements/dev.txt
	@touch $@

$(STAMPS)/install: pyproject.toml setup.py src/kafka/_variant.py $(STAMPS)/tools
	KAFKA_PURE=1 $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(STAMPS)/build: $(SOURCES) $(STAMPS)/install
	$(BIN)/python setup.py --quiet build_ext --inplace
	@touch $@

java:
	@found="$${JAVA_HOME:+$$JAVA_HOME/bin/}java"; \
	version=$$("$$found" -version 2>&1 | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | head -n 1); \
	if [ "$${version:-0}" -lt 17 ]; then \
	    echo "Java 17 or later is needed for Spark and Apache Kafka; $$found is $${version:-missing}." \
	         "On Debian and Ubuntu: apt-get install openjdk-17-jre-headless" >&2; exit 1; \
	fi

# -- what must hold ----------------------------------------------------------------------------------------------------

check: setup
	@$(MAKE) $(AT_ONCE) $(CHECKS) CHOICE='-m "not exhaustive and not slow"'

check-all: setup
	@$(MAKE) $(AT_ONCE) $(CHECKS) CHOICE=

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

unit: unit-rest unit-clients

unit-clients: setup
	$(BIN)/python $(UNIT) $(CLIENTS) $(CHOICE) $(PYTEST_ARGS)

unit-rest: setup
	$(BIN)/python $(UNIT) tests/unit $(addprefix --ignore=,$(CLIENTS)) $(CHOICE) $(PYTEST_ARGS)

unit-plain: setup
	KAFKA_PURE=1 $(BIN)/python $(UNIT) tests/unit $(CHOICE) $(PYTEST_ARGS)

test: setup java
	@$(MAKE) $(AT_ONCE) jars spark-older $(CHECKS) simulate fuzz-quick
	@$(MAKE) --no-print-directory integration

test-exhaustive: setup java
	@$(MAKE) $(AT_ONCE) jars unit-rest unit-clients unit-plain CHOICE='-m exhaustive'
	@$(MAKE) --no-print-directory integration CHOICE='-m exhaustive'

fuzz-quick: setup
	cd tests && ../$(BIN)/python -m fuzz --start 0 --inputs $(FUZZ_INPUTS)

fuzz: setup
	KAFKA_SANITIZED=1 $(BIN)/python setup.py --quiet build --build-lib build/sanitized/lib --build-temp build/sanitized/tmp
	cd tests && ../$(BIN)/python -m fuzz --sanitized ../build/sanitized/lib --seconds $(FUZZ_SECONDS) $(FUZZ_ARGS)

test-pythons: setup
	$(BIN)/python scripts/pythons.py $(PYTHONS_ARGS)

test-generations: setup java
	$(BIN)/python scripts/generations.py $(GENERATIONS_ARGS)

test-matrix: setup java
	$(BIN)/python scripts/matrix.py $(MATRIX_ARGS)

spark-trials: setup java
	$(BIN)/python -m pip install --quiet --no-deps --no-compile -r requirements/spark-trials.txt
	$(BIN)/python -m pytest tests/spark_trials/cluster --timeout 900 $(PYTEST_ARGS)
	KAFKA_SPARK_TRIALS=all $(BIN)/python -m pytest tests/integration/spark/test_trials.py $(PYTEST_ARGS)
	KAFKA_SPARK_TRIALS=all $(BIN)/python scripts/spark_versions.py $(PYTEST_ARGS)

# Kills while a pipeline runs, replays and backfills. Without these numbers, pytest runs a small trial.
pipeline-trials: setup java
	KAFKA_PIPELINE_RECORDS=$(PIPELINE_RECORDS) KAFKA_PIPELINE_KILLS=$(PIPELINE_KILLS) \
	    KAFKA_PIPELINE_REPLAY_KILLS=$(PIPELINE_REPLAY_KILLS) \
	    $(BIN)/python -m pytest tests/spark_trials/pipelines -s $(PYTEST_ARGS)

ui-trials: setup java
	$(BIN)/python -m pip install --quiet --no-deps --no-compile -r requirements/ui-trials.txt
	$(BIN)/python -m pytest tests/ui_trials --timeout 900 $(PYTEST_ARGS)

pipeline-clusters: setup java
	$(BIN)/python -m pip install --quiet --no-deps --no-compile -r requirements/spark-trials.txt
	$(BIN)/python -m pytest tests/spark_trials/cluster/test_pipelines_submitted.py \
	    tests/spark_trials/cluster/test_pipelines_connect.py --timeout 2400 $(PYTEST_ARGS)

# The frameworks' environments are kept in the cache, one for each set of pins.
framework-trials: setup java
	$(BIN)/python -m pytest tests/framework_trials tests/integration/frameworks/test_frameworks.py --timeout 900 $(PYTEST_ARGS)

# Needs root, debootstrap and a Python 3.12 with a prefix of its own; says which is missing. KAFKA_PURE=1 compiles nothing.
container-trials: setup
	$(BIN)/python -m scripts.containers $(IMAGES)

# A batch, a stream and writes with PySpark 4.0, and then with 4.1: one JVM at a time, beside other checks.
spark-older: setup java
	$(BIN)/python scripts/spark_versions.py --quick

jars: setup java
	@cd tests && ../$(BIN)/python -m harness

integration: setup java
	$(BIN)/python -m pytest tests/integration -n $(WORKERS) $(CHOICE) $(PYTEST_ARGS)

# -- what shows --------------------------------------------------------------------------------------------------------

demo: setup java
	$(BIN)/python -m kafka demo $(DEMO_ARGS)

docs: setup $(STAMPS)/docs
	rm -rf build/docs/html build/docs/doctrees  # what is kept of pages whose sources have not changed may be out of date
	KAFKA_PURE=1 $(BIN)/python -m scripts.site.sources build/docs/source
	KAFKA_PURE=1 $(BIN)/python -m sphinx -q -W --keep-going -a -j $(WORKERS) -b html -c docs -d build/docs/doctrees build/docs/source build/docs/html
	$(BIN)/python -m scripts.site build/docs/html

$(STAMPS)/docs: requirements/docs.txt $(STAMPS)/packages
	$(BIN)/python -m pip install --quiet --no-deps --no-compile -r requirements/docs.txt
	@touch $@

release-check: setup $(STAMPS)/release
	$(STAMPS)/release/bin/python -m scripts.release $(RELEASE_ARGS)

$(STAMPS)/release: requirements/release.txt $(STAMPS)/packages
	rm -rf $@ && $(BIN)/python -m venv $@
	$@/bin/python -m pip install --quiet --no-deps --no-compile -r requirements/release.txt \
	    $$(grep -iE '^(cython|setuptools|wheel)==' requirements/dev.txt)
	@touch $@

bench: setup java
	$(BIN)/python -m bench $(BENCH_ARGS)

bench-full: setup java
	$(BIN)/python -m bench --full $(BENCH_ARGS)

bench-quick: setup java
	$(BIN)/python -m bench --quick $(BENCH_ARGS)

simulate: setup
	$(BIN)/python -m kafka.testing --seeds $(SEEDS)

mutate: setup
	$(BIN)/python scripts/mutate.py $(MUTATE_ARGS)

# -- leaving no trace --------------------------------------------------------------------------------------------------

clean:
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis src/*.egg-info $(STAMPS)/build
	find $(wildcard src tests bench) -name '__pycache__' -prune -exec rm -rf {} +
	find src \( -name '*.so' -o -name '*.pyd' -o -name '*.c' \) -delete

distclean: clean
	rm -rf $(VENV) .venv-* .cache
