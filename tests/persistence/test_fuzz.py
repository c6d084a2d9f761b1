"""Mutated files with a right checksum: each is refused, or the model learns, is saved and loaded.

`make soak` tries 100,000 files; STREAMNB_FUZZ_FILES sets another number. This test alone:

    make test ARGS="-m soak -n 0 tests/persistence/test_fuzz.py"

A failure names its seed and the number of its file: with STREAMNB_FUZZ_SEED and STREAMNB_FUZZ_FIRST
the test begins with this file.
"""

from __future__ import annotations

import functools
import json
import math
import os
import random
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

import streamnb
from streamnb import challenger
from streamnb.challenger import Challenger
from streamnb.errors import InputError, ModelFileError
from streamnb.model import persistence
from streamnb_consumers.errors import SnapshotError
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import LocalFilter
from streamnb_consumers.pipeline.options import Options
from streamnb_consumers.pipeline.reading import SmsReader
from streamnb_consumers.records import Partition, Record
from support.files import seal
from support.profiles import fuzz_seed

FILES = int(os.environ.get("STREAMNB_FUZZ_FILES", "100000"))
FIRST = int(os.environ.get("STREAMNB_FUZZ_FIRST", "0"))
LIMIT = 1.0  # seconds of processor time for one file
TEXTS = [("win cash now", "spam"), ("see you at home", "ham"), ("cash at home", "spam")]
ROWS = [({"age": 3.5, "sex": "f"}, "spam"), ({"age": 7.25, "sex": "m"}, "ham")]
ROWS += [({"age": 1.0, "sex": "m"}, "spam")]
VALUES: list[Any] = [
    None, True, 0, 1, -1, 2, 255, 10**6, 10**15, 2**53, 2**63, 2**70, 10**400, 0.5, -0.5, 1e308,
    -1e308, 5e-324, math.inf, -math.inf, math.nan, "", "x", "inf", "0x1p+1023", "f" * 3_000, [], {},
    [[]], [1, 2], ["str", "ham"], {"a": 1},
]  # fmt: skip
NUMBERS = [
    0.0, -0.0, 5e-324, 1e-300, 0.25, 1.0, 1e15, 2.0**53, 2.0**256, 2.0**499, 2.0**510, 2.0**512,
    1e300, 1.7e308, -1.0, -1e308, math.inf, -math.inf, math.nan,
]  # fmt: skip

MODELS: dict[str, Callable[[], Any]] = {
    "MNB": streamnb.MNB,
    "threshold": functools.partial(streamnb.MNB, threshold="auto"),
    "BNB": streamnb.BNB,
    "half-life": functools.partial(streamnb.CNB, half_life=2.0),
    "timed": functools.partial(streamnb.OnlineNB, half_life="2h"),
    "window": functools.partial(streamnb.HMNB, window_size=5),
    "weighted": functools.partial(streamnb.TWCNB, max_features=50),
    "documents": functools.partial(streamnb.DWMNB, rounds=3),
    "OnlineNB": streamnb.OnlineNB,
    "multiplied": functools.partial(streamnb.OnlineNB, correction="multiplicative"),
    "NBCF": functools.partial(streamnb.NBCF, factor="auto"),
    "tree": functools.partial(streamnb.MNBTree, min_samples_leaf=1.0),
    "Gaussian": streamnb.ENB,
    "Challenger": lambda: Challenger(streamnb.MNB(), span=2, patience=5),
}


def rows_of(name: str) -> list[tuple[Any, str]]:
    return ROWS if name in ("Gaussian",) else TEXTS  # type: ignore[return-value]


@functools.cache
def trained(name: str) -> Any:
    model = MODELS[name]()
    for _ in range(3):
        for x, y in rows_of(name):
            model.learn_one(x, y)
    if name == "Challenger":
        model.challenger, model._challengers = model.model.clone(), challenger._Fingerprints({})
        model.learn_one(*TEXTS[0])
    return model


# --- mutations ------------------------------------------------------------------------------------


