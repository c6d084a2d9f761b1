"""Labels, and the small ids that the core uses for their classes."""

from __future__ import annotations

import base64
import contextlib
import heapq
import itertools
from array import array
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from streamnb import _core
from streamnb.errors import InputError, shown
from streamnb.text.ranking import Ranking
from streamnb.text.records import read_each

Label = Hashable
MessageLabel = str | tuple[str, ...]
"""The label of a message, or the sorted labels of a message with any number of them."""
if TYPE_CHECKING:
    from typing_extensions import TypeVar  # only Python 3.13 has defaults

    L = TypeVar("L", bound=Hashable, default=Hashable)
else:
    from typing import TypeVar

    L = TypeVar("L")
"""The type of a model's labels: `OnlineNB[str]`."""


class _Every:
    """The type of `EVERY`."""

    def __repr__(self) -> str:
        return "every message"


EVERY = _Every()
"""The class of all messages, in a model of several labels. It comes before all labels."""


def label_names(label: MessageLabel | None) -> tuple[str, ...]:
    """Return the single labels.

    Examples
    --------
    >>> label_names("spam"), label_names(("corn", "wheat")), label_names(None)
    (('spam',), ('corn', 'wheat'), ())
    """
    if isinstance(label, tuple):
        return label
    return () if label is None else (label,)


def check_label(label: Any) -> Any:
    """Return the label as a plain Python value.

    Raises
    ------
    InputError
        If it is missing (None, NaN, NA), or not hashable.

    Examples
    --------
    >>> check_label(np.bool_(True))
    True
    """
    if isinstance(label, np.generic):
        label = label.item()
    try:
        hash(label)
    except TypeError:
        raise InputError(
            f"a label must be hashable (a str, int, bool …), not {type(label).__name__}: "
            f"{shown(label)}"
        ) from None
    try:
        missing = label is None or bool(label != label)
    except TypeError:  # of pandas.NA
        missing = True
    if missing:
        raise InputError(
            f"a label must not be {shown(label)}, which means 'no label': leave such messages out, "
            "as in known = y.notna(); model.learn_many(X[known], y[known])"
        )
    return label


def sort_key(label: Label) -> tuple[Any, ...]:
    """Return a key that orders labels of mixed types: numbers, strings, bytes, tuples, others.

    Examples
    --------
    >>> sorted(["spam", 2, "ham", True], key=sort_key)
    [True, 2, 'ham', 'spam']
    """
    match label:
        case _Every():
            return (-1,)
        case bool() | int() | float():
            return (0, label)
        case str():
            return (1, label)
        case bytes():
            return (2, label)
        case tuple():
            return (3, *map(sort_key, label))
    return (4,)


class _BatchIds(dict[Label, int]):
    """The class ids of the labels of a batch; new labels get free ids."""

    def __init__(self, known: Mapping[Label, int], free: Iterator[int]) -> None:
        super().__init__()
        self.new: dict[Label, int] = {}
        self._known = known
        self._free = free

    def __missing__(self, label: Label) -> int:
        checked = check_label(label)
        class_id = self._known.get(checked)
        if class_id is None and checked not in self.new:
            self.new[checked] = next(self._free)
        self[label] = found = self.new[checked] if class_id is None else class_id
        return found


