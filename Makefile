# `make help` lists the verbs. Every verb makes what it needs in .venv and reuses it afterwards; a second
# run needs no network. PYTHON names the interpreter that makes .venv; ARGS is passed on to the program.
PYTHON ?= python3
ARGS ?=
# DEV=1 builds the core with the profile `fast`: an edit of it costs seconds before its tests run.
DEV ?=
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
# The builder is looked for on the path.
PIP := PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip --disable-pip-version-check --quiet
CARGO_CORE := --manifest-path core/Cargo.toml
# There is one native core in the folder, built in one of two ways: each build takes away the stamp of
# the other, so that `make bench` after `make test DEV=1` measures a release build again.
PROFILE := $(if $(DEV),fast,release)
NATIVE := $(STAMPS)/native-$(PROFILE)
# Style and types are the same of either.
EITHER := $(or $(firstword $(wildcard $(STAMPS)/native-*)),$(NATIVE))

.DEFAULT_GOAL := help
.PHONY: demo test test-broker lint bench bench-kafka growth results docs soak help clean machine machine-lint machine-test
.NOTPARALLEL:
.DELETE_ON_ERROR:

help:
	@echo 'make demo    watch filters learn a message stream online (the SMS collection where'
	@echo '             STREAMNB_DATA holds it, else a synthetic stream), and one survive a kill'
	@echo 'make test    every test but the long ones: the core without Python, then Python; ARGS="-k word";'
	@echo '             DEV=1 builds the core in seconds after an edit, and less fast'
	@echo 'make test-broker  the long tests on a real Kafka broker'
	@echo 'make soak    the long tests, and every model in every test on many random examples; hours'
	@echo 'make lint    style, types, the order of imports and the sizes of files, Python and Rust'
	@echo 'make bench   speed and memory beside river, scikit-learn and Vowpal Wabbit; ARGS="--quick"'
	@echo 'make bench-kafka  the daemon on a real broker beside one that decides nothing'
	@echo 'make results every model on real streams, into docs/results.md; hours; ARGS="--limit 2000"'
	@echo 'make growth  the cost of every model as its stream grows, into docs/; ARGS="--quick"'
	@echo 'make docs    write the generated parts of the documents again'
	@echo 'make clean   remove .venv and everything built'
	@echo 'Settings: PYTHON=$(PYTHON)  STREAMNB_DATA=$(or $(STREAMNB_DATA),../shared/data)'

demo: $(STAMPS)/plots $(NATIVE)
	$(BIN)/streamnb evaluate --demo $(ARGS)
	@echo
	$(BIN)/python -m streamnb_consumers.demo

test: $(STAMPS)/test $(NATIVE) | machine-test
	cargo test --quiet $(CARGO_CORE) --profile fast
	$(BIN)/python -m pytest -n 2 -m 'not soak and not broker_long' $(ARGS)

test-broker: $(STAMPS)/test $(NATIVE) | machine-test
	$(BIN)/python -m pytest -n 2 -m 'broker_long and not soak' $(ARGS) tests/kafka

# The whole matrix: every model in every test, many examples, drawn anew at each run.
soak: $(STAMPS)/test $(NATIVE) | machine-test
	$(BIN)/python -m pytest -n 2 -m 'soak or matrix' --hypothesis-profile=soak $(ARGS)

# Clippy sees both shapes of the crate: alone, and with its Python bindings.
lint: $(STAMPS)/lint $(EITHER) | machine-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache --no-logo
	@set -e; for check in tools/check_*.py; do echo "$(BIN)/python $$check"; $(BIN)/python $$check; done
	$(BIN)/mypy --strict streamnb streamnb_consumers
	$(BIN)/python -m mypy.stubtest streamnb._core
	$(BIN)/hadolint docker/Dockerfile
	cargo fmt $(CARGO_CORE) --check
	cargo clippy --quiet $(CARGO_CORE) --all-targets -- -D warnings
	PYO3_PYTHON=$(abspath $(BIN)/python) \
	    cargo clippy --quiet $(CARGO_CORE) --all-targets --all-features -- -D warnings

bench: $(STAMPS)/bench $(NATIVE)
	$(BIN)/python benchmarks/bench_speed.py $(ARGS)

bench-kafka: $(STAMPS)/test $(NATIVE) | machine-test
	$(BIN)/python benchmarks/bench_daemon.py $(ARGS)

results: $(NATIVE)
	$(BIN)/streamnb results --output docs/results.md $(ARGS)

growth: $(STAMPS)/plots $(NATIVE)
	$(BIN)/python benchmarks/bench_growth.py $(ARGS)

docs: $(NATIVE) $(STAMPS)/plots
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
$(STAMPS)/native-%: $(STAMPS)/venv core/Cargo.toml $(wildcard core/Cargo.lock core/build.rs) \
		$(shell find core/src -name '*.rs' 2>/dev/null) pyproject.toml | machine
	@echo 'building the native core ($*)'
	@rm -f $(STAMPS)/native*
	MATURIN_PEP517_ARGS='--profile $*' $(PIP) install --no-build-isolation --no-deps -e .
	@touch $@

# The stamp of each extra of pyproject.toml: plots, test, lint, bench.
$(STAMPS)/plots $(STAMPS)/test $(STAMPS)/lint $(STAMPS)/bench: $(STAMPS)/%: pyproject.toml $(STAMPS)/venv | $(EITHER)
	@echo 'installing streamnb[$*] and what it needs'
	MATURIN_PEP517_ARGS='--profile $(patsubst $(STAMPS)/native-%,%,$(EITHER))' $(PIP) install --no-build-isolation -e '.[$*]'
	@touch $@
