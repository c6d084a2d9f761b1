"""A campaign: kills, freezes and ordinary operations during a stream of messages.

A seed determines the events, their targets and their times. The progress of each worker at that
time is random, and that is the purpose. Workers that exit with a "restart me" status are restarted,
as a supervisor would do.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import random
import signal
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from support.broker import Broker
from support.brokers.cluster import BrokerCluster
from support.scenes.deaths import kill_broker
from support.scenes.operations import OPERATIONS
from support.scenes.scene import (
    Message,
    Scene,
    Worker,
    expected_model,
    expected_training,
    faults,
    sms,
)
from support.scenes.standing import standing

# They keep their name in the group and in transactions; others are new members after each start.
LASTING = {"a", "b"}
NAMES = "abcd"
PARTITIONS = 6
SESSION, TRANSACTION = 3.0, 4.0  # seconds
FREEZE = 6.0  # past both, and past the broker's search for transactions that are too old
# An expired session or transaction, or a hanging call: statuses that ask for a restart.
RESTARTED = (3, 70)
# A transaction of a killed worker may time out just then (`deaths`). If workers are not ready after
# this number of seconds, the broker is restarted.
UNDECIDED = 45.0
PATIENCE = 180.0  # seconds until a worker that is not ready then is a failure


@dataclasses.dataclass(frozen=True)
class Plan:
    """Events of a campaign.

    Attributes
    ----------
    kills
        Number of kills (SIGKILL) of a worker, which is restarted at once.
    freezes
        Number of freezes (SIGSTOP) longer than a session and a transaction, in pairs.
    broker_kills
        Number of kills of the broker, which is restarted.
    operations
        Number of ordinary operations (`support.scenes.operations`), each kind equally often.
    messages
        Number of messages.
    pause
        Mean seconds between events, without the waits of the events.
    seed
        Seed of the random choices.
    """

    kills: int = 100
    freezes: int = 20
    broker_kills: int = 10
    operations: int = 33
    messages: int = 40_000
    pause: float = 3.0
    seed: int = 1

    def events(self) -> list[str]:
        """Return the events, in order.

        Examples
        --------
        >>> Plan(kills=3, freezes=3, broker_kills=1, operations=0).events()
        ['kill', 'broker', 'freeze', 'kill', 'freeze twice', 'kill']
        """
        found = ["kill"] * self.kills + ["broker"] * self.broker_kills
        found += list(itertools.islice(itertools.cycle(OPERATIONS), self.operations))
        found += ["freeze twice"] * (self.freezes // 2) + ["freeze"] * (self.freezes % 2)
        random.Random(self.seed).shuffle(found)
        return found


@dataclasses.dataclass
class Report:
    """Events and results of a campaign.

    Attributes
    ----------
    kills, freezes, broker_kills, operations
        Number of events.
    restarts
        Number of restarts of workers, by exit status.
    again
        Number of extra restarts of the broker because offsets stayed undecided.
    messages, labels
        Number of sent records.
    faults
        Faults of the output.
    models
        Number of different final models.
    undisturbed
        Whether the final model equals that of an undisturbed run.
    seconds
        Duration.
    busy
        Share of processor time in use.
    """

    kills: int = 0
    freezes: int = 0
    broker_kills: int = 0
    operations: int = 0
    restarts: dict[int, int] = dataclasses.field(default_factory=dict)
    again: int = 0
    messages: int = 0
    labels: int = 0
    faults: dict[str, int] = dataclasses.field(default_factory=dict)
    models: int = 0
    undisturbed: bool = False
    seconds: float = 0.0
    busy: float = 0.0

    @property
    def clean(self) -> bool:
        """Whether no fault was found."""
        return not any(self.faults.values()) and self.undisturbed


class Campaign:
    """Workers over the partitions of a stream, and the events that disturb them."""

    def __init__(self, broker: Broker, folder: Path, client: str, plan: Plan, model: str) -> None:
        self.plan, self.report = plan, Report()
        self._generator = random.Random(plan.seed)
        self._messages = sms(plan.messages)
        self._events = plan.events()
        self.scene = Scene(
            broker,
            folder,
            partitions=PARTITIONS,
            client=client,
            model=model,
            session_seconds=SESSION,
            transaction_seconds=TRANSACTION,
        )
        self._workers: dict[str, Worker] = {}
        self._frozen: set[str] = set()
        self._freezers: list[threading.Thread] = []
        self._failed: list[AssertionError] = []  # while somebody stood still

    def run(self) -> Report:
        """Run all events, and check the output.

        Raises
        ------
        AssertionError, TimeoutError
            If a worker exits for another reason, or a wait is too long; the message describes the
        state.
        """
        begun, spent = time.monotonic(), _processor()
        with self.scene:
            try:
                self._run(self._messages)
            except AssertionError as error:
                raise AssertionError(f"{error}\n{standing(self.scene)}") from error
            self._look(self._messages)
        self.report.seconds = time.monotonic() - begun
        busy, idle = (now - before for now, before in zip(_processor(), spent, strict=True))
        self.report.busy = busy / (busy + idle)
        return self.report

    def _run(self, messages: Sequence[Message]) -> None:
        for name in NAMES:
            self._start(name)
        self._settle(NAMES)
        pieces = len(self._events) + 1
        feed = self.scene.feed(messages, pieces * self.plan.pause, pieces)
        senders = [next(feed)]
        for event, sender in zip(self._events, feed, strict=True):
            senders.append(sender)
            self._tend(self._generator.uniform(0.0, 2 * self.plan.pause))
            {
                "kill": self._kill,
                "broker": self._kill_broker,
                "freeze": lambda: self._freeze(1),
                "freeze twice": lambda: self._freeze(2),
            }.get(event, lambda event=event: self._operate(event))()
        threads = [*self._freezers, *senders]
        assert self._await(lambda: not any(each.is_alive() for each in threads), PATIENCE)
        self._settle(NAMES)
        self._finish(len(messages), len(expected_training(messages)))
        self._settle(NAMES)

    def _finish(self, messages: int, labels: int) -> None:
        """Wait until all messages are decided and all labels learned.

        If the group coordinator assigns no partitions to any member, the broker is restarted (seen
        with Kafka 4.3.1, once in 60 kills of a single broker).
        """
        try:
            self.scene.wait_until_done(messages, labels, 2 * UNDECIDED)
        except TimeoutError:
            if not self.report.broker_kills:
                raise
            self.scene.broker.restart()
            self.report.again += 1
            self._settle(NAMES)
            self.scene.wait_until_done(messages, labels, 600.0)

    # --- what happens ---------------------------------------------------------------------------

    def _start(self, name: str) -> None:
        lasting = {"instance_id": name} if name in LASTING else {}
        self._workers[name] = self.scene.worker(name, **lasting)

    def _choose(self) -> str:
        """Return a worker that is not frozen; in two of three cases it is already deciding."""
        name = self._generator.choice([each for each in NAMES if each not in self._frozen])
        if self._generator.random() < 2 / 3:
            self._settle(name)
        return name

    def _kill(self) -> None:
        name = self._choose()
        self._workers[name].kill()
        self._start(name)
        self.report.kills += 1

    def _freeze(self, times: int) -> None:
        """Freeze a worker while the other workers and events continue."""
        assert self._await(lambda: not self._frozen, PATIENCE)  # the others take over
        name, between = self._choose(), self._generator.uniform(0.1, 2.0)
        self._settle(name)
        self._frozen.add(name)

        def freeze() -> None:
            try:
                for _ in range(times):
                    self._workers[name].signal(signal.SIGSTOP)
                    time.sleep(FREEZE)
                    self._workers[name].signal(signal.SIGCONT)
                    self.report.freezes += 1
                    time.sleep(between)
                    if self._workers[name].process.poll() is not None:
                        # The worker was fenced. Its successor is frozen at the start.
                        self._restart(name)
                        time.sleep(between)
            except AssertionError as error:
                self._failed.append(error)
            self._frozen.discard(name)

        self._freezers.append(threading.Thread(target=freeze, daemon=True))
        self._freezers[-1].start()

    def _kill_broker(self) -> None:
        """Kill a broker in open transactions, but a single one not while one is being committed."""
        if isinstance(self.scene.broker, BrokerCluster):
            self.scene.broker.kill()
        else:
            running = [self._workers[name] for name in NAMES if name not in self._frozen]
            kill_broker(self.scene.broker, *(each.process for each in running))
        time.sleep(self._generator.uniform(0.0, 2.0))
        self.scene.broker.start()
        self.report.broker_kills += 1

    def _operate(self, event: str) -> None:
        """Run an ordinary operation, while everything sent is learned or no worker runs."""
        assert self._await(lambda: not self._frozen, PATIENCE)
        operation = OPERATIONS[event]
        if operation.ready:
            self._settle(NAMES)
        with self.scene.sending if operation.quiet else contextlib.nullcontext():
            if operation.quiet:
                self._settle(NAMES)
                sent = self._messages[: self.scene.sent]
                self._finish(len(sent), len(expected_training(sent)))
            if operation.stopped:
                # A worker that has just started, or can't end in time, ends as if it was killed.
                self._stop((0, -signal.SIGTERM, *RESTARTED))
            operation.run(self.scene, self._generator)
            if operation.stopped:
                for name in NAMES:
                    self._start(name)
                self._settle(NAMES)
        self.report.operations += 1

    def _stop(self, accepted: Sequence[int] = (0,)) -> None:
        """Stop all workers, which must end with one of these statuses."""
        for worker in self._workers.values():
            status = worker.stop()
            assert status in accepted, f"{worker.name}: status {status}\n{worker.text()[-3000:]}"

    # --- whoever runs the workers ---------------------------------------------------------------

    def _restart(self, name: str) -> None:
        worker = self._workers[name]
        status = worker.process.poll()
        assert status in RESTARTED, f"{name} ended with status {status}\n{worker.text()[-3000:]}"
        self.report.restarts[status] = self.report.restarts.get(status, 0) + 1
        self._start(name)

    def _tend(self, seconds: float) -> None:
        """For this number of seconds, restart workers that exit."""
        deadline = time.monotonic() + seconds
        while True:
            if self._failed:
                raise self._failed[0]
            for name, worker in list(self._workers.items()):
                if name not in self._frozen and worker.process.poll() is not None:
                    self._restart(name)
            if (left := deadline - time.monotonic()) <= 0:
                return
            time.sleep(min(0.2, left))

    def _await(self, condition: Callable[[], bool], seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                return False
            self._tend(0.1)
        return True

    def _settle(self, names: Iterable[str]) -> None:
        """Wait until these workers decide messages."""

        def ready() -> bool:
            return all(self._workers[name].ready for name in names)

        if not self._await(ready, UNDECIDED):
            if self.report.broker_kills:
                self.scene.broker.restart()
                self.report.again += 1
            assert self._await(ready, PATIENCE), f"not all of {names} became ready"

    # --- what was written -----------------------------------------------------------------------

    def _look(self, messages: Sequence[Message]) -> None:
        report, labels = self.report, len(expected_training(messages))
        models = set()
        for worker in self._workers.values():
            worker.wait_learned(labels)
        self._stop()
        for worker in self._workers.values():
            models.add(worker.filter().learner.model.to_bytes())
        report.messages, report.labels = len(messages), labels
        report.faults = {kind: len(found) for kind, found in faults(self.scene, messages).items()}
        report.models = len(models)
        report.undisturbed = models == {expected_model(self.scene, messages)}


def _processor() -> tuple[float, float]:
    """Return the busy and the idle time of all cores."""
    times = [int(each) for each in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    idle = times[3] + times[4]
    return sum(times) - idle, idle
