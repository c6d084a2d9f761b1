"""A model that forgets faster for a while when its errors drift."""

from __future__ import annotations

from typing import Any, ClassVar

from river import base

from streamnb.errors import InputError, ModelFileError
from streamnb.parameters import check_above_zero, check_bound
from streamnb.watched import Watched, counts_of

__all__ = ["DriftForgetting"]


class DriftForgetting(Watched):
    """A model with a half-life that is shortened for a while after an alarm of drift.

    Decisions are the model's. Before it learns a message it predicts it, and a detector watches
    these errors (`DriftAlarm`). From an alarm on, with each of the next `span` messages that are
    learned, the first of them the one that raised it, all that was learned so far counts for
    2^(−1 / short_half_life) of it besides what the model's own half-life leaves. So after `span`
    messages 2^(−span / short_half_life) is left of what came before the alarm. An alarm while one
    is at work begins the `span` anew.

    Beside `Challenger` it needs no second model and no contest, keeps a part of what was learned,
    and acts at once: on a false alarm, too.

    Parameters
    ----------
    model
        A model of this package with a `half_life`: a large one where nothing else is forgotten.
    detector
        `"adwin"` or `"ddm"`.
    short_half_life
        Messages after which all is half, besides, while an alarm is at work; above 0.
    span
        Messages that an alarm is at work, 1 or more. With the defaults a 1024th is left of what
        came before, and nearly all of what comes after. Half-lives of 10 to 100 over 25 to 400
        messages, which forget of both, were worse on the topics of `make drift`; 5 messages, which
        leave a 32nd, were as good there and worse after 3,000 posts (docs/internals/drift.md).
        Other topics of that collection and R8 confirm it.

    Attributes
    ----------
    alarm
        The alarm of drift on the model's errors.

    Raises
    ------
    InputError
        If a parameter is out of range, or the model has no half-life.

    Examples
    --------
    >>> from streamnb import MNB
    >>> from streamnb.drift_forgetting import DriftForgetting
    >>> model = DriftForgetting(MNB(half_life=1_000_000), short_half_life=10, span=50)
    >>> stream = [("win cash", "spam"), ("see you", "ham")] * 200
    >>> for x, y in [*stream, *((x, "ham" if y == "spam" else "spam") for x, y in stream)]:
    ...     model.learn_one(x, y)
    >>> model.events, model.predict_one("win cash")
    ({'shortened': 1}, 'ham')

    References
    ----------
    J. Gama, I. Žliobaitė, A. Bifet, M. Pechenizkiy and A. Bouchachia (2014). A survey on concept
    drift adaptation. ACM Computing Surveys 46: gradual forgetting, with a rate that an alarm sets.
    """

    _magic: ClassVar[bytes] = b"streamDF"

    def __init__(
        self,
        model: base.Classifier,
        detector: str = "adwin",
        short_half_life: float = 1,
        span: int = 10,
    ) -> None:
        super().__init__(model, detector)
        if self.half_life is None or not hasattr(model, "fade"):
            raise InputError(
                "model must have a half-life that can be shortened, as MNB(half_life=1000000): a "
                "large one where nothing else is to be forgotten"
            )
        self.short_half_life = check_above_zero("short_half_life", short_half_life)
        self.span = check_bound("span", span, least=1)
        self._left = 0  # messages that the last alarm is still at work

    @classmethod
    def _unit_test_params(cls) -> Any:
        from streamnb.models import MNB

        yield {"model": MNB(half_life=500), "short_half_life": 20, "span": 60}

    def learn_one(self, x: Any, y: Any, **kwargs: Any) -> None:
        """Learn one message; where its decision raises the alarm, forgetting is faster from here.

        Raises
        ------
        InputError
            If the model refuses it; nothing is then changed.
        """
        decision = self.model.predict_one(x)
        self.model.learn_one(x, y, **kwargs)
        if decision is not None and self.alarm.update(decision != y):
            self._left = self.span
        self._follow(x, y, **kwargs)

    def unlearn_one(self, x: Any, y: Any, **kwargs: Any) -> None:
        """Unlearn one message by the weight that is left of it, as the model does.

        Raises
        ------
        NotLearnedError
            If less is left of it; the model is unchanged.
        """
        self.model.unlearn_one(x, y, **kwargs)

    def _follow(self, x: Any, y: Any, **kwargs: Any) -> None:
        if self._left:
            self.model.fade(1 / self.short_half_life)
            self._left -= 1

    @property
    def events(self) -> dict[str, int]:
        """How often the half-life was shortened."""
        return {"shortened": self.alarm.count}

    def _state(self) -> tuple[dict[str, Any], bytes]:
        return {"left": self._left}, b""

    def _restore(self, header: dict[str, Any], rest: bytes, tokenizer: Any) -> None:
        (self._left,) = counts_of(header, "left")
        if self._left > self.span or rest:
            raise ModelFileError("the model can't be read: an alarm is at work longer than it may")