def mutated_json(value: Any, generator: random.Random) -> Any:
    """Return a copy of a value of JSON with one change at a random place."""
    if isinstance(value, dict) and value and generator.random() < 0.9:
        name = generator.choice(list(value))
        if generator.random() < 0.05:
            return {k: v for k, v in value.items() if k != name}
        return {**value, name: mutated_json(value[name], generator)}
    if isinstance(value, (list, tuple)) and value and generator.random() < 0.85:
        place = generator.randrange(len(value))
        changed = list(value)
        match generator.randrange(12):
            case 0:
                del changed[place]
            case 1:
                changed.insert(place, changed[place])
            case _:
                changed[place] = mutated_json(changed[place], generator)
        return changed
    if isinstance(value, bytes):
        return mutated_bytes(value, generator)
    if type(value) is int and generator.random() < 0.3:
        return value + generator.choice((-1, 1))
    return generator.choice(VALUES)


def mutated_bytes(data: bytes, generator: random.Random) -> bytes:
    """Return bytes with one to three changes: bits, pieces, and numbers of eight bytes."""
    for _ in range(generator.choice((1, 1, 1, 2, 3))):
        place = generator.randint(0, max(0, len(data) - 1))
        number = struct.pack("<d", generator.choice(NUMBERS))
        match generator.randrange(8):
            case 0:
                data = data[:place] + bytes([generator.randrange(256)]) + data[place + 1 :]
            case 1 | 2:
                data = data[:place] + number + data[place + 8 :]
            case 3 | 4:
                # A small count becomes any number.
                data = data[:place] + b"\x01" + number + data[place + 1 :]
            case 5:
                data = data[:place] + b"\xff\xff\xff\xff\xff\xff\xff\xff\x01" + data[place + 1 :]
            case 6:
                end = place + generator.randint(1, 9)
                data = data[:place] + data[end:] if generator.random() < 0.5 else data[:end]
            case _:
                data = data[:place] + data[place : place + 9] + data[place:]
    return data


def mutated_file(whole: bytes, generator: random.Random) -> bytes:
    """Return a file with another header or other counts, and a right checksum."""
    body = whole[44:]
    end = 8 + int.from_bytes(body[:8], "little")
    header, rest = body[8:end], body[end:]
    if generator.random() < 0.5:
        header = json.dumps(mutated_json(json.loads(header), generator)).encode()
    else:
        rest = mutated_bytes(rest, generator)
    return seal(whole, len(header).to_bytes(8, "little") + header + rest)


# --- checks ---------------------------------------------------------------------------------------


def accepted(work: Callable[[], None], what: object) -> bool:
    """Return whether a state was accepted; fail if it took long, or raised another error."""
    began, is_accepted = time.process_time(), True
    try:
        work()
    except (ModelFileError, SnapshotError):
        is_accepted = False
    except Exception as error:
        raise AssertionError(f"{what!r}: {error!r}") from error
    assert time.process_time() - began < LIMIT, what
    return is_accepted


def use(model: Any, rows: list[tuple[Any, Any]], load: Callable[[bytes], Any]) -> None:
    """Learn, predict, save and load: a model that was not refused must not fail."""
    labels = getattr(model, "classes_", None) or list(model.model.classes_)

    def learn(model: Any) -> None:
        # A threshold takes two labels.
        for place, (x, _) in enumerate([*rows, rows[0]] * 2):
            model.learn_one(x, labels[place % len(labels)])
        model.predict_one(rows[0][0])
        model.predict_proba_one(rows[0][0])

    try:
        learn(model)
        load(model.to_bytes())
    except (ModelFileError, SnapshotError) as error:
        raise AssertionError(f"accepted, but not usable: {error!r}") from error
    except InputError:
        # Valid parameters may contradict the labels, or each other: as for a new model.
        with pytest.raises(InputError):
            learn(model.clone())


def try_file(name: str, generator: random.Random) -> bool:
    whole = trained(name).to_bytes()
    data = mutated_file(whole, generator)
    kind: Any = Challenger if name == "Challenger" else streamnb.NaiveBayes

    def work() -> None:
        use(kind.from_bytes(data), rows_of(name), kind.from_bytes)

    return accepted(work, (name, data))


def try_pickle(name: str, generator: random.Random) -> bool:
    """Mutate what a pickle contains; the format of pickles is Python's own and unsafe."""
    model = trained(name)
    kept = mutated_json(model.__getstate__(), generator)

    def work() -> None:
        made = type(model).__new__(type(model))
        made.__setstate__(kept)
        use(made, rows_of(name), type(model).from_bytes)

    return accepted(work, (name, kept))


