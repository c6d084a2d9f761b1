"""Nothing is lost in a model file."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import streamnb
from streamnb.errors import InputError
from streamnb.model.compression import compressed, decompressed
from support.files import small
from support.models import MODELS, ROUNDED, structures
from support.streams import synthetic_stream

if TYPE_CHECKING:
    from pathlib import Path


@structures()
def test_round_trip(name: str, path: Path) -> None:
    model = small(name)
    model.save(path)
    assert decompressed(path.read_bytes()) == model.to_bytes()
    loaded = streamnb.load(path)
    assert type(loaded) is type(model)
    x = {"win": 1, "home": 2, "new": 1}
    assert loaded.predict_proba_one(x) == model.predict_proba_one(x)
    assert loaded.explain_one(x) == model.explain_one(x)
    assert loaded.n_words == model.n_words
    assert loaded.n_documents == model.n_documents == 3.0


@structures()
def test_loaded_model_goes_on_learning_as_the_saved_one(name: str, path: Path) -> None:
    """Schedule of refreshes, document index and all."""
    model = getattr(streamnb, name)()
    stream = synthetic_stream(200)
    for x, y, w in stream[:90]:
        model.learn_one(x, y, w)
    model.save(path)
    loaded = type(model).load(path)
    for x, y, w in stream[90:]:
        expected = model.joint_log_likelihood_one(x)
        if name in ROUNDED:  # cells of a word are summed in any order, and are no integers here
            expected = pytest.approx(expected, rel=1e-12)
        assert loaded.joint_log_likelihood_one(x) == expected
        model.learn_one(x, y, w)
        loaded.learn_one(x, y, w)
    assert loaded.to_bytes() == model.to_bytes()


@structures()
def test_untrained_model_round_trip(name: str, path: Path) -> None:
    model = getattr(streamnb, name)(alpha=0.25)
    model.save(path)
    loaded = streamnb.load(path)
    assert loaded.to_bytes() == model.to_bytes()
    assert loaded.predict_one({"a": 1}) is None
    assert loaded.alpha == 0.25


def test_parameters_survive(path: Path) -> None:
    parameters: dict[str, Any] = {
        "alpha": 0.3,
        "prior": "uniform",
        "oov": "skip",
        "vocabulary_size": 77,
        "refresh_every": 12,
        "threshold": 0.75,
        "pos_label": "ham",
        "cost_ratio": 9.0,
        "max_features": 5000,
        "index_size": 40,
    }
    for name in MODELS:
        model = getattr(streamnb, name)(**parameters)
        model.learn_one({"a": 1}, "ham")
        model.save(path)
        loaded = streamnb.load(path)
        got = {key: getattr(loaded, key) for key in parameters}
        assert got == parameters
        assert {key: type(value) for key, value in got.items()} == {
            key: type(value) for key, value in parameters.items()
        }


def test_composed_parts_survive(path: Path) -> None:
    for event in ("multinomial", "bernoulli", "complement", "one-versus-all"):
        for dependence in ("independent", "hidden", "hidden-ratios"):
            try:
                model = streamnb.ComposedNB(event=event, dependence=dependence)
            except InputError:
                # Refused for the reasons that test_inputs.py has.
                assert dependence != "independent"
                assert event == "bernoulli" or dependence == "hidden-ratios"
                continue
            model.save(path)
            loaded = streamnb.load(path)
            assert (loaded.event, loaded.dependence) == (event, dependence)


def test_auto_threshold_survives(path: Path) -> None:
    model = streamnb.HMNB(threshold="auto", pos_label="b", cost_ratio=2.0)
    stream = [document for document in synthetic_stream(200) if document[1] != "c"]
    for x, y, w in stream[:100]:
        model.learn_one(x, y, w)
    model.save(path)
    loaded = streamnb.load(path)
    for x, y, w in stream[100:]:
        assert loaded.predict_one(x) == model.predict_one(x)
        model.learn_one(x, y, w)
        loaded.learn_one(x, y, w)
    assert loaded.to_bytes() == model.to_bytes()


LABELS = [
    ["ham", "spam", "", "é\U0001f600", "lone \ud800", "nul \x00"],
    [0, 1, -5, 2**62, 10**30],
    [0.5, -1.25, 1e300, 5e-324],
    [False, True],
    [b"ham", b"", b"\xff\x00"],
    [("a", 1), ("a", 2), ("b", 0)],
    [("nested", (True, 1.5)), ("nested", (False, 2.5))],
    ["text", 7, 2.5, b"bytes", ("tuple", 1), True],
]


@pytest.mark.parametrize("labels", LABELS, ids=repr)
@pytest.mark.parametrize("name", ["MNB", "HOVA"])
def test_labels_survive_with_their_types(name: str, labels: list[Any], path: Path) -> None:
    model = getattr(streamnb, name)()
    for i, label in enumerate(labels):
        model.learn_one({"both": 1, f"w{i}": 2}, label)
    model.save(path)
    loaded = streamnb.load(path)
    assert loaded.classes_ == model.classes_
    assert list(map(type, loaded.classes_)) == list(map(type, model.classes_))
    assert set(map(repr, loaded.classes_)) == set(map(repr, labels))
    for i, label in enumerate(labels):
        assert loaded.predict_one({f"w{i}": 3}) == label
        assert type(loaded.predict_one({f"w{i}": 3})) is type(label)
    assert loaded.to_bytes() == model.to_bytes()


def test_none_as_a_label_survives_or_is_refused(path: Path) -> None:
    """None is what an unlearned model answers, so it may be refused; it must not be mangled."""
    model = streamnb.MNB()
    try:
        model.learn_one({"a": 1}, None)
    except InputError:
        return
    model.save(path)
    assert streamnb.load(path).classes_ == [None]


def test_labels_that_no_file_can_hold_are_named(path: Path) -> None:
    """Learning may allow any hashable label; saving then says which one it cannot write."""
    label = frozenset({"a"})
    model = streamnb.MNB()
    try:
        model.learn_one({"a": 1}, label)
    except InputError as error:
        assert "frozenset" in str(error)  # noqa: PT017 - which of the two happens is left open
    else:
        with pytest.raises(InputError, match="frozenset"):
            model.save(path)
    assert not path.exists()


WORDS = ["w", "", "é\U0001f600", "nul \x00", ("a", "b"), ("a", ("b", "c")), 7, -1, 2.5, True, b"x"]


@structures()
def test_words_of_every_accepted_type_survive(name: str, path: Path) -> None:
    model = getattr(streamnb, name)()
    accepted = []
    for i, word in enumerate(WORDS):
        try:
            model.learn_one({word: i + 1}, "ham" if i % 2 else "spam")
        except InputError:
            continue
        accepted.append(word)
    assert {"w", "", "é\U0001f600", "nul \x00", ("a", "b"), 7} <= set(accepted)
    model.save(path)
    loaded = streamnb.load(path)
    assert loaded.n_words == len(accepted)
    for word in accepted:
        x = {word: 3}
        assert loaded.joint_log_likelihood_one(x) == model.joint_log_likelihood_one(x)


def test_path_may_be_text(tmp_path: Path) -> None:
    model = small("CNB")
    model.save(str(tmp_path / "model"))
    assert streamnb.load(str(tmp_path / "model")).to_bytes() == model.to_bytes()


def test_failed_save_keeps_the_old_file(path: Path) -> None:
    """Saving replaces a file whole: whoever reads meanwhile sees the old or the new model."""
    small("MNB").save(path)
    old = path.read_bytes()
    model = streamnb.MNB(tokenizer=str.split)  # a callable of the user's: nothing a file can hold
    model.learn_one("a b", "ham")
    try:
        model.save(path)
    except InputError:
        assert path.read_bytes() == old
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_weights_that_are_no_integers_survive(path: Path) -> None:
    model = streamnb.HCNB(refresh_every=1)
    for i, (x, y, _) in enumerate(synthetic_stream(40)):
        model.learn_one(x, y, math.exp(-i / 7))
    model.save(path)
    loaded = streamnb.load(path)
    assert loaded.to_bytes() == model.to_bytes()
    assert loaded.n_documents == model.n_documents
    for x, _, _ in synthetic_stream(60)[40:]:
        assert loaded.joint_log_likelihood_one(x) == model.joint_log_likelihood_one(x)


def test_bytes_are_on_the_disk_before_the_file_has_its_name(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash just after the rename leaves a whole model, so it is synced before."""
    done: list[str] = []
    sync, replace = os.fsync, Path.replace

    def synced(handle: int) -> None:
        done.append(f"synced {os.fstat(handle).st_size}")
        sync(handle)

    def replaced(self: Path, target: Path) -> Path:
        done.append("replaced")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    model = small("MNB")
    model.save(path)
    assert done[:2] == [f"synced {len(compressed(model.to_bytes()))}", "replaced"]


def test_save_keeps_the_mode_of_a_file_and_follows_a_link(tmp_path: Path) -> None:
    model = streamnb.MNB()
    model.learn_one("win cash", "spam")
    new, kept, link = tmp_path / "new", tmp_path / "kept", tmp_path / "link"
    other = tmp_path / "other"
    other.touch()
    model.save(new)
    assert new.stat().st_mode == other.stat().st_mode  # as any new file's
    kept.write_bytes(b"before")
    kept.chmod(0o640)
    link.symlink_to(kept)
    model.save(link)
    assert link.is_symlink()
    assert kept.read_bytes() == new.read_bytes()
    assert kept.stat().st_mode & 0o7777 == 0o640
    assert {path.name for path in tmp_path.iterdir()} == {"new", "kept", "link", "other"}
