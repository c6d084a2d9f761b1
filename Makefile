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
# Workers take tests from one another when they have done theirs. Compiled files are kept, though the
# environment may forbid it: tests start a hundred processes, and each would compile all it imports.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --dist worksteal
CARGO_CORE := --manifest-path core/Cargo.toml
# There is one native core in the folder, built in one of two ways: each build takes away the stamp of
# the other, so that `make bench` after `make test DEV=1` measures a release build again.
PROFILE := $(if $(DEV),fast,release)
NATIVE := $(STAMPS)/native-$(PROFILE)
# Style and types are the same of either.
EITHER := $(or $(firstword $(wildcard $(STAMPS)/native-*)),$(NATIVE))

.DEFAULT_GOAL := help
.PHONY: demo serve test test-broker test-mail campaign test-spark test-streams lint bench bench-cores bench-kafka bench-spark drift attacks labels cascade flagship growth papers peers results docs site picture stub wheel soak help clean machine machine-lint machine-test
.NOTPARALLEL:
.DELETE_ON_ERROR:

help:
	@echo 'make demo    watch filters learn a message stream online (the SMS collection where'
	@echo '             STREAMNB_DATA holds it, else a synthetic stream), and one survive a kill'
	@echo 'make serve   the same on a page: look at messages, see why, correct them'
	@echo 'make test    every test but the long ones: the core without Python, then Python; ARGS="-k word";'
	@echo '             DEV=1 builds the core in seconds after an edit, and less fast'
	@echo 'make test-broker  the long tests on a real Kafka broker'
	@echo 'make test-mail  the recipes for mail servers, on the programs that are installed'
	@echo 'make campaign  workers killed and frozen, brokers killed, under load: what is lost or doubled;'
	@echo '             CLIENT=confluent RUNS=3; a run takes about 10 minutes'
	@echo 'make test-spark   learning and streams on Apache Spark, with executors of their own'
	@echo 'make test-streams  the programs of own-stream-programs.md, killed on a real Kafka broker or on files'
	@echo 'make soak    the long tests, and every model in every test on many random examples; hours'
	@echo 'make lint    style, types, the order of imports and the sizes of files, Python and Rust'
	@echo 'make bench   speed and memory beside river, scikit-learn and Vowpal Wabbit; ARGS="--quick"'
	@echo 'make bench-cores  batches on several threads beside one; on an idle machine'
	@echo 'make bench-spark  learning on Spark beside MLlib, on the same frames'
	@echo 'make bench-kafka  the daemon on a real broker, with each client, beside that client alone'
	@echo 'make drift   models on streams that change beside river, into docs/internals/drift.md; ARGS="--limit 1000"'
	@echo 'make attacks floods, giants and false labels beside scikit-learn, into docs/internals/attacks.md'
	@echo 'make labels  few and wrong labels next to other filters, into docs/internals/labels.md'
	@echo 'make cascade first stages before a teacher: calls and agreement, into docs/internals/cascade.md'
	@echo 'make flagship  OnlineNB on every collection there is, beside what is asked of it; ARGS="--peers"'
	@echo 'make results every model on real streams, into docs/internals/results.md; hours; ARGS="--limit 2000"'
	@echo 'make peers   OnlineNB beside bogofilter, Vowpal Wabbit, river and others, into docs/internals/peers.md'
	@echo 'make papers  write a page for each paper: measured and published figures; ARGS=hmnb measures'
	@echo 'make growth  the cost of every model as its stream grows, into docs/internals; ARGS="--quick"'
	@echo 'make docs    write the generated parts of the documents again'
	@echo 'make site    the documentation as a site, in out/site'
	@echo 'make picture  the pictures of the page in the documents, by Chromium'
	@echo 'make stub    write the types of the native core, streamnb/_core.pyi'
	@echo 'make wheel   a wheel for any Linux, in dist, tried in an empty environment'
	@echo 'make clean   remove .venv and everything built'
	@echo 'Settings: PYTHON=$(PYTHON)  STREAMNB_DATA=$(or $(STREAMNB_DATA),../shared/data)'

demo: $(STAMPS)/plots $(STAMPS)/consumers $(NATIVE)
	$(BIN)/streamnb evaluate --demo $(ARGS)
	@echo
	$(BIN)/python tools/demo_recovery.py
	@echo
	@echo "To watch it on a page: make serve, and open the address that it prints."

serve: $(STAMPS)/web $(NATIVE)
	$(BIN)/streamnb serve $(ARGS)

