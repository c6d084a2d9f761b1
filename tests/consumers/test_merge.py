"""Messages and labels of two logs are merged by their timestamps, whenever they are read."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from streamnb_consumers.kafka.merge import Merge
from streamnb_consumers.pipeline.entries import MOST_AHEAD, KeptEntries, WindowEntry
from streamnb_consumers.records import Partition, Record
from support.profiles import also_in_soak

SMS, LABELS = Partition("sms", 0), Partition("labels", 0)


def log(place: Partition, times: Sequence[int | None]) -> list[Record]:
    role = "feedback" if place is LABELS else "message"
    return [
        Record(place, at, b"%d" % at, timestamp=time, role=role)  # type: ignore[arg-type]
        for at, time in enumerate(times)
    ]


def run(
    messages: list[Record], labels: list[Record], generator: random.Random, room: int = 1_000
) -> list[Record]:
    """Read two complete logs in pieces of random sizes; return the records as delivered."""
    merge, delivered = Merge(), list[Record]()
    read = {SMS: 0, LABELS: 0}
    for _ in range(100_000):
        for place, records, add in (
            (SMS, messages, merge.add_messages),
            (LABELS, labels, merge.add_labels),
        ):
            if place is SMS or not merge.is_full:
                count = generator.choice([0, 0, 1, 5, 30])
                add(records[read[place] : read[place] + count])
                read[place] = min(len(records), read[place] + count)
        if merge.wants_messages:
            merge.messages_end(len(messages))
        if merge.wants_labels:
            merge.labels_end(len(labels))
        delivered += merge.take(generator.choice([1, 7, 50]), read[LABELS], read[SMS], room)
        if len(delivered) == len(messages) + len(labels):
            return delivered
    raise AssertionError(f"{len(delivered)} of {len(messages) + len(labels)} records")


def sorted_by_time(messages: list[Record], labels: list[Record]) -> list[Record]:
    """Return the records by time; a message precedes a label of its time."""
    return sorted([*messages, *labels], key=lambda each: (each.timestamp, each.role == "feedback"))


@pytest.mark.parametrize("seed", also_in_soak(range(20), range(20, 500)))
def test_the_order_depends_only_on_the_logs(seed: int) -> None:
    generator = random.Random(seed)
    times = [sorted(generator.choices(range(200), k=generator.randrange(150))) for _ in "ab"]
    messages, labels = log(SMS, times[0]), log(LABELS, times[1])
    assert run(messages, labels, generator) == sorted_by_time(messages, labels)


@pytest.mark.parametrize("seed", range(5))
def test_a_label_in_the_future_does_not_block_the_next_ones(seed: int) -> None:
    messages, labels = log(SMS, range(100)), log(LABELS, [10, 10**15, 20, 30])
    found = run(messages, labels, random.Random(seed))
    places = [at for at, each in enumerate(found) if each.role == "feedback"]
    assert places[0] == 11
    # It is read together with the next ones, or before them.
    assert [found[at].offset for at in places] == [0, 1, 2, 3]
    assert places[2] >= 22
    assert places[3] >= 33


def test_no_record_is_lost_without_timestamps() -> None:
    for times in ([None] * 40, list(range(40))):
        messages, labels = log(SMS, [None] * 40), log(LABELS, times)
        found = run(messages, labels, random.Random(1))
        assert [each for each in found if each.role == "message"] == messages
        assert [each for each in found if each.role == "feedback"] == labels


def test_labels_wait_if_the_window_has_no_room() -> None:
    """A message whose clock is ahead lets no more labels pass than the window accepts."""
    messages, labels = log(SMS, [10**15, 1, 2, 3]), log(LABELS, range(5, 100))
    merge = Merge()
    merge.add_messages(messages)
    merge.add_labels(labels)
    merge.labels_end(len(labels))
    assert merge.take(500, len(labels), len(messages), room=10) == labels[:10]
    assert merge.take(3, len(labels), len(messages), room=0) == messages[:3]
    assert merge.take(1, len(labels), len(messages), room=9) == messages[3:]


def test_a_message_waits_for_the_labels_that_were_there() -> None:
    merge = Merge()
    merge.add_messages(log(SMS, [7]))
    assert merge.wants_labels
    assert not merge.take(9, labels_at=0, messages_at=1, room=9)
    merge.labels_end(2)
    assert not merge.wants_labels
    assert not merge.take(9, labels_at=1, messages_at=1, room=9)
    merge.add_labels(log(LABELS, [6, 8]))
    assert [each.timestamp for each in merge.take(9, labels_at=2, messages_at=1, room=9)] == [6, 7]
    assert merge.wants_messages
    merge.messages_end(2)
    assert not merge.take(9, labels_at=2, messages_at=1, room=9)
    assert [each.timestamp for each in merge.take(9, labels_at=2, messages_at=2, room=9)] == [8]


def test_reading_ahead_is_bounded() -> None:
    merge = Merge()
    merge.add_labels(log(LABELS, range(MOST_AHEAD - 1)))
    assert not merge.is_full
    merge.add_messages(log(SMS, range(2 * MOST_AHEAD)))
    merge.add_labels(log(LABELS, range(MOST_AHEAD))[-1:])
    assert merge.is_full
    assert not merge.wants_labels  # enough of them are known
    taken = merge.take(MOST_AHEAD + 1, MOST_AHEAD, 2 * MOST_AHEAD, room=MOST_AHEAD)
    assert len(taken) == MOST_AHEAD + 1
    assert merge.is_full
    merge.take(10, MOST_AHEAD, 2 * MOST_AHEAD, room=MOST_AHEAD)
    assert not merge.is_full
    large = Merge()
    large.add_labels([Record(LABELS, 0, bytes(2**24))])
    assert large.is_full


def test_only_labels_that_follow_messages_are_announced() -> None:
    """The messages of the other ones can't leave the window before."""
    merge = Merge()
    merge.add_labels(log(LABELS, [1, 3, 9]))
    merge.add_messages(log(SMS, [2, 4]))
    merge.labels_end(3)
    assert len(merge.take(9, 3, 2, room=9)) == 4
    assert [each.timestamp for each in merge.take_new()] == [3, 9]
    assert not merge.take_new()


def test_kept_messages_are_bounded_by_their_labels_and_by_memory() -> None:
    entry = WindowEntry(b'"hello"', "ham", -1.0)
    kept = KeptEntries(3 * entry.size("m0"))
    for at in range(9):
        kept.expect(f"m{at}", at)
        kept.expect(f"m{at}", at + 100)
        kept.expect(f"m{at}", at + 100)  # read again
    assert [kept.keep(f"m{at}", entry) for at in range(9)] == [True] * 4 + [False] * 5
    assert kept.is_crowded
    assert not kept.keep("other", entry)
    assert (kept.settle(0), kept.settle(100), kept.settle(100)) == (None, "m0", None)
    assert kept.get("m0") is None
    assert kept.get("m1") is entry
    assert (kept.settle(8), kept.settle(108)) == (None, None)  # it was not kept
