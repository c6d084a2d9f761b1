"""Metrics against scikit-learn, the flow of prequential evaluation, and learning curves."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import evaluate, feature_extraction, linear_model, metrics, naive_bayes
from sklearn import metrics as sk

import streamnb
from streamnb import evaluation
from streamnb.errors import InputError
from streamnb.evaluation.metrics import largest_label
from support.streams import noisy_messages as messages
from support.streams import river_mnb


class Scripted:
    """A model that decides and scores what it is told, in turn."""

    def __init__(self, decisions, probabilities=None):
        self.decisions = iter(decisions)
        self.probabilities = probabilities and iter(probabilities)
        self.learned = []

    def predict_one(self, x):
        return next(self.decisions)

    def predict_proba_one(self, x):
        if self.probabilities is None:
            raise NotImplementedError
        return next(self.probabilities)

    def learn_one(self, x, y):
        self.learned.append((x, y))


class TestMetrics:
    @pytest.mark.parametrize("labels", [("ham", "spam"), ("a", "b", "c", "d")])
    @pytest.mark.parametrize("window", [None, 100])
    def test_equal_scikit_learn(self, labels, window):
        rng = random.Random(1)
        true = [rng.choice(labels) for _ in range(700)]
        decided = [y if rng.random() < 0.7 else rng.choice(labels) for y in true]
        tally = evaluation.Tally(window=window)
        for y, decision in zip(true, decided, strict=True):
            tally.add(y, decision, is_positive=False, score=None)
        scores = tally.scores()
        true, decided = true[-(window or 700) :], decided[-(window or 700) :]
        assert scores.n_messages == len(true)
        assert scores.accuracy == pytest.approx(sk.accuracy_score(true, decided), abs=1e-12)
        assert scores.kappa == pytest.approx(sk.cohen_kappa_score(true, decided), abs=1e-12)
        assert scores.macro_f1 == pytest.approx(
            sk.f1_score(true, decided, average="macro"), abs=1e-12
        )
        assert scores.roc_auc is scores.hm_percent is None

    @pytest.mark.parametrize("window", [None, 100])
    def test_two_classes_equal_scikit_learn(self, window):
        rng = random.Random(2)
        true = [rng.choice(["ham", "ham", "spam"]) for _ in range(400)]
        # Rounded, so that many scores tie.
        scored = [round(rng.gauss(1.0 if y == "spam" else 0.0, 1.5), 1) for y in true]
        decided = ["spam" if score > 0.5 else "ham" for score in scored]
        tally = evaluation.Tally(window=window)
        for y, decision, score in zip(true, decided, scored, strict=True):
            tally.add(y, decision, y == "spam", score)
        scores = tally.scores("spam")
        kept = slice(-(window or 400), None)
        true, decided, scored = true[kept], decided[kept], scored[kept]
        area = sk.roc_auc_score([y == "spam" for y in true], scored)
        (tn, fp), (fn, tp) = sk.confusion_matrix(true, decided, labels=["ham", "spam"])
        assert scores.roc_auc == pytest.approx(area, abs=1e-12)
        assert scores.one_minus_auc_percent == pytest.approx(100 * (1 - area), abs=1e-10)
        assert scores.hm_percent == pytest.approx(100 * fp / (tn + fp))
        assert scores.sm_percent == pytest.approx(100 * fn / (fn + tp))
        odds = [rate / (100 - rate) for rate in (scores.hm_percent, scores.sm_percent)]
        mean = (math.log(odds[0]) + math.log(odds[1])) / 2
        assert scores.lam_percent == pytest.approx(100 / (1 + math.exp(-mean)))

    def test_nothing_and_one_class(self):
        tally = evaluation.Tally()
        assert tally.scores("spam") == evaluation.Scores(0)
        tally.add("ham", "ham", is_positive=False, score=0.0)
        scores = tally.scores("spam")
        assert (scores.accuracy, scores.kappa, scores.roc_auc) == (1.0, None, None)
        assert (scores.hm_percent, scores.sm_percent, scores.lam_percent) == (0.0, None, None)

    def test_lam_at_the_ends(self):
        lam = evaluation.logistic_average_misclassification
        assert lam(0, 50) == 0
        assert lam(100, 50) == 100
        assert lam(0, 100) is None

    def test_labels_that_do_not_compare(self):
        assert largest_label(["b", "a"]) == "b"
        assert largest_label([2, "a", 1]) == "a"


class TestRocAuc:
    @given(
        st.lists(st.tuples(st.booleans(), st.integers(-6, 6).map(float)), min_size=2, max_size=60),
        st.integers(1, 9),
    )
    def test_equals_scikit_learn_at_every_prefix(self, pairs, step):
        area = evaluation.RocAuc()
        for place, (pos_label, score) in enumerate(pairs, 1):
            area.add(pos_label, score)
            seen = pairs[:place]
            if place % step and place != len(pairs):
                continue
            if len({pos_label for pos_label, _ in seen}) < 2:
                assert area.get() is None
            else:
                expected = sk.roc_auc_score(*zip(*seen, strict=True))
                assert area.get() == pytest.approx(expected, abs=1e-12)

    def test_infinite_scores(self):
        assert evaluation.roc_auc([math.inf, 0.0], [-math.inf, 0.0]) == 0.875
        area = evaluation.RocAuc()
        for pos_label, score in [(True, math.inf), (True, 0.0), (False, -math.inf), (False, -0.0)]:
            area.add(pos_label, score)
        assert area.get() == 0.875

    def test_log_odds(self):
        assert evaluation.log_odds({"a": -1.0, "b": -3.0}, "a") == 2.0
        shares = {"a": 0.5, "b": 0.3, "c": 0.2}
        logs = {label: math.log(share) - 1000 for label, share in shares.items()}
        assert evaluation.log_odds(logs, "b") == pytest.approx(math.log(0.3 / 0.7))
        assert evaluation.log_odds({}, "a") == 0.0
        assert evaluation.log_odds({"b": -1.0}, "a") == -math.inf


class TestPrequential:
    def test_equals_river(self):
        stream = list(messages(300))
        accuracy = evaluate.progressive_val_score(stream, river_mnb(), metrics.Accuracy())
        result = evaluation.prequential({"m": river_mnb()}, stream)["m"]
        assert result.cumulative.accuracy == pytest.approx(accuracy.get(), abs=1e-12)
        assert result.n_messages == 300
        assert result.n_unanswered == 1
        assert result.cumulative.n_messages == 299
        assert result.pos_label == "spam"

    def test_area_equals_scikit_learn_over_log_odds(self):
        stream = list(messages(200, noise=0.6))
        model, true, scored = river_mnb(), [], []
        for x, y in stream:
            found = model["MultinomialNB"].joint_log_likelihood(
                model["BagOfWords"].transform_one(x)
            )
            if found:
                scored.append(found.get("spam", -1e300) - found.get("ham", -1e300))
                true.append(y == "spam")
            model.learn_one(x, y)
        result = evaluation.prequential(river_mnb(), stream)["Pipeline"]
        assert result.cumulative.roc_auc == pytest.approx(sk.roc_auc_score(true, scored), abs=1e-12)

    @pytest.mark.parametrize(("pos_label", "delay"), [(None, 0), (None, 30), ("news", 7)])
    def test_area_from_the_first_message_after_both_classes_were_known(self, pos_label, delay):
        labels = ("ham", "spam") if pos_label is None else ("ham", "spam", "news")
        stream = [(x, y) for x, y in messages(250, labels, noise=0.7) if y != "spam"][:20]
        stream += list(messages(200, labels, seed=1, noise=0.7))
        model, learned, true, scored, both = naive_bayes.MultinomialNB(), set(), [], [], []
        bag = feature_extraction.BagOfWords()
        for place, (x, y) in enumerate(stream):
            found = model.joint_log_likelihood(bag.transform_one(x))
            if found:
                true.append(y == (pos_label or "spam"))
                scored.append(evaluation.log_odds(found, pos_label or "spam"))
                both.append((pos_label or "spam") in learned and len(learned) > 1)
            if place >= delay:
                late_x, late_y = stream[place - delay]
                model.learn_one(bag.transform_one(late_x), late_y)
                learned.add(late_y)
        result = evaluation.prequential(
            river_mnb(), stream, pos_label=pos_label, label_delay=delay
        )["Pipeline"]
        known = [(y, score) for y, score, was in zip(true, scored, both, strict=True) if was]
        assert 0 < len(known) < len(true)
        expected = 100 - 100 * sk.roc_auc_score(*zip(*known, strict=True))
        found = result.cumulative
        assert found.one_minus_auc_percent_both_known == pytest.approx(expected, abs=1e-9)
        finite = np.clip(scored, -1e300, 1e300)
        expected = 100 - 100 * sk.roc_auc_score(true, finite)
        assert found.one_minus_auc_percent == pytest.approx(expected, abs=1e-9)
        assert found.one_minus_auc_percent != found.one_minus_auc_percent_both_known

    @pytest.mark.parametrize("first", ["ham", "spam"])
    def test_area_does_not_depend_on_which_label_comes_first(self, first):
        stream = list(messages(150, noise=0.6))
        start = next(place for place, (_, y) in enumerate(stream) if y == first)
        stream = stream[start:]
        named = evaluation.prequential(river_mnb(), stream, pos_label="spam")["Pipeline"]
        found = evaluation.prequential(river_mnb(), stream)["Pipeline"]
        assert named.cumulative == found.cumulative

    def test_models_do_not_influence_each_other(self):
        stream = list(messages(120))
        alone = evaluation.prequential([river_mnb()], stream)["Pipeline"]
        both = evaluation.prequential([river_mnb(), river_mnb()], iter(stream))
        assert list(both) == ["Pipeline", "Pipeline #2"]
        for result in both.values():
            assert result.cumulative == alone.cumulative
            assert result.curve == alone.curve

    def test_many_classes(self):
        stream = list(messages(200, labels=("ham", "spam", "news")))
        result = evaluation.prequential(river_mnb(), stream)["Pipeline"]
        assert result.pos_label is None
        assert result.cumulative.accuracy > 0.5
        assert result.cumulative.roc_auc is result.cumulative.hm_percent is None
        chosen = evaluation.prequential(river_mnb(), stream, pos_label="news")["Pipeline"]
        assert chosen.cumulative.roc_auc > 0.7
        assert chosen.cumulative.sm_percent > 0
        assert chosen.cumulative.accuracy == result.cumulative.accuracy

    def test_label_delay(self):
        model = Scripted(["a"] * 10)
        stream = [(number, "ab"[number % 2]) for number in range(10)]
        result = evaluation.prequential(model, stream, label_delay=3, every=1)["Scripted"]
        learned = [(point.n_messages, point.n_labels) for point in result.curve]
        assert learned == [(1, 0), (2, 0), (3, 0), *((n, n - 3) for n in range(4, 11))]
        assert result.n_labels == 10  # the last ones at the end of the stream
        assert model.learned == stream

    def test_label_noise(self):
        stream = [(number, "abc"[number % 3]) for number in range(900)]
        true = [y for _, y in stream]
        model = Scripted(true)
        result = evaluation.prequential(model, stream, label_noise=0.3)["Scripted"]
        # Metrics use the true labels.
        assert result.cumulative.accuracy == 1.0
        assert [x for x, _ in model.learned] == list(range(900))
        wrong = [
            (y, given) for y, (_, given) in zip(true, model.learned, strict=True) if y != given
        ]
        assert 0.25 < len(wrong) / 900 < 0.35
        assert len(set(wrong)) == 6
        again = Scripted(true)
        evaluation.prequential(again, stream, label_noise=0.3, noise_seed=42)
        assert again.learned == model.learned

    def test_label_share(self):
        stream = [(number, "ab"[number % 2]) for number in range(2000)]
        decisions = ["a"] * 2000
        options = {"label_share": 0.1, "label_delay": 5}
        model, again = Scripted(decisions), Scripted(decisions)
        results = evaluation.prequential({"one": model, "two": again}, stream, **options)
        assert results["one"].n_labels == len(model.learned)
        assert 150 < len(model.learned) < 250
        assert model.learned == again.learned  # models get the same random labels
        assert set(model.learned) <= set(stream)
        assert results["one"].cumulative.accuracy == 0.5
        few = Scripted(decisions)
        result = evaluation.prequential(few, stream, max_labels=7)["Scripted"]
        assert few.learned == stream[:7]
        assert [point.n_labels for point in result.curve] == [7] * len(result.curve)

    def test_uncertain_messages_are_requested(self):
        """The model is uncertain about every twentieth message."""
        shares = [0.5 if number % 20 == 7 else 0.99 for number in range(6000)]
        model = Scripted(["a"] * 6000, [{"a": share, "b": 1 - share} for share in shares])
        stream = [(f"{number:b} {number}", "a") for number in range(6000)]
        options = {"label_share": 0.05, "ask": "uncertain", "label_delay": 3}
        result = evaluation.prequential(model, stream, **options)["Scripted"]
        learned = [int(x.split()[1]) for x, _ in model.learned]
        assert 0.9 * 300 <= result.n_labels == len(learned) <= 1.1 * 300
        uncertain = [shares[number] == 0.5 for number in learned if number > 500]
        assert sum(uncertain) > 0.5 * len(uncertain)  # of 5 % of the messages

    @pytest.mark.parametrize("delay", [0, 7])
    def test_wrong_decisions_are_explained_before_they_are_learned(self, delay):
        """The reasons are equal to those of a second model that replays the stream until then."""
        pairs = list(messages(300, seed=3))
        models = {name: getattr(streamnb, name)() for name in ("OnlineNB", "MNB")}
        models["river"] = river_mnb()
        results = evaluation.prequential(models, pairs, label_delay=delay, explain_errors=9)
        plain = {name: getattr(streamnb, name)() for name in ("OnlineNB", "MNB")}
        unexplained = evaluation.prequential(plain, pairs, label_delay=delay)
        for name in plain:
            assert results[name].cumulative == unexplained[name].cumulative
            assert models[name].to_bytes() == plain[name].to_bytes()
            replayed = getattr(streamnb, name)()
            expected = []
            for number, (x, y) in enumerate(pairs, 1):
                if number > delay + 1:
                    replayed.learn_one(*pairs[number - delay - 2])
                decision = replayed.predict_one(x)
                if decision not in (None, y):
                    known = y in replayed.classes_
                    words = replayed.explain_one(x).in_words().towards(decision, y) if known else []
                    expected.append((number, x, y, decision, y if known else None, words[:10]))
            assert len(expected) > 9
            assert [tuple(each) for each in results[name].errors] == expected[-9:]
            assert unexplained[name].errors == []
        assert len(results["river"].errors) == 9
        assert all(each.words == [] for each in results["river"].errors)
        assert len(results["MNB"].to_dict()["errors"]) == 9

    def test_probabilities_only(self):
        shares = [0.5, 0.9, 0.2, 1.0]
        true = ["ham", "spam", "ham", "spam"]
        model = Scripted(["ham"] * 4, [{"spam": p, "ham": 1 - p} for p in shares])
        result = evaluation.prequential(model, list(zip("wxyz", true, strict=True)))["Scripted"]
        assert result.cumulative.roc_auc == 1.0

    def test_decisions_only(self):
        stream = list(messages(40))
        model = Scripted([y for _, y in stream])
        result = evaluation.prequential(model, stream)["Scripted"]
        assert result.cumulative.accuracy == 1.0
        assert result.cumulative.roc_auc is None
        assert result.cumulative.hm_percent == 0.0

    def test_other_river_pipelines(self):
        model = feature_extraction.TFIDF() | linear_model.LogisticRegression()
        stream = [(x, y == "spam") for x, y in messages(200)]
        result = evaluation.prequential(model, stream)["Pipeline"]
        assert result.pos_label is True
        assert result.cumulative.roc_auc > 0.8

    def test_windowed_looks_back(self):
        decisions = ["a"] * 50 + ["b"] * 50
        stream = [(None, "a")] * 100
        result = evaluation.prequential(Scripted(decisions), stream, window=20, every=10)
        windowed = [point.windowed.accuracy for point in result["Scripted"].curve]
        assert windowed == [1, 1, 1, 1, 1, 0.5, 0, 0, 0, 0]
        assert result["Scripted"].curve[-1].cumulative.accuracy == 0.5
        assert result["Scripted"].windowed.n_messages == 20

    def test_curve_stays_bounded(self):
        n = 20_000
        result = evaluation.prequential(Scripted(["a"] * n), [(None, "a")] * n, window=10)
        curve = result["Scripted"].curve
        assert 100 < len(curve) <= 401
        places = [point.n_messages for point in curve]
        assert places == sorted(set(places))
        assert places[-1] == n

    def test_cost(self):
        result = evaluation.prequential(river_mnb(), messages(50))["Pipeline"]
        assert 0 < result.messages_per_second < 1e6
        assert result.memory_bytes > 1000
        assert evaluation.memory_bytes(object()) is None

    def test_empty_stream(self):
        result = evaluation.prequential(river_mnb(), [])["Pipeline"]
        assert result.n_messages == 0
        assert result.cumulative == evaluation.Scores(0)

    def test_json(self):
        result = evaluation.prequential(river_mnb(), messages(60))["Pipeline"]
        values = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert values["labels"].keys() == {"ham", "spam"}
        assert values["curve"][0]["cumulative"]["accuracy"] >= 0

    @pytest.mark.parametrize(
        "wrong",
        [
            {"window": 0},
            {"every": 0},
            {"label_delay": -1},
            {"label_noise": 1.1},
            {"label_noise": -0.1},
            {"calibration_skip": -1},
            {"label_share": 1.5},
            {"ask": "all"},
            {"max_labels": -1},
        ],
    )
    def test_parameters_out_of_range(self, wrong):
        with pytest.raises(InputError):
            evaluation.prequential(river_mnb(), messages(5), **wrong)

    def test_no_model_and_no_label(self):
        with pytest.raises(InputError, match="no model"):
            evaluation.prequential([], messages(5))
        with pytest.raises(InputError, match="message 2 "):
            evaluation.prequential(river_mnb(), [("a", "ham"), ("b", None)])
