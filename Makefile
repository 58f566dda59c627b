# Needs nothing but make and Python 3.11 or newer; uses uv where it is installed.
#
#   make up      the whole stack on this machine, until Ctrl-C (PORT= chooses another port)
#   make test    everything: lint, types, and all tests
#   make lint    ruff: rules and format
#   make check   lint, and types
#   make unit    the tests that need no stack: rules, functions, security, template
#   make plain   the same without counting what they cover
#   make console   the tests of the console, in a browser; needs Chromium
#   make e2e     the tests over HTTP, against the stack of `make up`
#   make dynamodb  races and faults on DynamoDB Local; needs Java and npm. JOBQUEUE_SOAK=10 takes ten times as long
#   make bench   what a job costs, in calls and capacity units; needs Java and npm
#   make build   what `sam deploy` uploads, in .aws-sam/
#   make openapi  the description of the API, and the answers in its examples
#   make audit   what is known to be wrong with the packages in the layers; needs the internet
#   make sbom    what is in the layers, as CycloneDX, in .build/sbom/
#   make format  let ruff put the files in order
#   make lock    pin all dependencies anew; needs uv
#   make clean   remove everything that was made here

VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
UV := $(shell command -v uv)
SOURCES = $(wildcard layers functions local client openapi tests)

# `python3` and `sam` are those of the environment, also in what the recipes start.
export PATH := $(abspath $(BIN)):$(PATH)
export SAM_CLI_TELEMETRY := 0

# The first Python that is new enough; PYTHON= chooses another. Never the environment's own, which is made from it.
BASE := $(shell for python in $(or $(PYTHON),python3 python3.13 python3.14 python3.12 python3.11); do "$$python" -c \
	'import os, sys; sys.version_info >= (3, 11) or sys.exit(1); print(os.path.realpath(sys.executable))' \
	2>/dev/null && break; done)

.DEFAULT_GOAL := help
.PHONY: help up test suite forget-counts check lint types unit plain console e2e behaviour dynamodb bench build openapi audit sbom format lock clean

help:
	@sed -n 's/^#   //p' Makefile

# Made from the locks, and again when one of them changes.
$(READY): requirements/pip.txt requirements/dev.txt
ifeq ($(BASE),)
	@echo "jobqueue needs Python 3.11 or newer, and found none on PATH. PYTHON= names one." >&2; exit 1
endif
ifneq ($(UV),)
	uv venv --quiet --clear --no-config --no-project --python $(BASE) $(VENV)
	uv pip sync --quiet --no-config --require-hashes --python $(BIN)/python $^
else
	$(BASE) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/pip.txt
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/dev.txt
endif
	@touch $@

up: $(READY)
	@exec $(BIN)/python -m local

test: check suite
	@printf 'What the tests counted:\n' && cat $(COUNTS)

# Tests that need more than Python are started on their own.
APART := console e2e dynamodb
suite: forget-counts unit console e2e dynamodb

COUNTS := .build/counts.txt
suite: export JOBQUEUE_COUNTS = $(abspath $(COUNTS))
forget-counts:
	@mkdir -p $(dir $(COUNTS)) && rm -f $(COUNTS)

check: lint types

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy $(SOURCES)

SIDE_BY_SIDE := --numprocesses auto --dist loadfile
NEED_NO_STACK := $(SIDE_BY_SIDE) $(APART:%=--ignore=tests/%)

# At least 95 % of the branches of layers/, counted alone: lines without branches would hide them.
unit: $(READY)
	$(BIN)/pytest $(NEED_NO_STACK) --cov --cov-report=
	$(BIN)/coverage report
	$(BIN)/python -m tests.support.branches 95

# The same on one more Python, for which counting branches once more would only take time.
plain: $(READY)
	$(BIN)/pytest $(NEED_NO_STACK)

$(APART): $(READY)
	$(BIN)/pytest tests/$@

# The queue's behaviour once more, on AWS's own engine; then the races, one at a time, since others cost races that are
# counted.
dynamodb behaviour: export JOBQUEUE_ENGINE = dynamodb-local
dynamodb: behaviour
behaviour: $(READY)
	$(BIN)/pytest $(SIDE_BY_SIDE) tests/queue

bench: $(READY)
	@PYTHONPATH=.:layers/jobqueue:layers/jobtypes $(BIN)/python -m tests.bench

build: $(READY)
	$(BIN)/sam build

openapi: $(READY)
	@PYTHONPATH=.:layers/jobqueue:layers/jobtypes $(BIN)/python -m openapi

audit: $(READY)
	@$(BIN)/python -m local.audit

SBOM ?= .build/sbom
sbom: $(READY)
	@mkdir -p $(SBOM)
	@for layer in jobqueue tokens; do $(BIN)/cyclonedx-py requirements --output-reproducible --of JSON \
		--output-file $(SBOM)/$$layer.cdx.json layers/$$layer/requirements.txt || exit 1; done

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The layers first: the environment of the tools is held to their versions, so that the tests run what is deployed.
LOCK := uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command "make lock"
DEPLOYED := layers/jobqueue/requirements.txt layers/tokens/requirements.txt
lock:
	$(LOCK) --group layer --output-file layers/jobqueue/requirements.txt
	$(LOCK) --group tokens --constraints layers/jobqueue/requirements.txt --output-file layers/tokens/requirements.txt
	$(LOCK) --group layer --group tokens --group dev $(DEPLOYED:%=--constraints %) --output-file requirements/dev.txt
	$(LOCK) --group pip --output-file requirements/pip.txt

clean:
	rm -rf $(VENV) .aws-sam .bench .build .local .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find functions layers local client openapi tests -name __pycache__ -prune -exec rm -rf {} +
