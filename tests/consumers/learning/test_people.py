"""Labels as people give them: few, of one kind, only for errors, or with other wishes."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.listen.service import content_id, points
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter
from streamnb_consumers.records import ASSUMED, Decision, Outputs, Partition, Record, Role

WORDS = {
    "spam": "claim prize cash winner lottery transfer bank cheap casino bonus free urgent account",
    "ham": "minutes meeting project agenda lunch report review schedule team budget server patch",
    "news": "weekly offers spring collection shoes discount members shop delivery brand sale",
}


def mail(kind: str, number: int, draw: random.Random) -> bytes:
    """Return a mail with 30 words of its kind."""
    words = WORDS[kind].split()
    head = f"From: a{number}@s{number % 7}.example\nMessage-ID: <{kind}{number}@x.example>\n"
    body = " ".join(draw.choices(words, k=30))
    return f"{head}Subject: hello {draw.choice(words)}\n\n{body}\n".encode()


class Box:
    """A filter behind a listener, and the requests of its users."""

    def __init__(self, kind: str = "spam", **settings: Any) -> None:
        self.settings = Settings(**settings)
        self.filter: Filter = make_filter(kind, self.settings, listens=True)
        self._n = 0

    def handle(
        self, raw: bytes, role: Role, label: str | None = None, user: str | None = None
    ) -> Outputs:
        self._n += 1
        fields = () if user is None else (("user", user.encode()),)
        named = () if label is None else (("label", label.encode()),)
        key = content_id(raw, fields).encode()
        place, time = Partition("requests", 0), 1_700_000_000_000 + 1000 * self._n
        found = Record(place, self._n, raw, key, fields + named, timestamp=time, role=role)
        return self.filter.handle(found)

    def learn(self, raw: bytes, label: str, user: str | None = None) -> Outputs:
        outputs = self.handle(raw, "feedback", label, user)
        assert not outputs.dead_letters
        return outputs

    def unlearn(self, raw: bytes) -> Outputs:
        value = json.dumps({"id": content_id(raw, ()), "unlearn": True}).encode()
        return self.handle(value, "feedback")

    def check(self, raw: bytes, user: str | None = None) -> Decision:
        (decision,) = self.handle(raw, "message", user=user).decisions
        return decision

    def points(self, raw: bytes, user: str | None = None) -> float:
        return points(self.check(raw, user), "spam")

    def train(self, n: int, draw: random.Random) -> None:
        for number in range(n):
            for label in ("ham", "spam"):
                self.learn(mail(label, number, draw), label)


@pytest.fixture
def draw() -> random.Random:
    return random.Random(4)


class TestFewLabels:
    def test_nothing_is_spam_before_both_labels_have_ten_mails(self, draw: random.Random) -> None:
        box = Box()
        unseen = [mail(kind, 500 + n, draw) for kind in ("spam", "ham") for n in range(10)]
        for n_spam, n_ham in ((0, 0), (1, 0), (20, 0), (20, 9)):
            box = Box()
            for label, n in (("spam", n_spam), ("ham", n_ham)):
                for number in range(n):
                    box.learn(mail(label, number, draw), label)
            for each in unseen:
                decision = box.check(each)
                assert (decision.label, points(decision, "spam")) == ("unsure", 0.0)
        box.learn(mail("ham", 9, draw), "ham")
        assert {box.check(each).label for each in unseen} == {"spam", "ham"}

    def test_a_lower_number_decides_earlier(self, draw: random.Random) -> None:
        box = Box(ready_after=2.0)
        box.train(2, draw)
        assert box.check(mail("ham", 50, draw)).label == "ham"

    def test_readiness_also_waits_in_the_sms_filter(self) -> None:
        worker = make_filter("sms", Settings(ready_after=10.0))
        lines = [{"id": str(n), "text": f"win {n}", "label": "spam"} for n in range(30)]
        records = [
            Record(Partition("sms", 0), n, json.dumps(each).encode())
            for n, each in enumerate(lines)
        ]
        outputs = worker.handle_many(records)
        assert {each.label for each in outputs.decisions} == {"unsure"}

    def test_senders_decide_before_the_model_is_ready(self, tmp_path: Any) -> None:
        denied = tmp_path / "deny"
        denied.write_text("s1.example\n")
        box = Box(deny_senders=str(denied))
        assert box.check(b"From: x@s1.example\n\nhello").label == "spam"


class TestEvidence:
    def test_a_mail_of_unknown_words_is_unsure_instead_of_spam(self, draw: random.Random) -> None:
        box, bold = Box(), Box(min_evidence=0.0)
        for each in (box, bold):
            each.train(60, random.Random(5))
        spam = mail("spam", 900, draw)
        unknown = b"From: eva@gmx.example\nSubject: cash\n\n" + b" ".join(
            b"zq%dx" % n for n in range(60)
        )
        assert box.check(spam).label == bold.check(spam).label == "spam"
        decided = box.check(unknown).label, bold.check(unknown).label
        assert decided in (("unsure", "spam"), ("ham", "ham"))
        assert box.points(unknown) <= 4.9

    def test_it_needs_a_model_that_reads_words(self) -> None:
        with pytest.raises(SettingsError, match="min_evidence"):
            make_filter("sms", Settings(model="DNB()", min_evidence=2.0))


class TestOneClick:
    @pytest.mark.parametrize("seed", range(4))
    def test_a_mail_moved_to_junk_by_mistake_hardly_moves_others(self, seed: int) -> None:
        draw, box = random.Random(seed), Box()
        box.train(60, draw)
        others = {kind: [mail(kind, 500 + n, draw) for n in range(10)] for kind in ("ham", "spam")}
        moved = mail("ham", 900, draw)

        def means() -> dict[str, float]:
            return {kind: sum(map(box.points, mails)) / 10 for kind, mails in others.items()}

        before = means()
        box.check(moved)
        box.learn(moved, "spam")
        clicked = means()
        assert 0 < clicked["ham"] - before["ham"] <= 5.5  # by the counts of its words
        assert abs(clicked["spam"] - before["spam"]) <= 0.2  # by the calibration
        box.learn(moved, "ham")
        assert all(abs(points - before[kind]) <= 0.5 for kind, points in means().items())


class TestOneVote:
    def test_each_user_has_the_right_decision_after_one_label(self, draw: random.Random) -> None:
        box = Box(fields=("user",), per_field="user")
        users = ["ann", "bob", "carl", "dora"]
        for number in range(80):
            for label in ("ham", "spam"):
                box.learn(mail(label, number, draw), label, users[number % 4])
        issues = [mail("news", number, draw) for number in range(6)]
        wishes = {"ann": "spam", "bob": "ham", "carl": "spam"}
        for user, wish in wishes.items():
            before = {each: box.points(issues[1], each) for each in users if each != user}
            box.learn(issues[0], wish, user)
            after = {each: box.points(issues[1], each) for each in before}
            for each, value in before.items():
                assert abs(after[each] - value) <= 8, (user, each)
                assert after[each] < 15
        for issue in issues[2:]:
            for user, wish in wishes.items():
                assert (box.check(issue, user).label == "spam") == (wish == "spam")
            assert box.points(issue, "dora") < 15


class TestAssumedLabels:
    def test_a_decision_counts_after_later_messages_and_a_correction_replaces_it(
        self, draw: random.Random
    ) -> None:
        box = Box(assume_after="3")
        box.train(20, draw)
        learner = box.filter.learner
        first = mail("ham", 700, draw)
        assert box.check(first).label == "ham"
        count = learner.learned
        for number in range(701, 703):
            assert not box.handle(mail("ham", number, draw), "message").training
        outputs = box.handle(mail("spam", 703, draw), "message")
        (event,) = outputs.training
        assert (event.learn, event.weight, event.decided) == ("ham", ASSUMED, "ham")
        assert event.id == content_id(first)
        assert learner.learned == count + 1
        assert learner.model.class_count_ == {"ham": 20 + ASSUMED, "spam": 20.0}
        (event,) = box.learn(first, "spam").training
        assert (event.learn, event.unlearn, event.corrected) == ("spam", "ham", None)
        assert learner.model.class_count_ == {"ham": 20.0, "spam": 21.0}

    def test_a_confirmation_learns_the_whole_label(self, draw: random.Random) -> None:
        box = Box(assume_after="1")
        box.train(20, draw)
        first = mail("ham", 700, draw)
        box.check(first)
        box.check(mail("ham", 701, draw))
        box.learn(first, "ham")
        assert box.filter.learner.model.class_count_["ham"] == 21.0

    def test_an_unsure_decision_counts_as_negative(self, draw: random.Random) -> None:
        box = Box(assume_after="1")
        assert box.check(mail("spam", 1, draw)).label == "unsure"
        box.check(mail("spam", 2, draw))
        assert box.filter.learner.model.class_count_ == {"ham": ASSUMED}

    def test_a_labelled_message_is_not_assumed(self, draw: random.Random) -> None:
        box = Box(assume_after="1")
        box.train(20, draw)
        first = mail("ham", 700, draw)
        box.check(first)
        box.learn(first, "spam")
        assert not box.handle(mail("ham", 701, draw), "message").training
        assert box.filter.learner.model.class_count_ == {"ham": 20.0, "spam": 21.0}

    def test_time_counts_by_the_clock_of_the_messages(self, draw: random.Random) -> None:
        box = Box(assume_after="10s")  # one message per second
        box.train(20, draw)
        events = [box.handle(mail("ham", n, draw), "message").training for n in range(700, 715)]
        assert [len(each) for each in events] == [0] * 10 + [1] * 5

    @pytest.mark.parametrize("later", [0, 9])
    def test_a_label_that_was_taken_back_is_not_assumed(
        self, later: int, draw: random.Random
    ) -> None:
        box = Box(assume_after="5")
        box.train(20, draw)
        first = mail("ham", 700, draw)
        box.check(first)
        box.learn(first, "ham")
        for number in range(701, 701 + later):
            box.check(mail("spam", number, draw))
        assert box.unlearn(first).results[0].result == "unlearned"
        restored = Box(assume_after="5")
        state.restore(restored.filter, state.dump(box.filter))
        restored._n = box._n
        for number in range(720, 730):
            raw = mail("spam", number, draw)
            events = [each.handle(raw, "message").training for each in (box, restored)]
            assert events[0] == events[1]
            assert content_id(first) not in {event.id for event in events[0]}
        assert state.dump(restored.filter) == state.dump(box.filter)

    @pytest.mark.parametrize("assume_after", ["5", "9s"])
    def test_restarts_between_all_kinds_of_requests_change_nothing(self, assume_after: str) -> None:
        draw = random.Random(6)
        whole, restarted = Box(assume_after=assume_after), Box(assume_after=assume_after)
        assumed = 0
        for at in range(400):
            number = draw.randrange(60)
            kind = ("ham", "spam")[number % 2]
            raw = mail(kind, number, random.Random(number))
            request = draw.choice(["check", "check", "check", "learn", "correct", "unlearn"])
            found = []
            for box in (whole, restarted):
                if request == "check":
                    outputs = box.handle(raw, "message")
                elif request == "unlearn":
                    outputs = box.unlearn(raw)
                else:
                    wrong = {"ham": "spam", "spam": "ham"}[kind]
                    outputs = box.learn(raw, wrong if request == "correct" else kind)
                found.append(outputs.training)
            assert found[0] == found[1], at
            assumed += sum(event.weight == ASSUMED for event in found[0])
            if at % 23 == 0:
                before, n = restarted, restarted._n
                restarted = Box(assume_after=assume_after)
                state.restore(restarted.filter, state.dump(before.filter))
                restarted._n = n
        assert state.dump(restarted.filter) == state.dump(whole.filter)
        assert assumed > 10

    @pytest.mark.parametrize("cut", [1, 45, 58])
    def test_a_restart_in_between_gives_the_same_model(self, cut: int) -> None:
        def run(box: Box, start: int, stop: int) -> None:
            for number in range(start, stop):
                generator = random.Random(number)
                kind = generator.choice(["ham", "spam"])
                raw = mail(kind, number, generator)
                if number < 40:
                    box.learn(raw, kind)
                else:
                    box.check(raw)
                if number % 7 == 0 and number > 50:
                    old = random.Random(number - 3)
                    kind = old.choice(["ham", "spam"])
                    box.learn(mail(kind, number - 3, old), "spam")
                    if number % 2:
                        box.unlearn(mail(kind, number - 3, random.Random(number - 3)))

        whole, first, second = (Box(assume_after="5") for _ in range(3))
        run(whole, 0, 90)
        run(first, 0, cut)
        state.restore(second.filter, state.dump(first.filter))
        second._n = first._n
        run(second, cut, 90)
        assert state.dump(second.filter) == state.dump(whole.filter)

    def test_files_and_topics_have_their_labels(self) -> None:
        assert make_filter("spam", Settings()).options.assume_after is None
        with pytest.raises(SettingsError, match="topics need labels"):
            Settings(bootstrap_servers="x:9092", assume_after="3d")
        with pytest.raises(SettingsError, match="a number of messages or a time"):
            Settings(assume_after="soon")

    def test_the_bound_counts_the_ham_that_nobody_labels(self, draw: random.Random) -> None:
        """A false positive is one of many mails, not one of few labels."""
        box = Box(assume_after="1")
        box.train(20, draw)
        bound = box.filter.learner.bound
        bound.add_excess(4.0)
        before = bound.threshold
        for number in range(700, 800):
            box.check(mail("ham", number, draw))
        assert bound.threshold < before


def users_correct(box: Box, kinds: set[str], draw: random.Random) -> list[tuple[float, float]]:
    """Return caught spam and lost ham of each quarter; users correct errors of these kinds."""
    box.train(25, draw)
    quarters = []
    for quarter in range(4):
        decided: dict[str, list[bool]] = {"ham": [], "spam": []}
        for number in range(200):
            kind = draw.choice(["ham", "ham", "news", "spam"])
            label = "spam" if kind == "spam" else "ham"
            raw = mail(kind, 1000 * (quarter + 1) + number, draw)
            is_spam = box.check(raw).label == "spam"
            decided[label].append(is_spam)
            if is_spam != (label == "spam") and label in kinds:
                box.learn(raw, label)
        caught, lost = (sum(decided[each]) / len(decided[each]) for each in ("spam", "ham"))
        quarters.append((caught, lost))
    return quarters


@pytest.mark.parametrize("kinds", [{"ham", "spam"}, {"spam"}])
def test_users_who_correct_only_errors(kinds: set[str], draw: random.Random) -> None:
    for caught, lost in users_correct(Box(), kinds, draw):
        assert caught >= 0.88
        assert lost <= 0.02
