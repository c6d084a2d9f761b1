"""Labels and the small ids under which the core knows their classes."""

from __future__ import annotations

import contextlib
import heapq
import itertools
from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from streamnb import _core
from streamnb.errors import InputError, shown
from streamnb.text.ranking import Ranking

Label = Hashable


def check_label(label: Any) -> Label:
    """Return the label as a plain Python value.

    Raises
    ------
    InputError
        If it is None (which means "no prediction"), not hashable, or NaN (which equals nothing).

    Examples
    --------
    >>> check_label(np.bool_(True))
    True
    """
    if isinstance(label, np.generic):
        label = label.item()
    if label is None:
        raise InputError("None is no label: it stands for 'no prediction'; give each message one")
    try:
        hash(label)
    except TypeError:
        raise InputError(
            f"a label must be hashable (a str, int, bool …), not {type(label).__name__}: "
            f"{shown(label)}"
        ) from None
    if label != label:
        raise InputError(f"{shown(label)} is no label: it does not equal itself")
    return label  # type: ignore[no-any-return]


def sort_key(label: Label) -> tuple[Any, ...]:
    """Order labels of mixed types: numbers, strings, bytes, tuples; others not at all.

    Examples
    --------
    >>> sorted(["spam", 2, "ham", True], key=sort_key)
    [True, 2, 'ham', 'spam']
    """
    match label:
        case bool() | int() | float():
            return (0, label)
        case str():
            return (1, label)
        case bytes():
            return (2, label)
        case tuple():
            return (3, *map(sort_key, label))
    return (4,)


class _Coming(dict[Label, int]):
    """The class ids of the labels that were asked for, where new ones get the ids that are free."""

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
    """A two-way map between labels and class ids; ids of forgotten labels are used again.

    A label that comes or goes changes little more than what is its own, however many there are.

    Attributes
    ----------
    names
        The label of each class id; None where the id is free.
    ids
        The class id of each label.
    handles
        The same for learning in passing: the class id, and in the bits above 32 how many labels had
        it before. The core refuses a handle whose label is gone.
    changes
        Grows with each change, and at its beginning and end; odd within one.

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

    def __init__(self, names: list[Label] | None = None) -> None:
        self.names: list[Label | None] = []
        self.ids: dict[Label, int] = {}
        self.handles: dict[Label, int] = {}
        self.changes = 0
        self._ranking = Ranking()
        # The labels in order, as of so many changes.
        self._order: tuple[int, list[tuple[Label, int]]] = (0, [])
        # Ids that are free, a heap, with how many labels had each; the ids above are new.
        self._free: list[int] = []
        self._owners: list[int] = []
        for name in names or []:
            self.add(name)

    def ids_of(self, labels: list[Label]) -> tuple[array[int], dict[Label, int]]:
        """Return the class id of each label of a batch, and the new labels among them with theirs.

        New labels get the ids that `add` will give them, in this order. The ids are of type "I".
        """
        try:
            return array("I", _core.class_ids(labels, self.ids)), {}
        except (KeyError, TypeError):
            pass
        free = itertools.chain(sorted(self._free), itertools.count(len(self._owners)))
        coming = _Coming(self.ids, free)
        try:
            class_ids = _core.class_ids(labels, coming)
        except TypeError:  # one can't be hashed: refused, unless it has a plain value that can be
            class_ids = _core.class_ids(list(map(check_label, labels)), coming)
        return array("I", class_ids), coming.new

    def free_id(self) -> int:
        """Return the id that the next label will get."""
        return self._free[0] if self._free else len(self._owners)

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Mark the time in which labels and the classes of a store are not the same."""
        self.changes += 1
        try:
            yield
        finally:
            self.changes += 1

    def announce(self, new: Mapping[Label, int]) -> None:
        """Name new labels that are about to be learned: who predicts them finds them."""
        for label, class_id in new.items():
            self.names.extend([None] * (class_id + 1 - len(self.names)))
            self.names[class_id] = label

    def add_known(self, new: Iterable[Label], known: Iterable[bool]) -> None:
        """Give those new labels an id that have messages: the first of a batch, if not all."""
        for label, has_messages in zip(new, known, strict=True):
            if has_messages:
                self.add(label)

    def add(self, label: Label) -> int:
        """Give a new label an id."""
        if self._free:
            class_id = heapq.heappop(self._free)
        else:
            class_id = len(self._owners)
            self._owners.append(0)
        self.announce({label: class_id})
        # Labels that can't be sorted come last, as they came.
        self._ranking.add(sort_key(label), (label, class_id))
        self.ids[label] = class_id
        self.handles[label] = self._owners[class_id] << 32 | class_id
        self.changes += 2
        return class_id

    def remove(self, label: Label) -> None:
        """Forget a label whose class has no documents left."""
        del self.handles[label]
        class_id = self.ids.pop(label)
        self._ranking.remove(sort_key(label), (label, class_id))
        self.names[class_id] = None
        self._owners[class_id] += 1
        heapq.heappush(self._free, class_id)
        self.changes += 2

    def take_ranks(self) -> list[tuple[int, int]]:
        """Return the class ids whose ranks changed since this was called, with their ranks.

        Ranks are numbers in the order of the labels.
        """
        moved, self._ranking.moved = self._ranking.moved, {}
        return [(class_id, rank) for (_, class_id), rank in moved.items()]

    def ranks_ahead(self, new: Mapping[Label, int]) -> list[tuple[int, int]]:
        """Return what `take_ranks` will once these new labels are added.

        Messages of a batch are learned by scores, whose ties the order of the labels breaks: those
        that come with the batch have their places in it from their first messages on.
        """
        items = [(sort_key(label), (label, class_id)) for label, class_id in new.items()]
        return [(class_id, rank) for (_, class_id), rank in self._ranking.ahead(items).items()]

    @property
    def order(self) -> list[tuple[Label, int]]:
        """Labels in sorted order, each with its class id; not to be changed."""
        at, order = self._order
        if at != (before := self.changes):
            order = list(self._ranking)
            if self.changes == before:
                self._order = before, order
        return order


def to_json(label: Label) -> list[Any]:
    """Describe a label so that `from_json` gives the same back.

    Raises
    ------
    InputError
        If the label is of a type that a model file can't hold.

    Examples
    --------
    >>> from_json(to_json(("spam", 1.5, b"x")))
    ('spam', 1.5, b'x')
    """
    match label:
        case bool():
            return ["bool", label]
        case int():
            try:
                return ["int", str(int(label))]
            except ValueError:
                raise InputError(
                    f"a model file can't hold a label that is {shown(label)}"
                ) from None
        case float():
            return ["float", label.hex()]
        case str():
            return ["str", str(label)]
        case bytes():
            import base64  # here: labels are seldom bytes

            return ["bytes", base64.b64encode(label).decode()]
        case tuple():
            return ["tuple", *map(to_json, label)]
    raise InputError(
        f"a model file holds labels of type str, int, float, bool, bytes and tuples of these, "
        f"not {type(label).__name__}: {shown(label)}"
    )


def from_json(described: list[Any]) -> Label:
    """Return the label that `to_json` described."""
    match described:
        case ["bool", bool(value)]:
            return value
        case ["int", str(value)]:
            return int(value)
        case ["float", str(value)]:
            return float.fromhex(value)
        case ["str", str(value)]:
            return value
        case ["bytes", str(value)]:
            import base64

            return base64.b64decode(value, validate=True)
        case ["tuple", *values]:
            return tuple(map(from_json, values))
    raise ValueError(f"no label: {described!r}")
