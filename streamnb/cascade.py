"""A model that decides most messages, and an expensive teacher for the others.

The teacher is a language model, another service or a person. `Cascade` sends it the messages whose
decisions are at risk, learns its answers, and audits its own decisions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Self

from streamnb.active import SELF_TRAINED, confident_label, sketch_of
from streamnb.audits import WINDOW, Agreement, Answers, Audits, CallBudget, Decision
from streamnb.errors import InputError, InvalidAnswerError, ModelFileError, TeacherError, shown
from streamnb.model import persistence
from streamnb.model.base import NaiveBayes
from streamnb.parameters import (
    check_above_zero,
    check_bound,
    check_flag,
    check_from_zero,
    optional,
    within,
)
from streamnb.risk import Novelty, RiskHistogram, RiskModel, two_best, uniform
from streamnb.teachers import Teacher, as_teacher
from streamnb.text.labels import check_label, from_json, to_json

MAGIC = b"streamCA"
VERSION = 1

# Chosen on all shared streams: docs/internals/cascade-figures.md has the figures.
_RESERVE = 0.3  # share of the allowed errors that is kept for fluctuations
# The same on a hard stream: more than this share of the messages is uncertain.
_HARD_RESERVE, _HARD = 0.5, 0.1
_HIGHEST = 0.5  # threshold under an agreement; above, an error is likelier than agreement
_EVERY = 16  # decisions between two choices of the threshold
_EARLY = 200  # decisions at the beginning, after each of which the threshold is chosen
_AUDITED = 0.04  # audits at the target risk, as a share of the recent calls
_RATIO, _RATIO_PRIOR = 1.1, 2.0  # errors per expected error, with the evidence of so many errors
_MEMORY = 1 - 1 / 400  # decay of this evidence with each answer
_ALARM = 6.0  # evidence that answers contradict the estimated risks: log likelihood ratio
_WORSE, _SURPRISE = 4.0, 0.1  # under the alternative: odds of an error, and its least probability
_BURST = 100.0  # the nth message after an alarm is audited at least with this probability over n
_TRUST = 2.0  # evidence from which on the model does not learn its own decisions
_RARE = 5.0  # answers with the second label, below which it is hardly known
# Reused answers: contradictions and checks that count before the first, and the nth is checked at
# least with a probability of 3 / (n + 3).
_CONTRADICTED, _CHECKED, _FIRST_REUSED = 0.5, 10.0, 3.0

_check_open_share = within("a share between 0 and 1", lambda number: 0 < number < 1)
_check_budget = within("a share above 0, at most 1", lambda number: 0 < number <= 1)


class Cascade(persistence.ModelFile):
    """A model decides, and a teacher answers the messages whose decisions are at risk.

    Each answer is learned. The risk that the teacher contradicts the model is estimated from the
    answers (`streamnb.risk.RiskModel`), for each label separately, and the threshold of the risk
    follows from the goal. Give one goal: `agreement`, `budget`, `calls_per_day`, or both prices.

    A message below the threshold may be audited: it is sent with a known probability, which grows
    with its risk, at least `audit_share`. New labels and contradictions raise
    this probability for a while. `agreement_estimate` weighs the audits by these probabilities, so
    it is unbiased whatever the risk model assumes.

    If answers contradict the estimated risks, or the messages suddenly have many new words, the
    cascade forgets the precision of the estimate, audits more, and counts an alarm. A
    near-duplicate of a recently answered message is not sent: the answer is reused, unless the
    teacher often contradicts reused answers. Some near-duplicates are sent to estimate this.

    A cascade is a function of its messages and the answers: random numbers depend on the seed and
    the number of the message only.

    Parameters
    ----------
    model
        Any classifier with `predict_proba_one` and `learn_one`. `OnlineNB` is the best choice,
        because it is calibrated.
    teacher
        A function from a message to its label, an async function, a `streamnb.teachers.Teacher`, or
        None if answers come later (`answer_one`), as from a person.
    agreement
        Share of decisions that equal the teacher's, between 0 and 1, over `span` decisions.
    budget
        Maximum share of messages to send, above 0 and at most 1, besides 60 calls.
    calls_per_day
        Maximum number of calls per day, above 0, besides 60 calls.
    call_price, error_price
        Price of a call and of a decision that differs from the teacher's, in any unit, above 0.
    teacher_error
        Share of the teacher's answers that are wrong at random, 0 to below 0.5. The goal does not
        count these disagreements, which no model can predict.
    audit_share
        Minimum probability of an audit, above 0 and below 1.
    span
        Number of decisions that the goal refers to, 100 or more.
    self_training
        Whether the model learns its own confident decisions, with a weight of 0.1
        (`streamnb.active.self_train`). This halves the calls of some streams. Learning then costs
        one step for nearly each message. Only models of streamnb do this.
    reuse_answers
        Whether near-duplicates get the answer of the earlier message, while the risk of a
        contradiction is below the threshold.
    seed
        Seed of the audits, 0 or more.

    Attributes
    ----------
    n_decisions, n_calls, n_audits
        Number of decisions, and of the messages among them that were sent; and audits among these.
    n_answers, n_invalid, n_away, n_reused
        Number of valid and invalid answers, of messages without an answer because the teacher was
        away, and of reused answers.
    n_alarms
        Number of times that answers contradicted the estimated risks, or that messages changed.
    threshold
        The current threshold of the risk: messages above are sent.

    Raises
    ------
    InputError
        If a parameter is out of range, or there is not exactly one goal.

    Examples
    --------
    >>> from streamnb import OnlineNB
    >>> from streamnb.cascade import Cascade
    >>> from streamnb.datasets import stream
    >>> messages = dict(stream("synthetic-sms"))  # with drift, so the goal is just missed
    >>> cascade = Cascade(OnlineNB(), teacher=messages.__getitem__, agreement=0.99)
    >>> decisions = [cascade.decide_one(x) for x in messages]
    >>> agreed = sum(each.label == messages[x] for each, x in zip(decisions, messages))
    >>> round(agreed / len(messages), 2), cascade.n_calls / len(messages) < 0.1
    (0.98, True)

    References
    ----------
    [^1]: L. Nie, Z. Ding, E. Hu, C. Jermaine, S. Chaudhuri (2024). Online cascade learning for
          efficient inference over streams. ICML.
    [^2]: G. Ramírez, M. Lindemann, A. Birch, I. Titov (2023). Cache & distil: optimising API calls
          to large language models. arXiv 2310.13561.
    [^3]: D. G. Horvitz, D. J. Thompson (1952). A generalization of sampling without replacement
          from a finite universe. JASA 47.
    """

    n_decisions: int
    n_calls: int
    n_audits: int
    n_answers: int
    n_invalid: int
    n_away: int
    n_reused: int
    n_alarms: int
    threshold: float

    def __init__(
        self,
        model: Any,
        teacher: Any = None,
        *,
        agreement: float | None = None,
        budget: float | None = None,
        calls_per_day: float | None = None,
        call_price: float | None = None,
        error_price: float | None = None,
        teacher_error: float = 0.0,
        audit_share: float = 0.003,
        span: int = 1000,
        self_training: bool = True,
        reuse_answers: bool = True,
        seed: int = 42,
    ) -> None:
        needed = ("predict_proba_one", "learn_one")
        if isinstance(model, type) or not all(hasattr(model, each) for each in needed):
            raise InputError(
                "model must have predict_proba_one and learn_one, as model=OnlineNB(), "
                f"not {shown(model)}"
            )
        self.model = model
        self.teacher: Teacher | None = None if teacher is None else as_teacher(teacher)
        goals = (agreement, budget, calls_per_day, call_price)
        if sum(each is not None for each in goals) != 1 or (
            (call_price is None) is not (error_price is None)
        ):
            raise InputError(
                "give one goal: agreement=0.99, budget=0.05, calls_per_day=500, or both "
                "call_price and error_price"
            )
        self.agreement: float | None = optional(_check_open_share)("agreement", agreement)
        self.budget: float | None = optional(_check_budget)("budget", budget)
        self.calls_per_day: float | None = optional(check_above_zero)(
            "calls_per_day", calls_per_day
        )
        self.call_price: float | None = optional(check_above_zero)("call_price", call_price)
        self.error_price: float | None = optional(check_above_zero)("error_price", error_price)
        self.teacher_error: float = check_from_zero("teacher_error", teacher_error)
        if self.teacher_error >= 0.5:
            raise InputError(f"teacher_error must be below 0.5, not {shown(teacher_error)}")
        self.audit_share: float = _check_open_share("audit_share", audit_share)
        self.span: int = check_bound("span", span, 100)
        self.self_training: bool = check_flag("self_training", self_training)
        self.reuse_answers: bool = check_flag("reuse_answers", reuse_answers)
        self.seed: int = check_bound("seed", seed, 0)
        self.n_decisions = self.n_calls = self.n_audits = self.n_answers = 0
        self.n_invalid = self.n_away = self.n_reused = self.n_alarms = 0
        self.threshold = 0.0
        self._trains = self.self_training and isinstance(model, NaiveBayes)
        self._risk = RiskModel()
        self._histogram = RiskHistogram(self.span)
        self._novelty = Novelty(self.span)
        self._answers = Answers()
        self._audits = Audits()
        self._n_labels = self._since = 0
        self._burst = 1.0
        # Answers by label; a trained model knows its labels.
        self._known: dict[Any, float] = dict(getattr(model, "class_count_", {}))
        self._call_share = 0.0  # recent share of uncertain messages
        self._found = self._expected = 0.0  # errors of audits, and their sum of risks
        self._evidence = 0.0
        self._reusable = 0  # near-duplicates whose answer might be reused
        self._checked = self._contradicted = 0.0  # those that were sent
        self._budget = CallBudget(self.budget, self.calls_per_day, self.span)

    # --- decisions ----------------------------------------------------------------------------

    def decide_one(self, x: Any, time: float | None = None) -> Decision:
        """Decide one message, and send it to the teacher if its decision is at risk.

        Parameters
        ----------
        x
            The message, as the model reads it.
        time
            Seconds since 1970, for `calls_per_day`; None for the current time.

        Raises
        ------
        InputError
            If the model refuses the message; nothing changes.
        """
        decision = self.propose_one(x, time)
        if self.teacher is None or decision.status != "waiting":
            return decision
        return self._receive(x, decision, self.teacher.answer_many([x])[0])

    def decide_many(self, X: Iterable[Any], time: float | None = None) -> list[Decision]:
        """Decide a batch of messages, and send those at risk to the teacher in one batch.

        The model predicts all messages before it learns any of them, so the decisions may differ
        from `decide_one`. A near-duplicate within the batch is sent once.
        """
        messages = list(X)
        if isinstance(self.model, NaiveBayes):
            rows = self.model.predict_proba_many(messages)
        else:
            rows = [self.model.predict_proba_one(x) for x in messages]
        decisions = [self._propose(x, p, time) for x, p in zip(messages, rows, strict=True)]
        waiting = [at for at, each in enumerate(decisions) if each.status == "waiting"]
        if self.teacher is None or not waiting:
            return decisions
        first, repeated = self._without_repetitions([messages[at] for at in waiting])
        answers = self.teacher.answer_many([messages[waiting[at]] for at in first])
        for at, answer in zip((waiting[at] for at in first), answers, strict=True):
            decisions[at] = self._receive(messages[at], decisions[at], answer)
        for at in (waiting[at] for at in repeated):
            answer = self._answers.find(sketch_of(messages[at]))
            if answer is None:  # the original has no answer
                decisions[at] = self.fail_one(decisions[at], "away")
                continue
            self.n_calls -= 1
            self.n_reused += 1
            self._audits.leave_out(decisions[at].number)
            decisions[at] = decisions[at]._replace(
                label=answer, source="teacher", reason="duplicate", status="decided"
            )
        return decisions

    def _without_repetitions(self, messages: list[Any]) -> tuple[list[int], list[int]]:
        """Return the positions of messages, and of near-duplicates of earlier ones of them."""
        if not self.reuse_answers or (self._n_labels > 1 and self._reuse_risk > self.threshold):
            return list(range(len(messages))), []
        first, repeated, batch = [], [], Answers()
        for at, x in enumerate(messages):
            sketch = sketch_of(x)
            if batch.find(sketch) is None:
                batch.add(sketch, True)
                first.append(at)
            else:
                repeated.append(at)
        return first, repeated

    def propose_one(
        self, x: Any, time: float | None = None, probabilities: Mapping[Any, float] | None = None
    ) -> Decision:
        """Decide one message without the teacher.

        If `status` is `"waiting"`, the message is at risk or audited: give the teacher's answer to
        `answer_one`. Without an answer the decision is the model's. `probabilities` are those of
        the model, if they are known already.
        """
        known = self.model.predict_proba_one(x) if probabilities is None else probabilities
        return self._propose(x, known, time)

    def _propose(self, x: Any, probabilities: Mapping[Any, float], time: float | None) -> Decision:
        self.n_decisions = number = self.n_decisions + 1
        if len(probabilities) != self._n_labels:
            self._n_labels, self._since, self._burst = len(probabilities), number, 1.0
        if self._novelty.add(x):
            self._raise_alarm()
        first = min(1.0, self._burst / (number - self._since + 1))
        answer = None
        if len(probabilities) < 2:
            label, best, log_odds = next(iter(probabilities), None), float(self._n_labels), 0.0
            risk = 1.0
            answer = self._earlier_answer(x)
            uncertain = answer is None
        else:
            label, second, best, log_odds = two_best(probabilities)
            doubt = math.log1p(_RARE / (self._known.get(second, 0.0) + 1.0))
            risk = decided = self._risk.risk(label, log_odds, doubt)
            if risk > self.threshold and (answer := self._earlier_answer(x)) is not None:
                decided = self._reuse_risk
            self._histogram.add(decided)
            uncertain = decided > self.threshold
            self._call_share += (uncertain - self._call_share) / self.span
        self._budget.gain(time)
        if number % _EVERY == 0 or number < _EARLY:
            self._choose_threshold()
        proposed, source, reason = label, "model", "confident"
        if answer is not None:
            proposed, source, reason = answer, "teacher", "duplicate"
        if uncertain:
            propensity = 1.0
        elif answer is not None:
            propensity = self._check_probability(first)
        else:
            propensity = self._audit_probability(risk, first)
        if propensity == 1.0:
            reason = "uncertain" if self._n_labels > 1 else "first"
        sent = propensity == 1.0 or uniform(self.seed, number) < propensity
        if sent and self._budget.is_spent:
            sent, reason, propensity = False, "budget", 0.0
        learned = False
        if sent:
            self.n_calls += 1
            self._budget.spend()
            if propensity < 1.0:
                self.n_audits += 1
                reason = "audit"
        elif reason == "duplicate":
            self.n_reused += 1
        elif (
            self._trains
            and not self.is_doubtful
            and confident_label(self.model, probabilities) is not None
        ):
            self.model.learn_one(x, label, w=SELF_TRAINED)
            learned = True
        self._audits.follow(number, propensity)
        status = "waiting" if sent else "decided"
        numbers = risk, propensity, log_odds, number
        return Decision(proposed, best, source, reason, status, learned, label, *numbers)

    def answer_one(self, x: Any, decision: Decision, label: Any, used: bool = False) -> Decision:
        """Learn the teacher's answer to a message, at any time after its decision.

        Parameters
        ----------
        x
            The message.
        decision
            Its decision, with `status` `"waiting"`, `"away"` or `"invalid"`.
        label
            The teacher's label.
        used
            Whether the model's decision was used before the answer came, so that the agreement
            counts it.

        Returns
        -------
        The decision with the teacher's label.

        Raises
        ------
        InputError
            If the message was not sent, or has an answer; or if the label or message is invalid.
        """
        if decision.status not in ("waiting", "away", "invalid"):
            raise InputError(
                f"message {decision.number} is not waiting for an answer: its status is "
                f"{decision.status!r}; answer decisions whose status is waiting, away or invalid"
            )
        label = check_label(label)
        self.model.learn_one(x, label)
        self.n_answers += 1
        self._known[label] = self._known.get(label, 0.0) + 1.0
        wrong = label != decision.model_label
        if decision.log_odds:
            self._learn_risk(decision, wrong)
        if decision.source == "teacher":
            self._learn_reuse(label != decision.label)
        if decision.propensity < 1.0 or used:
            differs = label != decision.label
            self._audits.add(decision.number, decision.propensity, differs, used)
        elif decision.status != "waiting":
            self._audits.take_in(decision.number)
        self.remember(x, label)
        return decision._replace(
            label=label,
            probability=0.0 if wrong else decision.probability,
            source="teacher",
            status="answered",
            learned=True,
        )

    def _receive(self, x: Any, decision: Decision, answer: Any) -> Decision:
        """Return a decision with the answer of the teacher, or with the reason of its failure."""
        if isinstance(answer, InvalidAnswerError):
            return self.fail_one(decision, "invalid")
        if isinstance(answer, TeacherError):
            return self.fail_one(decision, "away")
        return self.answer_one(x, decision, answer)

    def fail_one(self, decision: Decision, status: str) -> Decision:
        """Count that a waiting message has no answer; the model's decision stays.

        Parameters
        ----------
        decision
            Its decision.
        status
            `"away"` or `"invalid"`.
        """
        if status not in ("away", "invalid") or decision.status != "waiting":
            raise InputError(
                f"a decision that is {decision.status!r} cannot become {shown(status)}: give a "
                "waiting decision, and away or invalid"
            )
        self.n_away += status == "away"
        self.n_invalid += status == "invalid"
        self._audits.leave_out(decision.number)
        return decision._replace(status=status)

    # --- risk and threshold -------------------------------------------------------------------

    def _audit_probability(self, risk: float, first: float) -> float:
        """Return the probability of an audit: proportional to the deviation of the risk.

        The allocation of Neyman: the variance of the estimate is lowest for a number of audits.
        The probability is at least the risk, because errors below the threshold often come
        together, as in a campaign: the first ones are found, and teach the model.
        """
        target = (1.0 - self.agreement) if self.agreement is not None else 0.01
        share = _AUDITED * self._call_share * math.sqrt(risk / target)
        return min(1.0, max(self.audit_share, share, first, risk))

    def _earlier_answer(self, x: Any) -> Any:
        """Return the latest answer to a near-duplicate; None without one."""
        return self._answers.find(sketch_of(x)) if self.reuse_answers else None

    @property
    def _reuse_risk(self) -> float:
        """The risk that the teacher contradicts the answer to a near-duplicate.

        The share of contradictions among the near-duplicates that were sent, after 0.5 of 10.
        """
        return (self._contradicted + _CONTRADICTED) / (self._checked + _CHECKED)

    def _check_probability(self, first: float) -> float:
        """Return the probability that a near-duplicate is sent although its answer is reused."""
        self._reusable += 1
        early = _FIRST_REUSED / (self._reusable + _FIRST_REUSED)
        return max(self.audit_share, first, self._reuse_risk, early)

    def _learn_reuse(self, contradicts: bool) -> None:
        """Learn from a near-duplicate that was sent whether reused answers are right."""
        # Two answers with random errors contradict each other more often than their messages.
        noise = 2.0 * self.teacher_error * (1.0 - self.teacher_error)
        risk = self._reuse_risk
        excess = risk / (risk + noise * (1.0 - risk)) if contradicts else 0.0
        self._contradicted = _MEMORY * self._contradicted + excess
        self._checked = _MEMORY * self._checked + 1.0

    @property
    def is_doubtful(self) -> bool:
        """Whether recent answers were surprising: the model should not learn its own decisions."""
        recent = self.n_decisions - self._since < self.span
        return self._evidence > _TRUST or (self._burst > 1.0 and recent)

    def _choose_threshold(self) -> None:
        self._risk.expect(self._histogram.mean())
        if self.agreement is not None:
            reserve = _HARD_RESERVE if self._call_share > _HARD else _RESERVE
            allowed = (1.0 - self.agreement) * (1.0 - reserve)
            highest = self._histogram.threshold_of_errors(allowed, self._ratio())
            self.threshold = min(highest, _HIGHEST)
        elif self.call_price is not None and self.error_price is not None:
            self.threshold = min(1.0, self.call_price / self.error_price / self._ratio())
        else:
            self.threshold = self._histogram.threshold_of_calls(self._budget.share())

    def _ratio(self) -> float:
        """Return the number of errors per expected error below the threshold."""
        return (self._found + _RATIO_PRIOR * _RATIO) / (self._expected + _RATIO_PRIOR)

    def _learn_risk(self, decision: Decision, wrong: bool) -> None:
        """Learn the risk from an answer; return to caution if the answers contradict it."""
        risk = min(max(decision.risk, 1e-6), 1.0 - 1e-6)
        worse = max(_WORSE * risk / (1.0 - risk + _WORSE * risk), _SURPRISE)
        # The teacher contradicts a right label by a random error, and confirms a wrong one.
        error = self.teacher_error
        confirms = error / max(1, self._n_labels - 1)
        expected, alternative = (error + (1.0 - error - confirms) * r for r in (risk, worse))
        if wrong:
            erred = risk * (1.0 - confirms) / expected  # probability that the model erred
            gain = math.log(alternative / expected)
        else:
            erred = risk * confirms / (1.0 - expected)
            gain = math.log((1.0 - alternative) / (1.0 - expected))
        self._risk.learn(decision.model_label, decision.log_odds, erred)
        self._found *= _MEMORY
        self._expected *= _MEMORY
        if decision.propensity < 1.0 and decision.source == "model":
            self._found += erred
            self._expected += risk
        self._evidence = max(0.0, self._evidence + gain)
        if self._evidence > _ALARM:
            self._raise_alarm()

    def _raise_alarm(self) -> None:
        """Return to caution: audit more, and doubt the estimated risks."""
        self._evidence = 0.0
        self.n_alarms += 1
        self._since, self._burst = self.n_decisions, _BURST
        self._known.clear()
        self._risk.doubt()
        self._histogram.clear()

    # --- reports ------------------------------------------------------------------------------

    def agreement_estimate(self, last: int = 10_000, confidence: float = 0.95) -> Agreement:
        """Estimate the share of recent decisions that equal the teacher's.

        Messages with an answer agree. For the others, each audited error counts with
        (1 − q) / q, where q is the probability of its audit. Decisions whose probability is unknown
        do not count: those that the budget or an absent teacher left to the model.

        Parameters
        ----------
        last
            Number of decisions, 1 to 10,000.
        confidence
            Probability of the interval, between 0 and 1. The interval is conservative.
        """
        last = min(check_bound("last", last, 1), WINDOW)
        confidence = _check_open_share("confidence", confidence)
        return self._audits.estimate(self.n_decisions, last, self.audit_share, confidence)

    @property
    def call_share(self) -> float:
        """Share of all decisions that were sent."""
        return self.n_calls / max(1, self.n_decisions)

    @property
    def cost(self) -> float:
        """Cost of all calls, in the unit of `call_price`, or as the teacher counts it."""
        if self.call_price is not None:
            return float(self.call_price * self.n_calls)
        return float(getattr(self.teacher, "cost", 0.0))

    # --- files --------------------------------------------------------------------------------

    def saved_parameters(self) -> dict[str, Any]:
        """Return the parameters by name, without the model and the teacher."""
        return {name: getattr(self, name) for name in _PARAMETERS}

    def to_bytes(self, state: Mapping[str, Any] | None = None) -> bytes:
        """Return the bytes of a file: the model, the estimates and the budget.

        A file does not contain the teacher. Only models of streamnb have a file. `state` is as in
        `save`.
        """
        if not isinstance(self.model, NaiveBayes):
            raise InputError(f"a {type(self.model).__name__} has no model file")
        header = {"parameters": self.saved_parameters(), "answers": self._answers.to_json()}
        header |= self.estimates() | {"novelty": self.words()}
        header |= persistence.state_header(state)
        return persistence.packed(header, self.model.to_bytes(), MAGIC, VERSION)

    @classmethod
    def from_bytes(cls, data: bytes, tokenizer: Any = None, n_jobs: int | None = None) -> Self:
        """Return the cascade that `to_bytes` wrote, without its teacher: set `teacher`.

        Raises
        ------
        ModelFileError
            If the bytes are truncated, altered, or have another version or class.
        """
        header, rest = persistence.unpacked(data, MAGIC, VERSION)
        with persistence.readable():
            model = NaiveBayes.from_bytes(rest, tokenizer, n_jobs)
            made = cls(model, **header["parameters"])
            made.restore(header)
            made.restore_words(header["novelty"])
            made._answers.restore(header["answers"])
            persistence.keep_state(made, header)
        return made

    def estimates(self) -> dict[str, Any]:
        """Return everything that the cascade has estimated, as plain values.

        With `words` and `remember`, a caller that stores the model itself can continue.
        """
        return {
            "state": {name: getattr(self, name) for name in _STATE},
            "known": [[to_json(each), n] for each, n in self._known.items()],
            "risk": self._risk.to_json(),
            "histogram": self._histogram.to_json(),
            "audits": self._audits.to_json(),
            "budget": self._budget.to_json(),
        }

    def restore(self, estimates: Mapping[str, Any]) -> None:
        """Restore the values of `estimates`; any error means that they are invalid."""
        state = estimates["state"]
        if set(state) != set(_STATE):
            raise ModelFileError("corrupt model file: the state of the cascade is incomplete")
        for name, value in state.items():
            known = getattr(self, name)
            if type(value) is not type(known):
                raise ModelFileError(f"corrupt model file: invalid {name}")
            setattr(self, name, value)
        self._known = {from_json(each): float(n) for each, n in estimates["known"]}
        self._risk.restore(estimates["risk"])
        self._histogram.restore(estimates["histogram"])
        self._audits.restore(estimates["audits"])
        self._budget.restore(estimates["budget"])

    def words(self) -> list[Any]:
        """Return the words of recent messages as plain values, some kilobytes."""
        return self._novelty.to_json()

    def restore_words(self, words: Any) -> None:
        """Restore the words that `words` returned; any error means that they are invalid."""
        self._novelty.restore(words)

    def remember(self, x: Any, label: Any) -> None:
        """Reuse the answer to an earlier message for its near-duplicates."""
        if self.reuse_answers:
            self._answers.add(sketch_of(x), label)


_PARAMETERS = (
    *("agreement", "budget", "calls_per_day", "call_price", "error_price", "teacher_error"),
    *("audit_share", "span", "self_training", "reuse_answers", "seed"),
)
_STATE = (
    *("n_decisions", "n_calls", "n_audits", "n_answers", "n_invalid", "n_away", "n_reused"),
    *("n_alarms", "threshold", "_n_labels", "_since", "_burst"),
    *("_call_share", "_found", "_expected", "_evidence"),
    *("_reusable", "_checked", "_contradicted"),
)