# Four workers on two cores: one or two of them wait for a broker, mostly.
test: $(STAMPS)/test $(NATIVE) | machine-test
	cargo test --quiet $(CARGO_CORE) --profile fast
	$(PYTEST) -n 4 -m 'not soak and not broker_long and not mail_servers' $(ARGS)

# They wait for timeouts and brokers half of the time.
test-broker: $(STAMPS)/test $(NATIVE) | machine-test
	$(PYTEST) -n 4 -m 'broker_long and not soak' --durations=30 --durations-min=20 $(ARGS) tests/kafka tests/listen

# Recipes whose program is missing are skipped; `-rs` prints the reason.
test-mail: $(STAMPS)/test $(NATIVE) | machine-test
	$(PYTEST) -rs -m mail_servers $(ARGS) tests/mail_servers

# 100 kills, 20 freezes and 10 deaths of the broker in each run, with each client or the one named.
campaign: $(STAMPS)/test $(NATIVE) | machine-test
	PYTHONDONTWRITEBYTECODE= $(BIN)/python tools/campaign.py $(if $(CLIENT),--client $(CLIENT)) $(if $(RUNS),--runs $(RUNS)) $(ARGS)

# Executors of Spark, processes of their own; one of them is killed.
test-streams: $(STAMPS)/test $(STAMPS)/streams $(STAMPS)/spark $(NATIVE) | machine-test
	$(PYTEST) -n 2 -m 'not soak' $(ARGS) tests/streams

test-spark: $(STAMPS)/test $(STAMPS)/spark $(NATIVE) | machine-test
	$(BIN)/python -m pytest $(ARGS) tests/spark

# The whole matrix: every model in every test, many examples, drawn anew at each run. The mail reader is
# fuzzed for an hour; STREAMNB_FUZZ_SECONDS sets another time.
soak: $(STAMPS)/test $(STAMPS)/litellm $(NATIVE) | machine-test
	$(PYTEST) -n 2 -m 'soak or matrix' --hypothesis-profile=soak $(ARGS)
	STREAMNB_REQUIRE_LITELLM=1 STREAMNB_LITELLM=$(STAMPS)/litellm.venv/bin/litellm \
		$(PYTEST) -n 0 tests/cascade/test_teachers.py

# A real server of the OpenAI chat protocol, in an environment of its own: it pins other versions.
# Without prisma, LiteLLM 1.108 answers a request that has no key with status 500 instead of 401.
$(STAMPS)/litellm:
	mkdir -p $(STAMPS)
	$(PYTHON) -m venv $@.venv
	$@.venv/bin/pip install --quiet 'litellm[proxy]>=1.60' prisma
	touch $@

# Clippy sees both shapes of the crate: alone, and with its Python bindings.
lint: $(STAMPS)/lint $(EITHER) | machine-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache --no-logo
	@set -e; for check in tools/check_*.py; do echo "$(BIN)/python $$check"; $(BIN)/python $$check; done
	$(BIN)/python tools/seed_faults.py --check > /dev/null
	$(BIN)/mypy --strict streamnb streamnb_consumers
	$(BIN)/python -m mypy.stubtest streamnb._core
	$(BIN)/hadolint docker/Dockerfile docker/postfix.Dockerfile
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/zizmor --offline --no-progress --quiet .github
	$(SITE)
	cargo fmt $(CARGO_CORE) --check
	cargo clippy --quiet $(CARGO_CORE) --all-targets -- -D warnings
	PYO3_PYTHON=$(abspath $(BIN)/python) \
	    cargo clippy --quiet $(CARGO_CORE) --all-targets --all-features -- -D warnings

bench: $(STAMPS)/bench $(NATIVE)
	$(BIN)/python benchmarks/bench_speed.py $(ARGS)
	$(BIN)/python benchmarks/bench_mail.py --text

# On an idle machine: threads are timed by the clock.
bench-cores: $(NATIVE)
	$(BIN)/python benchmarks/bench_cores.py $(ARGS)

bench-spark: $(STAMPS)/spark $(NATIVE)
	$(BIN)/python benchmarks/bench_spark.py $(ARGS)

bench-kafka: $(STAMPS)/test $(NATIVE) | machine-test
	$(BIN)/python benchmarks/bench_daemon.py $(ARGS)

drift: $(STAMPS)/bench $(NATIVE)
	$(BIN)/python benchmarks/bench_drift.py --write $(ARGS)

