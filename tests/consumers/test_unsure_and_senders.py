"""Unsure decisions between two cutoffs, and sender lists that override the model."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest

from streamnb.errors import InputError
from streamnb.model.threshold import Cutoffs
from streamnb_consumers.daemon.assembly import make_filter as make_from_settings
from streamnb_consumers.daemon.metrics import PrometheusMetrics
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.options import SenderLists, read_senders
from streamnb_consumers.records import Record, TrainingEvent
from support.filters import handle_all, make_filter, records, text

CUTS = Cutoffs(ham=0.3, spam=0.8)


def labelled(n: int) -> list[dict[str, Any]]:
    generator = random.Random(3)
    labels = [generator.choice(["ham", "spam"]) for _ in range(n)]
    return [
        {
            "id": str(number),
            "text": text(label, generator).rsplit(" ", number % 6)[0],
            "label": label,
        }
        for number, label in enumerate(labels)
    ]


def decided(worker: Any, values: list[Any]) -> list[Any]:
    return [each for outputs in handle_all(worker, values) for each in outputs.decisions]


def test_decision_between_cutoffs_is_unsure() -> None:
    values = labelled(200)
    plain, cut = (decided(make_filter(**more), values) for more in ({}, {"cutoffs": CUTS}))
    seen = set()
    for before, after in zip(plain, cut, strict=True):
        assert (before.probabilities, before.score) == (after.probabilities, after.score)
        share = before.probabilities.get("spam", 0.0)
        expected = "spam" if share >= 0.8 else "unsure" if share > 0.3 else "ham"
        assert after.label == (expected if before.probabilities else None)
        seen.add(after.label)
    assert seen == {"spam", "ham", "unsure", None}


def test_cutoffs_include_their_bounds() -> None:
    answers = [Cutoffs(ham=0.2, spam=0.9).answer(share) for share in (0.0, 0.2, 0.5, 0.9, 1.0)]
    assert answers == ["negative", "negative", "unsure", "positive", "positive"]


def test_single_cutoff_gives_no_unsure_decisions() -> None:
    worker = make_filter(cutoffs=Cutoffs(spam=0.99999))
    for each in decided(worker, labelled(200)):
        if each.probabilities:
            sure = each.probabilities.get("spam", 0.0) >= 0.99999
            assert each.label == ("spam" if sure else "ham")


def test_max_fpr_holds_with_cutoffs() -> None:
    values = labelled(300)
    for each in values[::9]:  # ham that looks like spam puts the bound up
        each["label"] = "ham"
    for cutoffs, instead in ((CUTS, "unsure"), (Cutoffs(spam=0.8), "ham")):
        worker, forbidden = make_filter(cutoffs=cutoffs, max_fpr=0.01), 0
        for record in records(values):
            bound = worker.learner.bound.threshold
            (decision,) = worker.handle(record).decisions
            if decision.score is not None and decision.score <= bound:
                assert decision.label != "spam"
                if decision.probabilities["spam"] >= 0.8:
                    assert decision.label == instead
                    forbidden += 1
        assert forbidden


def test_other_labels_compete_below_the_cutoffs() -> None:
    worker = make_filter(cutoffs=Cutoffs(ham=0.4, spam=0.6))
    worker.reader.labels = frozenset()
    for label, words in (("spam", "win cash"), ("work", "minutes plan"), ("home", "dinner noon")):
        decided(worker, [{"id": label, "text": words, "label": label}])
    found = decided(
        worker, [{"id": "1", "text": "minutes plan"}, {"id": "2", "text": "dinner noon"}]
    )
    assert [each.label for each in found] == ["work", "home"]


def test_unsure_does_not_count_for_accuracy() -> None:
    worker, again = make_filter(cutoffs=CUTS), make_filter(cutoffs=CUTS)
    assert worker.learner.accuracy() is None
    for decided, label in (
        ("spam", "spam"),
        ("unsure", "ham"),
        ("ham", "spam"),
        ("unsure", "spam"),
    ):
        worker.learner.learn(TrainingEvent("1", "hello", label, decided=decided))
    assert worker.learner.accuracy() == 0.5
    worker.learner.learn(TrainingEvent("1", "hello", "ham", "spam", decided="ham"))
    assert worker.learner.accuracy() == 0.5, "the first label counts"
    state.restore(again, state.dump(worker))
    assert list(again.learner.recent) == [True, False]


def test_unsure_messages_are_learned_and_counted() -> None:
    worker, metrics = make_filter(cutoffs=CUTS), PrometheusMetrics()
    values = labelled(100)
    labels = []
    for record in records(values):
        outputs = worker.handle(record)
        labels += [event.learn for event in outputs.training if event.decided == "unsure"]
        metrics.committed([record], outputs, worker, 0.1)
    assert set(labels) == {"ham", "spam"}
    value = next(
        sample.value
        for each in metrics.registry.collect()
        for sample in each.samples
        if sample.name == "streamnb_decisions_total" and sample.labels["label"] == "unsure"
    )
    assert value == len(labels)
    again = make_filter(cutoffs=CUTS)
    state.restore(again, state.dump(worker))
    assert state.dump(again) == state.dump(worker)


def test_words_of_an_unsure_decision_explain_the_likelier_label() -> None:
    values = [*labelled(50), {"id": "x", "text": "win cash dinner"}]
    *_, last = decided(make_filter(cutoffs=Cutoffs(ham=1e-9, spam=1.0), explain_top_k=2), values)
    *_, plain = decided(make_filter(explain_top_k=2), values)
    assert (last.label, plain.label) == ("unsure", "spam")
    assert last.words == plain.words


@pytest.mark.parametrize(("ham", "spam"), [(0.5, 0.5), (0.6, 0.5), (-0.1, 0.5), (0.1, 1.1)])
def test_cutoffs_must_be_ordered(ham: float, spam: float) -> None:
    with pytest.raises(InputError, match="ham_cutoff"):
        Cutoffs(ham, spam)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"ham_cutoff": 0.2}, "below spam_cutoff"),
        ({"ham_cutoff": 0.9, "spam_cutoff": 0.8}, "below spam_cutoff"),
        ({"ham_cutoff": 0.1, "spam_cutoff": 0.8, "labels": ("ham", "spam", "unsure")}, "unsure"),
        ({"ham_cutoff": 0.1, "spam_cutoff": 0.8, "labels": ()}, "labels that do not contain"),
    ],
)
def test_cutoff_settings_are_validated(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        Settings(**settings)


# --- senders ------------------------------------------------------------------------------------


def reference(allow: list[str], deny: list[str], sender: str) -> str | None:
    """Reference: look up the address, its domain, and each parent domain."""
    domain = sender.split("@")[1].split(".")
    for name in (sender, *(".".join(domain[at:]) for at in range(len(domain)))):
        if name in deny:
            return "deny"
        if name in allow:
            return "allow"
    return None


def test_most_specific_entry_decides() -> None:
    names = ["ann@a.b.c", "a.b.c", "b.c", "c"]
    for kinds in itertools.product(("allow", "deny", "both", ""), repeat=len(names)):
        pairs = list(zip(names, kinds, strict=True))
        allow = [name for name, kind in pairs if kind in ("allow", "both")]
        deny = [name for name, kind in pairs if kind in ("deny", "both")]
        lists = SenderLists([f"@{name}." if "@" not in name else name for name in allow], deny)
        for sender in ("ann@a.b.c", "bob@a.b.c", "bob@x.a.b.c", "bob@b.c", "bob@xb.c", "bob@d"):
            assert lists.verdict([sender.upper()]) == reference(allow, deny, sender)


def test_all_senders_must_be_allowed_and_one_denied_suffices() -> None:
    lists = SenderLists(allow=["good"], deny=["bad"])
    found = [
        lists.verdict(each) for each in ([], ["a@good"], ["a@good", "a@x"], ["a@good", "a@bad"])
    ]
    assert found == [None, "allow", None, "deny"]


def test_lists_override_the_model_and_learning_continues(tmp_path: Path) -> None:
    allow, deny = tmp_path / "allow", tmp_path / "deny"
    allow.write_text("\ufeff# friends\nAnn@shop.example  # she writes to us\n\n")
    deny.write_text("shop.example\n")
    settings = Settings(allow_senders=str(allow), deny_senders=str(deny), explain_top_k=1)
    worker = make_from_settings("spam", settings)

    offsets = itertools.count()

    def ask(sender: str, words: str, **more: str) -> Any:
        value = {"text": f"From: {sender}\n\n{words}", **more}
        place = records([value])[0].partition
        record = Record(place, next(offsets), json.dumps(value).encode())
        (decision,) = worker.handle(record).decisions
        return decision

    first = ask("bob@mail.shop.example", "hello")
    assert (first.label, first.listed, first.probabilities) == ("spam", "deny", {})
    assert first.to_json()["listed"] == "deny"
    assert ask("ann@shop.example", "win cash", label="spam").label == "ham"
    assert ask("x@y.example", "see you", label="ham").label == "spam"
    assert worker.learner.learned == 2
    found = ask("Ann <ANN@shop.example>", "win cash")
    assert (found.label, found.listed) == ("ham", "allow")
    assert found.probabilities["spam"] > 0.9, "the model's own, which has learned"
    plain = ask("who@z.example", "win cash")
    assert plain.label == "spam"
    assert "listed" not in plain.to_json()
    assert list(worker.learner.recent) == [False, False]


def test_sender_lists_apply_to_sms(tmp_path: Path) -> None:
    deny = tmp_path / "deny"
    deny.write_text("+49 160\n".replace(" ", ""))
    worker = make_from_settings("sms", Settings(deny_senders=str(deny)))
    values = [{"id": "1", "text": "x", "sender": " +49160"}, {"id": "2", "text": "x", "sender": 5}]
    assert [each.label for each in decided(worker, values)] == ["spam", None]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"two words", "line 1: .* is not one sender"),
        (b"\xff", "cannot read it"),
        (None, "existing file"),
    ],
)
def test_invalid_sender_lists_are_reported(tmp_path: Path, content: bytes | None, why: str) -> None:
    path = tmp_path / "list"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(SettingsError, match=why):
        read_senders(str(path))
    assert read_senders("") == []