def new_filter(name: str) -> LocalFilter:
    return LocalFilter(MODELS[name](), SmsReader(), Options(drift="ddm", max_fpr=0.01))


@functools.cache
def snapshot(name: str) -> bytes:
    worker = new_filter(name)
    for offset, (text, label) in enumerate(TEXTS * 3):
        value = json.dumps({"id": str(offset), "text": text, "label": label}).encode()
        worker.handle(Record(Partition("in", 0), offset, value, timestamp=1_000 * offset))
    value = json.dumps({"id": "w", "text": "waits"}).encode()
    worker.handle(Record(Partition("in", 0), 9, value, timestamp=9_000))
    return state.dump(worker)


def try_snapshot(name: str, generator: random.Random) -> bool:
    data = mutated_file(snapshot(name), generator)

    def work() -> None:
        worker = new_filter(name)
        state.restore(worker, data)
        try:
            for offset, (text, label) in enumerate(TEXTS, 10):
                value = json.dumps({"id": f"n{offset}", "text": text, "label": label}).encode()
                outputs = worker.handle(Record(Partition("in", 0), offset, value, timestamp=10_000))
                assert len(outputs.decisions) == 1, outputs
            worker.learner.bound.roc_auc()
            worker.learner.accuracy()
            state.restore(new_filter(name), state.dump(worker))
        except (ModelFileError, SnapshotError) as error:
            raise AssertionError(f"accepted, but not usable: {error!r}") from error

    return accepted(work, (name, data))


FILTERS = ("MNB", "OnlineNB", "half-life", "Challenger")
PICKLED = [name for name in MODELS if name != "Challenger"]


def try_one(seed: int, number: int) -> bool:
    """Try one mutated state, which depends on the seed and its number only."""
    generator = random.Random(f"{seed} {number}")
    match generator.randrange(4):
        case 0:
            return try_snapshot(generator.choice(FILTERS), generator)
        case 1:
            return try_pickle(generator.choice(PICKLED), generator)
        case _:
            return try_file(generator.choice(list(MODELS)), generator)


def tries(seed: int, numbers: range) -> int:
    n_accepted = 0
    for number in numbers:
        try:
            n_accepted += try_one(seed, number)
        except BaseException as error:
            error.add_note(f"STREAMNB_FUZZ_SEED={seed} STREAMNB_FUZZ_FIRST={number}")
            raise
    return n_accepted


@pytest.mark.parametrize("seed", range(2))
def test_mutated_states_are_refused_or_usable(seed: int) -> None:
    assert 3 < tries(seed, range(150)) < 150


@pytest.mark.soak
def test_mutated_states_at_length() -> None:
    n_accepted = tries(fuzz_seed(), range(FIRST, FIRST + FILES))
    assert 0.02 * FILES < n_accepted < FILES


def test_a_failure_can_be_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMNB_FUZZ_SEED", "77")
    assert fuzz_seed() == 77
    tried: list[object] = []

    def fail_at_the_fifth(work: Callable[[], None], what: object) -> bool:
        tried.append(what)
        assert len(tried) < 5, "a wrong state"
        return True

    monkeypatch.setattr(sys.modules[__name__], "accepted", fail_at_the_fifth)
    with pytest.raises(AssertionError, match="a wrong state") as failure:
        tries(77, range(20))
    assert failure.value.__notes__ == ["STREAMNB_FUZZ_SEED=77 STREAMNB_FUZZ_FIRST=4"]
    failed = tried.pop()
    tried.clear()
    tries(77, range(4, 5))
    assert tried == [failed]


# --- the files of the report ----------------------------------------------------------------------


def with_change(whole: bytes, **changes: Any) -> bytes:
    body = whole[44:]
    end = 8 + int.from_bytes(body[:8], "little")
    header = json.loads(body[8:end])
    for name, value in changes.items():
        if name in header:
            header[name] = value
        else:
            header["parameters"][name] = value
    encoded = json.dumps(header).encode()
    return seal(whole, len(encoded).to_bytes(8, "little") + encoded + body[end:])