class Labels:
    """A two-way map between labels and class ids; ids of removed labels are reused.

    The cost of adding or removing a label hardly depends on the number of labels.

    Attributes
    ----------
    names
        The label of each class id; None if the id is free.
    ids
        The class id of each label.
    handles
        The class id of each label, with the number of its earlier labels in the bits above 32. The
        core refuses the handle of a removed label.
    changes
        Increases at the beginning and the end of each change; odd during a change.

    Examples
    --------
    >>> labels = Labels()
    >>> labels.add("spam"), labels.add("ham")
    (0, 1)
    >>> labels.order
    [('ham', 1), ('spam', 0)]
    >>> ranks = dict(labels.take_ranks())
    >>> ranks[1] < ranks[0]
    True
    """

    changes: int

    def __init__(self, names: list[Label] | None = None) -> None:
        self.names: list[Any] = []
        self.ids: dict[Label, int] = {}
        self.handles: dict[Label, int] = {}
        self.changes = 0
        self._ranking = Ranking()
        # The sorted labels, with the value of `changes` when they were sorted.
        self._order: tuple[int, list[tuple[Any, int]]] = (0, [])
        self._free: list[int] = []  # a heap
        # The number of earlier labels of each id.
        self._owners: list[int] = []
        for name in names or []:
            self.add(name)

    def ids_of(self, labels: list[Label]) -> tuple[array[int], dict[Label, int]]:
        """Return the class id of each label of a batch, and the new labels with their ids.

        New labels get the ids that `add` will assign in this order. The array has the type "I".
        """
        try:
            return array("I", _core.class_ids(labels, self.ids)), {}
        except (KeyError, TypeError):
            pass
        free = itertools.chain(sorted(self._free), itertools.count(len(self._owners)))
        batch_ids = _BatchIds(self.ids, free)
        try:
            class_ids = _core.class_ids(labels, batch_ids)
        except (InputError, TypeError):  # invalid, or only the plain value is hashable
            class_ids = _core.class_ids(read_each(labels, check_label, "label"), batch_ids)
        return array("I", class_ids), batch_ids.new

    def free_id(self) -> int:
        """Return the id of the next new label."""
        return self._free[0] if self._free else len(self._owners)

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Mark the time during which the labels differ from the classes of the store."""
        self.changes += 1
        try:
            yield
        finally:
            self.changes += 1

    def announce(self, new: Mapping[Label, int]) -> None:
        """Name new labels that are about to be learned, so that predictions find them."""
        for label, class_id in new.items():
            self.names.extend([None] * (class_id + 1 - len(self.names)))
            self.names[class_id] = label

    def add(self, label: Label) -> int:
        """Add a new label and return its id."""
        if self._free:
            class_id = heapq.heappop(self._free)
        else:
            class_id = len(self._owners)
            self._owners.append(0)
        self.announce({label: class_id})
        # Labels that cannot be sorted come last, in the order of arrival.
        self._ranking.add(sort_key(label), (label, class_id))
        self.ids[label] = class_id
        self.handles[label] = self._owners[class_id] << 32 | class_id
        self.changes += 2
        return class_id

    def remove(self, label: Label) -> None:
        """Remove a label whose class has no documents left."""
        del self.handles[label]
        class_id = self.ids.pop(label)
        self._ranking.remove(sort_key(label), (label, class_id))
        self.names[class_id] = None
        self._owners[class_id] += 1
        heapq.heappush(self._free, class_id)
        self.changes += 2

    def take_ranks(self) -> list[tuple[int, int]]:
        """Return the class ids whose ranks changed since the last call, with their ranks.

        Ranks are numbers in the order of the labels.
        """
        moved, self._ranking.moved = self._ranking.moved, {}
        return [(class_id, rank) for (_, class_id), rank in moved.items()]

    def ranks_ahead(self, new: Mapping[Label, int]) -> list[tuple[int, int]]:
        """Return the result of `take_ranks` after these new labels are added.

        Some models score each message of a batch before they learn it. The order of the labels
        breaks ties, so new labels need their ranks from their first message on.
        """
        items = [(sort_key(label), (label, class_id)) for label, class_id in new.items()]
        return [(class_id, rank) for (_, class_id), rank in self._ranking.ahead(items).items()]

    @property
    def order(self) -> list[tuple[Any, int]]:
        """The sorted labels with their class ids; do not change the list."""
        at, order = self._order
        if at != (before := self.changes):
            order = list(self._ranking)
            if self.changes == before:
                self._order = before, order
        return order


# Types of labels in model files, the type of their values in JSON, and how to write and read them.
# A bool is an int, so it comes first.
_CODECS: dict[type, tuple[type, Callable[[Any], Any], Callable[[Any], Label]]] = {
    bool: (bool, bool, bool),
    int: (str, lambda label: str(int(label)), int),
    float: (str, float.hex, float.fromhex),
    str: (str, str, str),
    bytes: (
        str,
        lambda label: base64.b64encode(label).decode(),
        lambda value: base64.b64decode(value, validate=True),
    ),
}


def to_json(label: Label) -> list[Any]:
    """Describe a label as plain values for `from_json`.

    Raises
    ------
    InputError
        If a model file cannot contain labels of this type.

    Examples
    --------
    >>> from_json(to_json(("spam", 1.5, b"x")))
    ('spam', 1.5, b'x')
    """
    if isinstance(label, tuple):
        return ["tuple", *map(to_json, label)]
    for kind, (_, written, _) in _CODECS.items():
        if isinstance(label, kind):
            try:
                return [kind.__name__, written(label)]
            except ValueError:  # Python writes no int of more than 4,300 digits
                raise InputError(
                    f"a model file cannot contain the label {shown(label)}: give a smaller number"
                ) from None
    raise InputError(
        f"a label in a model file must be a str, int, float, bool, bytes or a tuple of these, "
        f"not {type(label).__name__}: {shown(label)}"
    )


def from_json(described: list[Any]) -> Label:
    """Return the label that `to_json` described."""
    name, *values = described
    if name == "tuple":
        return tuple(map(from_json, values))
    for kind, (stored, _, read) in _CODECS.items():
        if kind.__name__ == name and len(values) == 1 and isinstance(values[0], stored):
            return read(values[0])
    raise ValueError(f"invalid label: {described!r}")
