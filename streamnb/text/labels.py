"""Labels and the small ids under which the core knows their classes."""

from __future__ import annotations

import base64
from collections.abc import Hashable
from typing import Any

import numpy as np

from streamnb.errors import InputError

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
            f"a label must be hashable (a str, int, bool …), not {type(label).__name__}: {label!r}"
        ) from None
    if label != label:
        raise InputError(f"{label!r} is no label: it does not equal itself")
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


class Labels:
    """A two-way map between labels and class ids; ids of forgotten labels are used again.

    Attributes
    ----------
    names
        The label of each class id; None where the id is free.
    ids
        The class id of each label.
    order
        Labels in sorted order, each with its class id.

    Examples
    --------
    >>> labels = Labels()
    >>> labels.add("spam"), labels.add("ham")
    (0, 1)
    >>> labels.order
    [('ham', 1), ('spam', 0)]
    >>> labels.ranks()
    [1, 0]
    """

    def __init__(self, names: list[Label] | None = None) -> None:
        self.names: list[Label | None] = []
        self.ids: dict[Label, int] = {}
        self.order: list[tuple[Label, int]] = []
        for name in names or []:
            self.add(name)

    def ids_of(self, labels: list[Label]) -> tuple[list[int], list[Label]]:
        """Return the class id of each label of a batch, and the new labels among them.

        New labels get the ids that `add` will give them, in this order.
        """
        try:
            return [self.ids[label] for label in labels], []
        except (KeyError, TypeError):
            pass
        try:
            distinct = dict.fromkeys(labels)
        except TypeError:
            distinct = dict.fromkeys(map(check_label, labels))
        ids = dict(self.ids)
        new: list[Label] = []
        for label in distinct:
            checked = check_label(label)
            if checked not in ids:
                ids[checked] = self.free_id(skip=len(new))
                new.append(checked)
        return [ids[label] for label in labels], new

    def free_id(self, skip: int = 0) -> int:
        """Return the id that the next label but `skip` will get."""
        free = [class_id for class_id, name in enumerate(self.names) if name is None]
        return free[skip] if skip < len(free) else len(self.names) + skip - len(free)

    def add(self, label: Label) -> int:
        """Give a new label an id."""
        class_id = self.free_id()
        if class_id == len(self.names):
            self.names.append(label)
        else:
            self.names[class_id] = label
        self.ids[label] = class_id
        self._sort()
        return class_id

    def remove(self, label: Label) -> None:
        """Forget a label whose class has no documents left."""
        self.names[self.ids.pop(label)] = None
        self._sort()

    def _sort(self) -> None:
        # Labels that can't be sorted come last, as they came.
        self.order = [(label, self.ids[label]) for label in sorted(self.ids, key=sort_key)]

    def ranks(self) -> list[int]:
        """Return for each class id the place of its label in sorted order."""
        places = {class_id: place for place, (_, class_id) in enumerate(self.order)}
        return [places.get(class_id, len(places)) for class_id in range(len(self.names))]


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
            return ["int", str(int(label))]
        case float():
            return ["float", label.hex()]
        case str():
            return ["str", str(label)]
        case bytes():
            return ["bytes", base64.b64encode(label).decode()]
        case tuple():
            return ["tuple", *map(to_json, label)]
    raise InputError(
        f"a model file holds labels of type str, int, float, bool, bytes and tuples of these, "
        f"not {type(label).__name__}: {label!r}"
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
            return base64.b64decode(value, validate=True)
        case ["tuple", *values]:
            return tuple(map(from_json, values))
    raise ValueError(f"no label: {described!r}")