@pytest.mark.parametrize("weight", [math.inf, -math.inf, math.nan, 1e308, -1.0, 0.0, "1", None])
def test_a_record_of_a_threshold_has_finite_weights(weight: Any) -> None:
    whole = trained("threshold").to_bytes()
    record = persistence.unpacked(whole)[0]["threshold"]
    record[0][2] = weight
    with pytest.raises(ModelFileError):
        streamnb.NaiveBayes.from_bytes(with_change(whole, threshold=record))


def test_rounds_are_bounded() -> None:
    with pytest.raises(ModelFileError, match="1,000"):
        streamnb.NaiveBayes.from_bytes(with_change(trained("documents").to_bytes(), rounds=10**15))


def test_a_count_near_the_largest_float_is_refused() -> None:
    whole = trained("half-life").to_bytes()
    counts = whole[52 + int.from_bytes(whole[44:52], "little") :]
    huge = struct.pack("<d", 1e308)
    refused = 0
    for place in range(len(counts)):
        data = counts[:place] + b"\x01" + huge + counts[place + 1 :]
        header = whole[44 : len(whole) - len(counts)]
        try:
            model = streamnb.NaiveBayes.from_bytes(seal(whole, header + data))
        except ModelFileError:
            refused += 1
        else:
            use(model, rows_of("half-life"), streamnb.NaiveBayes.from_bytes)
    assert refused > 0.9 * len(counts)


@pytest.mark.parametrize("change", ["tokens", "index", "words"])
def test_cells_index_and_totals_agree(change: str) -> None:
    model = streamnb.HMNB(max_features=10, index_size=5)
    for x, y in TEXTS:
        model.learn_one(x, y)
    whole = model.to_bytes()
    counts = bytearray(whole[52 + int.from_bytes(whole[44:52], "little") :])
    header = whole[44 : len(whole) - len(counts)]
    if change == "words":  # more words than the bound
        at = counts.index(bytes([10, 5]))
        counts[at] = 3
        header_text = header[8:].replace(b'"max_features":10', b'"max_features":3')
        header = len(header_text).to_bytes(8, "little") + header_text
    elif change == "tokens":  # the class "ham" has one document and four tokens
        at = counts.index(bytes([2, 8]))
        counts[at + 1] = 10
    else:  # the last document of the index has a larger count than its class
        counts[-1] = 40
    with pytest.raises(ModelFileError):
        streamnb.NaiveBayes.from_bytes(seal(whole, header + bytes(counts)))


@pytest.mark.parametrize("name", ["OnlineNB", "timed", "MNB"])
def test_a_smoothing_whose_products_overflow_is_refused(name: str) -> None:
    whole = trained(name).to_bytes()
    with pytest.raises(ModelFileError, match="alpha"):
        streamnb.NaiveBayes.from_bytes(with_change(whole, alpha=1e308))
    largest = streamnb.NaiveBayes.from_bytes(with_change(whole, alpha=1e100))
    use(largest, rows_of(name), streamnb.NaiveBayes.from_bytes)
    assert all(map(math.isfinite, largest.predict_proba_one("win cash").values()))


def test_the_counts_of_a_window_are_those_of_its_documents() -> None:
    whole = trained("window").to_bytes()
    tiny = b"\x01" + struct.pack("<d", 1e-300)  # instead of a weight or a count of 1
    refused = 0
    for place in range(whole.rindex(b"you") + 3, len(whole)):
        changed = seal(whole, whole[44:place] + tiny + whole[place + 1 :])
        try:
            model = streamnb.NaiveBayes.from_bytes(changed)
        except ModelFileError:
            refused += 1
        else:
            use(model, rows_of("window"), streamnb.NaiveBayes.from_bytes)
    assert refused > 50


def test_a_damaged_newest_snapshot_is_skipped(
    tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    from streamnb_consumers.daemon.snapshots.local import Snapshots

    snapshots = Snapshots(tmp_path)
    snapshots.save(snapshot("MNB"))
    generator = random.Random(3)
    newest, errors = b"", 0
    while errors < 20:
        newest = mutated_file(snapshot("MNB"), generator)
        try:
            state.restore(new_filter("MNB"), newest)
        except SnapshotError:
            errors += 1
            path = snapshots.save(newest)
            worker = new_filter("MNB")
            used = snapshots.load(lambda data, worker=worker: state.restore(worker, data))
            assert used not in (None, path)
            assert worker.learner.learned == 9
            path.unlink()
    assert caplog.text.count("skipping the snapshot") == 20
