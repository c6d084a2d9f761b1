"""A cascade keeps to its goal, audits without bias, and is a function of its log."""

from __future__ import annotations

import math
import random
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from river import base, naive_bayes

from references.risk import SlowReuse, SlowRisk, SlowThreshold
from streamnb import MNB, OnlineNB, _core
from streamnb import risk as risks
from streamnb.active import sketch_of
from streamnb.audits import Audits, Decision
from streamnb.cascade import Cascade
from streamnb.datasets import read_text, stream
from streamnb.errors import InputError, InvalidAnswerError, ModelFileError, TeacherAwayError
from support.data import require_data

Rows = list[tuple[Any, Any]]


class Simulated(base.Classifier):
    """A model that never changes: the message is the log odds of its best label."""

    def predict_proba_one(self, x: float) -> dict[str, float]:
        p = 1 / (1 + math.exp(x))
        return {"a": p, "b": 1 - p}

    def learn_one(self, x: float, y: str) -> None:
        """Learn nothing."""


class Unsure(base.Classifier):
    """A model that never knows."""

    def predict_proba_one(self, x: Any) -> dict[str, float]:
        return {"ham": 0.5, "spam": 0.5}

    def learn_one(self, x: Any, y: str) -> None:
        """Learn nothing."""


class Oracle:
    """Answers with the label of the current message."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.current: Any = None

    def __call__(self, x: Any) -> Any:
        return self.current

    def decisions(self, cascade: Cascade) -> Iterator[Decision]:
        for x, y in self.rows:
            self.current = y
            yield cascade.decide_one(x)


def sms(n: int = 3000, seed: int = 1) -> Rows:
    return list(stream("synthetic-sms", limit=n, seed=seed))


def collection(name: str) -> Rows:
    require_data(f"text/{name}.jsonl.xz")
    return [(each.text, each.label) for each in read_text(name)]


def run(rows: Rows, model: Any = None, **options: Any) -> tuple[Cascade, list[Decision]]:
    oracle = Oracle(rows)
    cascade = Cascade(OnlineNB() if model is None else model, oracle, **options)
    return cascade, list(oracle.decisions(cascade))


def worst_agreement(rows: Rows, decisions: list[Decision], first: int = 1000) -> float:
    """Return the lowest share of agreement over 2,000 decisions in a row."""
    pairs = zip(rows, decisions, strict=True)
    agreed = np.array([label == decision.label for (_, label), decision in pairs])[first:]
    return float(np.convolve(agreed, np.ones(2000), "valid").min() / 2000)


# --- the goal ---------------------------------------------------------------------------------


def test_sms_within_the_goal_in_each_window() -> None:
    rows = collection("sms_spam")
    cascade, decisions = run(rows, agreement=0.99)
    assert worst_agreement(rows, decisions) >= 0.988
    assert cascade.call_share <= 0.025
    assert cascade.n_calls == sum(each.asked for each in decisions)


def test_a_change_of_the_collection_is_noticed_before_errors_accumulate() -> None:
    """The model alone is confident about the new messages, and wrong in most of them.

    Without the alarm of new words, a quarter of these decisions were wrong. The goal of 1.2 % is
    not met here: docs/internals/cascade-figures.md has the figures.
    """
    first, second = collection("sms_spam")[:4000], collection("exais_sms")[:1000]
    cascade, decisions = run(first + second, agreement=0.99)
    changed = zip(second, decisions[4000:], strict=True)
    errors = [label != decision.label for (_, label), decision in changed]
    assert sum(errors) <= 0.03 * len(errors)
    assert cascade.n_alarms >= 1
    assert run(first, agreement=0.99)[0].n_alarms == 0
    model = OnlineNB()
    for x, y in first:
        model.learn_one(x, y)
    alone = [model.predict_one(x) != y for x, y in second]
    assert sum(alone) >= 0.5 * len(alone)


def test_new_words_raise_an_alarm_once() -> None:
    rows = sms(3000)
    novelty = risks.Novelty(1000)
    assert not any(novelty.add(x) for x, _ in rows[:2000])
    restored = risks.Novelty(1000)
    restored.restore(novelty.to_json())
    other = [" ".join(word[::-1] + "q" for word in x.split()) for x, _ in rows[2000:]]
    alarms = [n for n, x in enumerate(other) if novelty.add(x)]
    assert alarms == [n for n, x in enumerate(other) if restored.add(x)]
    assert len(alarms) == 1
    assert alarms[0] <= 20
    assert not any(novelty.add(x) for x, _ in rows[:2000])  # the bit maps know the first words


def test_a_higher_agreement_needs_more_calls() -> None:
    rows = sms()
    calls = [run(rows, agreement=goal)[0].n_calls for goal in (0.95, 0.99, 0.999)]
    assert calls == sorted(calls)
    assert calls[0] < calls[-1]


def test_a_random_tenth_of_wrong_answers_does_not_spoil_the_decisions() -> None:
    rows = collection("sms_spam")
    drawn, other = random.Random(3), {"ham": "spam", "spam": "ham"}
    noisy = [(x, other[y] if drawn.random() < 0.1 else y) for x, y in rows]
    cascade, decisions = run(noisy, agreement=0.99, teacher_error=0.1)
    right = sum(decision.label == y for decision, (_, y) in zip(decisions, rows, strict=True))
    teacher = sum(given == y for (_, given), (_, y) in zip(noisy, rows, strict=True))
    assert right >= teacher
    assert cascade.call_share < 0.5


def test_a_teacher_that_changes_its_mind_raises_an_alarm_and_is_followed() -> None:
    rows, other = sms(4000), {"ham": "spam", "spam": "ham"}
    changed = rows[:2000] + [(x, other[y]) for x, y in rows[2000:]]
    cascade, decisions = run(changed, agreement=0.99)
    assert cascade.n_alarms >= 1
    last = zip(changed[3000:], decisions[3000:], strict=True)
    assert sum(y == decision.label for (_, y), decision in last) >= 950
    assert run(rows, agreement=0.99)[0].n_alarms == 0


def test_a_new_class_is_learned() -> None:
    rows = sms(2000) + [(x, y if i % 4 else "new") for i, (x, y) in enumerate(sms(2000, 2))]
    rows = [(f"{x} parcel customs fee" if y == "new" else x, y) for x, y in rows]
    _, decisions = run(rows, agreement=0.99)
    new = [
        each.label for each, (_, y) in zip(decisions[3000:], rows[3000:], strict=True) if y == "new"
    ]
    assert new.count("new") >= 0.95 * len(new)


def test_a_budget_bounds_the_calls() -> None:
    rows = sms(4000)
    cascade, decisions = run(rows, budget=0.02)
    assert 0.01 * len(rows) <= cascade.n_calls <= 0.02 * len(rows) + 60
    cascade, decisions = run([(x, random.Random(x).choice("ab")) for x, _ in rows], budget=0.02)
    assert cascade.n_calls <= 0.02 * len(rows) + 60
    assert {each.propensity for each in decisions if each.reason == "budget"} <= {0.0}


def test_calls_per_day_follow_the_time_of_the_messages() -> None:
    rows = [(x, random.Random(x).choice("ab")) for x, _ in sms(2000)]
    oracle = Oracle(rows)
    cascade = Cascade(MNB(), oracle, calls_per_day=100)
    for number, (x, oracle.current) in enumerate(rows):
        cascade.decide_one(x, time=number * 43.2)  # a day in all
    assert 55 <= cascade.n_calls <= 160


def test_prices_set_the_threshold() -> None:
    rows = sms()
    cheap = run(rows, call_price=0.001, error_price=1.0)[0]
    dear = run(rows, call_price=0.2, error_price=1.0)[0]
    assert dear.n_calls < cheap.n_calls
    assert dear.cost == pytest.approx(0.2 * dear.n_calls)


# --- audits -----------------------------------------------------------------------------------


def simulated_run(seed: int, used: bool = False) -> tuple[Cascade, float]:
    """Return a cascade whose tail has more errors than the model expects, and its agreement.

    With `used`, answers come after the model's decision was used, for a third of the messages.
    """
    drawn = random.Random(seed)
    cascade = Cascade(Simulated(), agreement=0.97, audit_share=0.03, reuse_answers=False, seed=seed)
    agreed = 0
    for number in range(3000):
        x = -drawn.expovariate(0.25)
        error = 0.02 + 1 / (1 + math.exp(-x))
        y = "b" if drawn.random() < error else "a"
        decision = cascade.propose_one(x)
        label = decision.label
        if decision.asked and used and number % 3 == 0:
            away = cascade.fail_one(decision, "away")
            cascade.answer_one(x, away, y, used=True)
        elif decision.asked:
            label = cascade.answer_one(x, decision, y).label
        agreed += label == y
    return cascade, agreed / 3000


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("runs", [40, pytest.param(200, marks=pytest.mark.soak)])
def test_the_interval_contains_the_agreement_and_the_estimate_is_unbiased(
    runs: int, used: bool
) -> None:
    inside, errors = 0, []
    for seed in range(runs):
        cascade, agreement = simulated_run(seed, used)
        found = cascade.agreement_estimate()
        assert found.low <= found.high
        inside += found.low <= agreement <= found.high
        errors.append(found.value - agreement)
    assert inside >= 0.93 * runs
    assert abs(np.mean(errors)) <= 3 * np.std(errors) / math.sqrt(runs)
    assert np.std(errors) > 0


def test_late_answers_that_contradict_leave_no_uncertainty() -> None:
    """Also if few decisions were left to the model: the bounds count what is known."""
    audits = Audits()
    for number in range(100):
        audits.follow(number, 1.0 if number < 90 else 0.5)
    for number in range(40):
        audits.add(number, 1.0, wrong=True, used=True)
    found = audits.estimate(100, last=1000, audit_share=0.5, confidence=0.95)
    assert (found.value, found.high) == (0.6, 0.6)
    assert 0.5 <= found.low < 0.6  # ten decisions of the model
    audits.add(95, 0.5, wrong=True)
    found = audits.estimate(100, last=1000, audit_share=0.5, confidence=0.95)
    assert found.value == pytest.approx(0.59)
    assert found.low < found.value < found.high


def test_the_draws_have_the_stated_probability() -> None:
    cascade = Cascade(Simulated(), agreement=0.97, audit_share=0.05, seed=9)
    decisions = [cascade.propose_one(-6.0 - number % 3) for number in range(20_000)]
    below = [each for each in decisions if each.propensity < 1.0]
    expected = sum(each.propensity for each in below)
    assert abs(cascade.n_audits - expected) <= 4 * math.sqrt(expected)
    assert min(each.propensity for each in below) >= 0.05


def test_the_interval_of_rare_events_equals_the_exact_one_for_equal_weights() -> None:
    from scipy.stats import chi2

    for events in range(6):
        low, high = risks.weighted_interval(events * 7.0, events * 49.0, 7.0)
        exact = 0.0 if not events else 7 * chi2.ppf(0.025, 2 * events) / 2
        assert low == pytest.approx(exact)
        assert high == pytest.approx(7 * chi2.ppf(0.975, 2 * events + 2) / 2)


def test_decisions_without_an_answer_do_not_count_in_the_estimate() -> None:
    cascade = Cascade(MNB(), lambda x: TeacherAwayError("gone"), agreement=0.9)
    for x, _ in sms(50):
        assert cascade.decide_one(x).status == "away"
    assert cascade.agreement_estimate().n_decisions == 0
    decision = cascade.propose_one("win cash")
    failed = cascade.fail_one(decision, "away")
    cascade.answer_one("win cash", failed, "spam")
    assert cascade.agreement_estimate().n_decisions == 1


# --- the risk -----------------------------------------------------------------------------------


def test_the_risk_equals_the_slow_reference() -> None:
    drawn = random.Random(4)
    fast, slow = risks.RiskModel(), SlowRisk(tail=0.5)
    fast.tail = 0.5
    for _ in range(300):
        label, x = drawn.choice("abc"), -drawn.expovariate(0.3)
        expected = slow.risk(label, x, risks._CAUTION)
        assert fast.risk(label, x) == pytest.approx(expected, rel=1e-9)
        wrong = drawn.random() < 1 / (1 + math.exp(-0.6 * x))
        fast.learn(label, x, wrong)
        slow.learn(label, x, wrong)


def test_the_threshold_leaves_the_allowed_errors() -> None:
    histogram = risks.RiskHistogram(1000)
    drawn = list(np.random.default_rng(1).beta(0.2, 2.0, 5000))
    for each in drawn:
        histogram.add(each)
    weights = (1 - 1 / 1000) ** np.arange(5000)[::-1]
    for share in (0.001, 0.01, 0.05):
        threshold = histogram.threshold_of_errors(share, 1.0)
        below = np.array(drawn) < threshold
        assert (weights * drawn)[below].sum() <= share * 1000  # before 1,000 decisions, too
        above = np.array(drawn) < threshold * math.exp(0.2)
        assert (weights * drawn)[above].sum() > share * 1000
    asked = np.array(drawn) > histogram.threshold_of_calls(0.2)
    assert (weights * asked).sum() / weights.sum() == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize("rate", [0.25, 1.0])
def test_the_threshold_equals_the_slow_reference(rate: float) -> None:
    drawn = random.Random(6)
    cascade = Cascade(Simulated(), agreement=0.97, span=300, reuse_answers=False)
    slow, hard = SlowThreshold(0.97, 300), []
    for number in range(1, 2001):
        x = -drawn.expovariate(rate if number < 1200 else 0.1)
        threshold = cascade.threshold
        decision = cascade.propose_one(x)
        slow.add(decision.risk, threshold)
        if number < 200 or number % 16 == 0:
            assert cascade.threshold == pytest.approx(slow.threshold(cascade._ratio()), rel=1e-9)
            hard.append(slow.hard())
        if decision.asked:
            wrong = drawn.random() < 1 / (1 + math.exp(-x))
            cascade.answer_one(x, decision, "b" if wrong else "a")
    assert cascade.n_alarms == 0
    assert set(hard) == {True, False}


# --- the log --------------------------------------------------------------------------------------


def reloaded(cascade: Cascade) -> Cascade:
    made = Cascade.from_bytes(cascade.to_bytes())
    made.teacher = cascade.teacher
    return made


GOALS: list[dict[str, Any]] = [
    {"agreement": 0.98},
    {"budget": 0.05},
    {"calls_per_day": 50.0},
    {"call_price": 1.0, "error_price": 20.0},
]


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: next(iter(goal)))
def test_a_loaded_cascade_continues_to_the_last_bit(goal: dict[str, Any]) -> None:
    rows = sms(1200)
    oracle = Oracle(rows)
    one = Cascade(OnlineNB(), oracle, **goal)
    two = Cascade(OnlineNB(), oracle, **goal)
    for number, (x, oracle.current) in enumerate(rows):
        if number in (3, 500):
            two = reloaded(two)
        if number == 700:
            two.agreement_estimate()  # reading changes nothing
        assert one.decide_one(x, time=60.0 * number) == two.decide_one(x, time=60.0 * number)
    assert one.to_bytes() == two.to_bytes()


def test_a_cascade_is_saved_in_a_file(tmp_path: Path) -> None:
    cascade, _ = run(sms(300), agreement=0.95)
    cascade.save(tmp_path / "cascade.snb")
    assert Cascade.load(tmp_path / "cascade.snb").to_bytes() == cascade.to_bytes()
    data = cascade.to_bytes()
    with pytest.raises(ModelFileError, match="checksum"):
        Cascade.from_bytes(data[:-1])
    with pytest.raises(InputError, match="no model file"):
        Cascade(naive_bayes.BernoulliNB(), agreement=0.9).to_bytes()


def test_a_refused_message_changes_nothing() -> None:
    cascade, _ = run(sms(300), agreement=0.95)
    before = cascade.to_bytes()
    with pytest.raises(InputError):
        cascade.decide_one(3.5)
    decision = next(
        each
        for each in iter(lambda: cascade.propose_one(str(cascade.n_decisions)), None)
        if each.asked
    )
    before = cascade.to_bytes()
    with pytest.raises(InputError):
        cascade.answer_one("x", decision, None)
    assert cascade.to_bytes() == before


# --- answers ----------------------------------------------------------------------------------


def test_failures_are_counted_and_not_learned() -> None:
    answers = iter(["spam", InvalidAnswerError("?"), TeacherAwayError("gone"), "ham"])
    cascade = Cascade(MNB(), lambda x: next(answers), agreement=0.9)
    found = [cascade.decide_one(f"text {word}") for word in ("win", "cash", "see", "noon")]
    assert [each.status for each in found] == ["answered", "invalid", "away", "answered"]
    assert [each.label for each in found] == ["spam", "spam", "spam", "ham"]
    assert [each.source for each in found] == ["teacher", "model", "model", "teacher"]
    assert (cascade.n_calls, cascade.n_answers, cascade.n_invalid, cascade.n_away) == (4, 2, 1, 1)
    assert cascade.model.n_documents == 2


def test_an_answer_may_come_later_but_only_once() -> None:
    cascade = Cascade(MNB(), agreement=0.9)
    first = cascade.decide_one("win cash")
    assert (first.status, first.label, first.asked) == ("waiting", None, True)
    answered = cascade.answer_one("win cash", first, "spam")
    assert (answered.label, answered.source, answered.learned) == ("spam", "teacher", True)
    with pytest.raises(InputError, match="not waiting"):
        cascade.answer_one("win cash", answered, "spam")


def test_near_duplicates_are_not_sent_again() -> None:
    sent: list[str] = []

    def teacher(x: str) -> str:
        sent.append(x)
        return "spam" if "WIN" in x else "ham"

    text = "Congratulations, you WIN a prize of {} pounds: call us today and claim your prize now"
    cascade = Cascade(Unsure(), teacher, agreement=0.99, audit_share=0.001)
    found = [cascade.decide_one(text.format(900 + number)) for number in range(100)]
    assert {each.label for each in found} == {"spam"}
    assert len(sent) <= 15  # the first, and about 1/2 + 1/3 + … audits
    assert cascade.n_reused == 100 - len(sent)
    assert cascade.agreement_estimate().n_audits == len(sent) - 1
    sent.clear()
    repeated = Cascade(Unsure(), teacher, agreement=0.99, reuse_answers=False)
    for number in range(100):
        repeated.decide_one(text.format(900 + number))
    assert len(sent) == 100


PRIZE = "Congratulations, you WIN a prize of {} pounds: call us today and claim your prize now"


def test_answers_are_not_reused_while_the_teacher_contradicts_them() -> None:
    """Identical messages have different labels; later they have the same label again."""
    drawn = random.Random(3)
    answers = [drawn.choice("ab") for _ in range(400)] + ["a"] * 600
    cascade = Cascade(Unsure(), lambda x: answers[cascade.n_decisions - 1], agreement=0.99)
    decisions = [cascade.decide_one(PRIZE.format(900)) for _ in answers]
    wrong = [each.label != y for each, y in zip(decisions, answers, strict=True)]
    assert sum(wrong[:400]) <= 20  # of 200 if each answer were reused
    reused = [each.reason == "duplicate" for each in decisions]
    assert sum(reused[100:400]) <= 3
    assert not any(wrong[400:])
    assert sum(reused[400:]) >= 150
    batch = Cascade(Unsure(), lambda x: drawn.choice("ab"), agreement=0.99)
    for _ in range(40):
        batch.decide_many([PRIZE.format(900)] * 10)
    assert batch.n_reused <= 80  # of 400: only the first of each batch is checked


@pytest.mark.parametrize("error", [0.0, 0.1])
def test_the_risk_of_a_reused_answer_equals_the_slow_reference(error: float) -> None:
    drawn, slow = random.Random(8), SlowReuse(error)
    cascade = Cascade(Unsure(), agreement=0.9, teacher_error=error)
    checks = 0
    for number in range(600):
        if number == 300:
            made = Cascade(Unsure(), agreement=0.9, teacher_error=error)
            made.restore(cascade.estimates())
            made.remember(PRIZE.format(900), "ham")
            cascade = made
        decision = cascade.propose_one(PRIZE.format(900))
        if decision.asked:
            label = drawn.choice(["ham", "ham", "ham", "spam"])
            if decision.source == "teacher":
                slow.learn(label != decision.label)
                checks += 1
            cascade.answer_one(PRIZE.format(900), decision, label)
        assert cascade._reuse_risk == pytest.approx(slow.risk(), rel=1e-9)
    assert checks >= 80


def test_a_batch_sends_a_near_duplicate_once() -> None:
    sent: list[str] = []
    cascade = Cascade(MNB(), lambda x: sent.append(x) or "spam", agreement=0.99)
    text = "Congratulations, you win a prize of {} pounds: call us today and claim your prize now"
    found = cascade.decide_many([text.format(900), "see you at noon", text.format(901)])
    assert [each.label for each in found] == ["spam"] * 3
    assert len(sent) == 2
    assert (cascade.n_calls, cascade.n_answers, cascade.n_reused) == (2, 2, 1)


@pytest.mark.parametrize("make", [OnlineNB, MNB, naive_bayes.BernoulliNB])
def test_batches_of_one_equal_single_messages(make: Callable[[], Any]) -> None:
    rows = sms(400)
    if make is naive_bayes.BernoulliNB:
        rows = [(dict.fromkeys(x.split(), 1), y) for x, y in rows]
    oracle = Oracle(rows)
    one, many = (Cascade(make(), oracle, agreement=0.95) for _ in range(2))
    for x, oracle.current in rows:
        assert one.decide_one(x, 0.0) == many.decide_many([x], 0.0)[0]


def test_a_trained_model_starts_with_few_calls() -> None:
    rows = sms(4000)
    model = OnlineNB()
    for x, y in rows[:2000]:
        model.learn_one(x, y)
    cascade, _ = run(rows[2000:], model, agreement=0.99)
    assert cascade.n_calls < run(rows[2000:], agreement=0.99)[0].n_calls


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give one goal"),
        ({"agreement": 0.9, "budget": 0.1}, "give one goal"),
        ({"call_price": 1.0}, "give one goal"),
        ({"agreement": 1.0}, "agreement must be"),
        ({"budget": 0.0}, "budget must be"),
        ({"calls_per_day": -1}, "calls_per_day must be"),
        ({"agreement": 0.9, "teacher_error": 0.5}, "teacher_error must be below"),
        ({"agreement": 0.9, "audit_share": 0.0}, "audit_share must be"),
        ({"agreement": 0.9, "span": 10}, "span must be"),
        ({"agreement": 0.9, "teacher": "gpt"}, "teacher must be"),
    ],
)
def test_invalid_parameters_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Cascade(MNB(), **options)


def random_text(generator: random.Random, length: int, most: int) -> str:
    return "".join(chr(generator.randrange(most)) for _ in range(length))


@pytest.mark.parametrize("most", [128, 0x2FF, 0xD7FF])
def test_sketches_of_texts_are_the_smallest_hashes_of_their_substrings(most: int) -> None:
    generator = random.Random(3)
    for length in [*range(12), 100, 3000]:
        text = random_text(generator, length, most)
        read = text[:2048]
        parts = {read[at : at + 4] for at in range(max(1, len(read) - 3))}
        hashes = sorted(zlib.crc32(each.encode()) for each in parts)
        assert sketch_of(text) == frozenset(hashes[:64])
        assert all(type(each) is int for each in sketch_of(text))
    assert sketch_of("win\ud800cash")  # a lone surrogate is no error


@pytest.mark.parametrize("most", [0x25, 128, 0x3001])
def test_a_sample_of_words_has_the_hashes_of_words_in_regular_distances(most: int) -> None:
    generator = random.Random(4)
    for length in (0, 1, 10, 100, 6000):
        text = random_text(generator, length, most)
        other = random_text(generator, 40, most)
        for message, words in (
            (text, text[:4096].split()),
            ({"a": text, "b c": 1.0, "d": other}, [*text[:4096].split(), "b c", *other.split()]),
        ):
            wanted = words[:: max(1, len(words) // 16)][:16]
            found = _core.word_sample(risks._parts(message), 4096, 16)
            assert found == [zlib.crc32(word.encode()) for word in wanted]


def test_near_duplicates_share_a_key_of_the_smallest_hashes() -> None:
    hashes = [random.Random(5).randrange(2**32) for _ in range(64)]
    orders = [[0, 1, 2**32 - 1], [77, 2**31, 5]]
    wanted = [tuple(min(each ^ order for each in hashes) for order in row) for row in orders]
    assert _core.smallest_in_orders(hashes, orders) == wanted
    assert _core.smallest_in_orders([], orders) == [tuple(row) for row in orders]
