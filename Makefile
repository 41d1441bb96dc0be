# Each target does all of its own set-up. `make` prints this list.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do command -v $$p >/dev/null 2>&1 && \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTEST := $(BIN)/python -m pytest

export PYSPARK_PYTHON := $(CURDIR)/$(BIN)/python
export PYSPARK_DRIVER_PYTHON := $(CURDIR)/$(BIN)/python

.PHONY: help setup check lint types imports unit test test-long test-all demo demo-picture bench plots bench-quick bench-formats bench-align bench-joins bench-changelog bench-mysql bench-mysql-delta bench-tpcc nexmark nexmark-quick docs wheels sbom lock clean

help:  ## print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

setup: $(READY)  ## build .venv with everything that the other targets need

$(READY): pyproject.toml requirements.lock hatch_build.py tidemark-spark.pth $(wildcard datasources/native/*.[ch])
	@test -n "$(PYTHON)" || { echo "Tidemark needs Python 3.11 or newer (found: $$(python3 --version 2>&1)). Install it, or name it: make PYTHON=/path/to/python3" >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments. On Debian: apt-get install python3-venv" >&2; exit 2; }
	@echo "setting up $(VENV) with $$($(PYTHON) --version) (once; PySpark is about 450 MB)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@$(BIN)/python -m pip uninstall -qq --yes tidemark  # the distribution's name until it became tidemark-spark
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)

java:
	@java -version 2>&1 | head -1 | sed -E 's/.*"([0-9]+).*/\1/' | { read v; [ "$${v:-0}" -ge 17 ] 2>/dev/null; } || \
	  { echo "Tidemark needs a JDK 17 or newer for Spark and the embedded servers (found: $$(java -version 2>&1 | head -1)). On Debian: apt-get install openjdk-17-jdk-headless; then set JAVA_HOME or PATH" >&2; exit 2; }
.PHONY: java

check: setup lint types imports unit  ## what must hold before a commit: style, types, layers, unit and property tests

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

imports: setup
	$(BIN)/lint-imports --no-cache

unit: setup
	$(PYTEST) -q -n auto -m "not spark and not kafka and not mysql and not slow and not long and not full"

test: setup java  ## one form of every rule, on real servers: an hour on two cores; AREA=kafka (mysql, sql, page ...): one area
	@$(BIN)/python -m tests.support.run_all $(AREA)

test-long: setup java  ## the runs of many seconds that `make test` leaves out: kills, clusters, the demo; ten minutes; MINUTES=20: at most
	@$(BIN)/python -m $(if $(MINUTES),tests.support.slices --long $(MINUTES),tests.support.run_all --long)

test-all: setup java  ## everything, exhaustive forms included, with samples of its own: hours; MINUTES=45: as many slices as fit
	@$(if $(MINUTES),$(BIN)/python -m tests.support.slices $(MINUTES),$(PYTEST) -q --hypothesis-profile=random)

demo: setup java  ## Spark's watermark and Tidemark's on the same lagging topic, side by side
	@$(BIN)/tidemark demo

demo-picture: setup java  ## run the demo and draw its chart into docs/images/demo.svg
	@$(BIN)/tidemark demo --picture docs/images/demo.svg

bench: setup java  ## Kafka against spark-sql-kafka and Flink: windowed counts, raw values, fetching, scaling, latency; two to four hours
	$(BIN)/python -m benchmarks.kafka.window
	$(BIN)/python -m benchmarks.kafka.shapes --save
	$(BIN)/python -m benchmarks.kafka.fetch --save
	$(BIN)/python -m benchmarks.kafka.scaling --save
	@$(MAKE) --no-print-directory plots

plots: setup  ## draw the figures of benchmarks/results into docs/images, and their tables into docs/performance.md
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[plots]'
	$(BIN)/python -m benchmarks.plots

bench-quick: setup java  ## one round in under two minutes; the last line is JSON
	@$(BIN)/python -m benchmarks.kafka.window --quick

bench-formats: setup java  ## formats: decoding beside other libraries, and windowed counts beside spark-sql-kafka and Flink; an hour
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[peers]'
	@$(BIN)/python -m benchmarks.decoding.formats
	@$(BIN)/python -m benchmarks.kafka.formats --save

bench-align: setup java  ## alignment: overshoot, catch-up, state and planning, in under five minutes; the last line is JSON
	@$(BIN)/python -m benchmarks.align

bench-joins: setup java  ## temporal join and OVER on Spark, and Flink's temporal join; under five minutes; the last line is JSON
	@$(BIN)/python -m benchmarks.operators.joins

bench-changelog: setup java  ## queries whose rows change, beside Flink in two forms; under ten minutes; the last line is JSON
	@$(BIN)/python -m benchmarks.changelog

nexmark: setup java  ## Nexmark's queries on Tidemark, Flink and plain Spark: results beside DuckDB's, then costs; hours
	@$(BIN)/python -m benchmarks.nexmark --save

nexmark-quick: setup java  ## six of Nexmark's queries on few events, in young JVMs; the last line is JSON
	@$(BIN)/python -m benchmarks.nexmark --quick

bench-mysql: setup java  ## MySQL: snapshot beside Spark JDBC, connectorx and Flink CDC, binlog; ten minutes; the last line is JSON
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[peers]'
	@$(BIN)/python -m benchmarks.mysql

bench-mysql-delta: setup java  ## MySQL to Delta Lake beside Spark JDBC and MERGE; under ten minutes; the last line is JSON
	@$(BIN)/python -m benchmarks.mysql.delta

bench-tpcc: setup java  ## a TPC-C load on MySQL, and its binlog read beside Flink CDC and Debezium Engine; the last line is JSON
	@$(BIN)/python -m benchmarks.tpcc

docs: setup  ## build the documentation site into build/site; a warning, a missing page or anchor is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet && echo "open build/site/index.html"

wheels: setup  ## build the source archive and the wheels of all platforms into dist/, check and try them
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[release]'
	@$(BIN)/python -m release.build_wheels

sbom: setup  ## list what the locked environment consists of, with licences, in build/sbom.json (CycloneDX)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[release]'
	@mkdir -p build && $(BIN)/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml --output-file build/sbom.json

lock: setup  ## write requirements.lock anew: the newest versions that pyproject.toml allows, with their digests
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.5'
	$(BIN)/uv pip compile pyproject.toml --extra spark --extra dev --universal --python-version 3.11 --generate-hashes \
	  --upgrade --quiet --custom-compile-command 'make lock' --output-file requirements.lock

clean:  ## remove what the other targets made
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