attacks: $(STAMPS)/bench $(NATIVE)
	$(BIN)/python benchmarks/bench_attacks.py --write $(ARGS)

# bogofilter starts twice for each message; without the program, its rows are left out.
labels: $(STAMPS)/bench $(STAMPS)/plots $(NATIVE)
	$(BIN)/python -m benchmarks.labels --write $(ARGS)

cascade: $(STAMPS)/bench $(NATIVE)
	$(BIN)/python -m benchmarks.peers.cascade --write $(ARGS)

flagship: $(STAMPS)/bench $(NATIVE)
	$(BIN)/python -m benchmarks.flagship $(ARGS)

results: $(NATIVE)
	$(BIN)/python -m benchmarks.peers.results --output docs/internals/results.md $(ARGS)

peers: $(STAMPS)/bench $(NATIVE)
	$(BIN)/python -m benchmarks.peers.peers --output docs/internals/peers.md $(ARGS)

papers: $(STAMPS)/plots $(STAMPS)/bench $(NATIVE)
	@$(BIN)/python -m benchmarks.papers $(ARGS)

growth: $(STAMPS)/plots $(NATIVE)
	$(BIN)/python benchmarks/bench_growth.py $(ARGS)

docs: $(NATIVE) $(STAMPS)/plots $(STAMPS)/consumers
	$(BIN)/python docs/programs/generate.py $(ARGS)

# Any warning is an error.
SITE := NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs --quiet build --strict
site: $(STAMPS)/docs $(EITHER)
	$(SITE)
	@echo 'the site is out/site/index.html'

picture: $(STAMPS)/test $(NATIVE)
	$(BIN)/python docs/programs/take_picture.py

# After a change of core/src/bindings/.
stub: $(STAMPS)/wheel | machine
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/make_stub.py

# As the release builds it: zig links against an old glibc, and auditwheel says which.
wheel: $(STAMPS)/wheel | machine
	rm -rf dist
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin build --profile $(PROFILE) --locked --zig --compatibility manylinux2014 --out dist
	$(BIN)/auditwheel show dist/*.whl
	PYTHON='$(PYTHON)' tools/try-wheel dist/*.whl

clean:
	rm -rf $(VENV) core/target streamnb/_core.*.so out dist
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
	$(PIP) install "$$(PYTHONPATH=tools $(BIN)/python -c 'import build_backend; print(build_backend.MATURIN)')" \
	    'setuptools>=70.1' # which makes wheels of what comes as source alone: pyspark
	@touch $@

# Quix Streams needs another version of confluent-kafka than the filters: its environment reads the
# packages of .venv after its own.
$(STAMPS)/streams: Makefile | $(STAMPS)/venv
	@echo 'installing aiokafka, Bytewax and Quix Streams'
	$(BIN)/python -m venv $(VENV)/streams
	$(VENV)/streams/bin/python -m pip --disable-pip-version-check --quiet install \
	    'aiokafka>=0.12' 'bytewax>=0.21' 'quixstreams>=3.20'
	$(BIN)/python -c "import sysconfig as s; \
	    open(s.get_path('purelib', vars={'base': '$(VENV)/streams'}) + '/parent.pth', 'w').write( \
	        'import site; site.addsitedir(%r)' % s.get_path('purelib'))"
	@touch $@

# Compiled again when a source of the core changes; cargo keeps what did not.
$(STAMPS)/native-%: $(STAMPS)/venv core/Cargo.toml $(wildcard core/Cargo.lock core/build.rs) \
		$(shell find core/src -name '*.rs' 2>/dev/null) pyproject.toml | machine
	@echo 'building the native core ($*)'
	@rm -f $(STAMPS)/native*
	MATURIN_PEP517_ARGS='--profile $*' $(PIP) install --no-build-isolation -e .
	@touch $@

# The stamp of each extra of pyproject.toml: plots, test, lint, bench, docs, spark, web, wheel.
$(STAMPS)/plots $(STAMPS)/consumers $(STAMPS)/test $(STAMPS)/lint $(STAMPS)/bench $(STAMPS)/docs $(STAMPS)/spark $(STAMPS)/web $(STAMPS)/wheel: $(STAMPS)/%: pyproject.toml $(STAMPS)/venv | $(EITHER)
	@echo 'installing streamnb[$*] and what it needs'
	MATURIN_PEP517_ARGS='--profile $(patsubst $(STAMPS)/native-%,%,$(EITHER))' $(PIP) install --no-build-isolation -e '.[$*]'
	@touch $@
