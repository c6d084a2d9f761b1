# `make help` lists the verbs. Every verb makes what it needs in .venv and reuses it afterwards; a second
# run needs no network. PYTHON names the interpreter that makes .venv; ARGS is passed on to the program.
PYTHON ?= python3
ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
# The builder is looked for on the path.
PIP := PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip --disable-pip-version-check --quiet
CARGO_CORE := --manifest-path core/Cargo.toml

.DEFAULT_GOAL := help
.PHONY: demo test test-broker lint bench bench-kafka growth results docs soak help clean machine machine-lint machine-test
.NOTPARALLEL:
.DELETE_ON_ERROR:

help:
	@echo 'make demo    watch filters learn a message stream online (the SMS collection where'
	@echo '             STREAMNB_DATA holds it, else a synthetic stream), and one survive a kill'
	@echo 'make test    every test but the long ones: the core without Python, then Python; ARGS="-k word"'
	@echo 'make test-broker  the long tests on a real broker: kills, workers that stand still, bad records'
	@echo 'make soak    the long tests'
	@echo 'make lint    style and types, Python and Rust'
	@echo 'make bench   speed and memory beside river, scikit-learn and Vowpal Wabbit; ARGS="--quick"'
	@echo 'make bench-kafka  the daemon on a real broker beside one that decides nothing'
	@echo 'make results every model on real streams, into docs/results.md; hours; ARGS="--limit 2000"'
	@echo 'make growth  the cost of every model as its stream grows, into docs/; ARGS="--quick"'
	@echo 'make docs    write the generated parts of the documents again'
	@echo 'make clean   remove .venv and everything built'
	@echo 'Settings: PYTHON=$(PYTHON)  STREAMNB_DATA=$(or $(STREAMNB_DATA),../shared/data)'

demo: $(STAMPS)/plots $(STAMPS)/native
	$(BIN)/streamnb evaluate --demo $(ARGS)
	@echo
	$(BIN)/python -m streamnb_consumers.demo

test: $(STAMPS)/test $(STAMPS)/native | machine-test
	cargo test --quiet $(CARGO_CORE)
	$(BIN)/python -m pytest -n 2 -m 'not soak and not broker_long' $(ARGS)

test-broker: $(STAMPS)/test $(STAMPS)/native | machine-test
	$(BIN)/python -m pytest -n 2 -m 'broker_long and not soak' $(ARGS) tests/kafka

soak: $(STAMPS)/test $(STAMPS)/native | machine-test
	$(BIN)/python -m pytest -n 2 -m soak $(ARGS)

# Clippy sees both shapes of the crate: alone, and with its Python bindings.
lint: $(STAMPS)/lint $(STAMPS)/native | machine-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict streamnb streamnb_consumers
	$(BIN)/python -m mypy.stubtest streamnb._core
	$(BIN)/hadolint docker/Dockerfile
	cargo fmt $(CARGO_CORE) --check
	cargo clippy --quiet $(CARGO_CORE) --all-targets -- -D warnings
	PYO3_PYTHON=$(abspath $(BIN)/python) \
	    cargo clippy --quiet $(CARGO_CORE) --all-targets --all-features -- -D warnings

bench: $(STAMPS)/bench $(STAMPS)/native
	$(BIN)/python benchmarks/bench_speed.py $(ARGS)

bench-kafka: $(STAMPS)/test $(STAMPS)/native | machine-test
	$(BIN)/python benchmarks/bench_daemon.py $(ARGS)

results: $(STAMPS)/native
	$(BIN)/streamnb results --output docs/results.md $(ARGS)

growth: $(STAMPS)/plots $(STAMPS)/native
	$(BIN)/python benchmarks/bench_growth.py $(ARGS)

docs: $(STAMPS)/native $(STAMPS)/plots
	$(BIN)/python docs/generate.py $(ARGS)

clean:
	rm -rf $(VENV) core/target streamnb/_core.*.so out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis

machine:
	@PYTHON='$(PYTHON)' tools/check-machine

machine-lint:
	@PYTHON='$(PYTHON)' tools/check-machine lint

machine-test:
	@PYTHON='$(PYTHON)' tools/check-machine test

# The builder is installed once into .venv, so that builds need neither isolation nor the network.
$(STAMPS)/venv: | machine
	@echo 'making $(VENV) with $(PYTHON)'
	$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS)
	@$(BIN)/python -c 'import tomllib; \
	    print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
	    > $(STAMPS)/builder.txt
	$(PIP) install -r $(STAMPS)/builder.txt
	@touch $@

# Compiled again when a source of the core changes; cargo keeps what did not.
$(STAMPS)/native: $(STAMPS)/venv core/Cargo.toml $(wildcard core/Cargo.lock core/build.rs) \
		$(shell find core/src -name '*.rs' 2>/dev/null) pyproject.toml | machine
	@echo 'building the native core'
	$(PIP) install --no-build-isolation --no-deps -e .
	@touch $@

# The stamp of each extra of pyproject.toml: plots, test, lint, bench.
$(STAMPS)/plots $(STAMPS)/test $(STAMPS)/lint $(STAMPS)/bench: $(STAMPS)/%: pyproject.toml $(STAMPS)/venv | $(STAMPS)/native
	@echo 'installing streamnb[$*] and what it needs'
	$(PIP) install --no-build-isolation -e '.[$*]'
	@touch $@
