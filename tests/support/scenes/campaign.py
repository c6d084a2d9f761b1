"""A campaign: workers that are killed and frozen, a broker that dies, under a stream that flows.

What happens, to whom and when comes from a seed; how far each worker is by then does not, and that
is what a campaign is for. Workers that end by themselves with a status that says "restart me" are
restarted, as whoever runs them does.
"""

from __future__ import annotations

import dataclasses
import random
import signal
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from support.broker import Broker
from support.scenes.deaths import await_decided
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

# Names of their own in the group and of their transactions; others are new members each time.
LASTING = {"a", "b"}
NAMES = "abcd"
PARTITIONS = 6
SESSION, TRANSACTION = 3.0, 4.0  # seconds
FREEZE = 6.0  # past both, and past the broker's search for transactions that are too old
# A session or a transaction was over, or a call hung: statuses that say "restart me".
RESTARTED = (3, 70)
# Where a transaction of a worker that was killed ran out just then (`deaths`): workers that are not
# ready after so many seconds get a broker that was started once more.
UNDECIDED = 45.0
PATIENCE = 180.0  # seconds until a worker that is not ready then is a failure


@dataclasses.dataclass(frozen=True)
class Plan:
    """What happens in a campaign.

    Attributes
    ----------
    kills
        How often a worker is killed (SIGKILL), and started again at once.
    freezes
        How often one stands still (SIGSTOP) past its session and its transaction: twice in a row.
    broker_kills
        How often the broker is killed, and started again.
    messages
        How long the stream is.
    pause
        Mean seconds from one event to the next, on top of what it waits for.
    seed
        What chance is drawn from.
    """

    kills: int = 100
    freezes: int = 20
    broker_kills: int = 10
    messages: int = 40_000
    pause: float = 3.0
    seed: int = 1

    def events(self) -> list[str]:
        """Return what happens, in order.

        Examples
        --------
        >>> Plan(kills=3, freezes=3, broker_kills=1).events()
        ['kill', 'broker', 'freeze', 'kill', 'freeze twice', 'kill']
        """
        found = ["kill"] * self.kills + ["broker"] * self.broker_kills
        found += ["freeze twice"] * (self.freezes // 2) + ["freeze"] * (self.freezes % 2)
        random.Random(self.seed).shuffle(found)
        return found


@dataclasses.dataclass
class Report:
    """What a campaign did, and what it found.

    Attributes
    ----------
    kills, freezes, broker_kills
        Events that happened.
    restarts
        Workers that ended by themselves, by status, and were started again.
    again
        How often the broker was started once more, for offsets that stayed undecided.
    messages, labels
        How many were sent.
    faults
        What is wrong with what was written.
    models
        Different models that the workers ended with.
    undisturbed
        Whether that is the one model of a run that nothing disturbed.
    seconds
        How long it took.
    busy
        The share of the cores' time in which they worked.
    """

    kills: int = 0
    freezes: int = 0
    broker_kills: int = 0
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
        """Whether nothing is wrong."""
        return not any(self.faults.values()) and self.undisturbed


class Campaign:
    """Workers over the partitions of a stream, and what happens to them."""

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
        """Let all of it happen, and look at what was written.

        Raises
        ------
        AssertionError, TimeoutError
            If a worker ended for another cause, or something waited in vain; with what is known.
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
            }[event]()
        threads = [*self._freezers, *senders]
        assert self._await(lambda: not any(each.is_alive() for each in threads), PATIENCE)
        self._settle(NAMES)
        self._finish(len(messages), len(expected_training(messages)))
        self._settle(NAMES)

    def _finish(self, messages: int, labels: int) -> None:
        """Wait until all is decided and learned.

        A broker whose group coordinator gives no partition to any member, whoever joins, is started
        once more: seen of Kafka 4.3.1 once in 60 deaths of one that was alone.
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
        """Return a worker that does not stand still; in two cases of three it decides already."""
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
        """Let a worker stand still while the others, and what happens to them, go on."""
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
                        # It found itself fenced. The next of its name stands still as it starts.
                        self._restart(name)
                        time.sleep(between)
            except AssertionError as error:
                self._failed.append(error)
            self._frozen.discard(name)

        self._freezers.append(threading.Thread(target=freeze, daemon=True))
        self._freezers[-1].start()

    def _kill_broker(self) -> None:
        """Let the broker die in open transactions, but in none that is being committed."""
        running = [self._workers[name] for name in NAMES if name not in self._frozen]
        for worker in running:
            worker.signal(signal.SIGSTOP)
        await_decided(self.scene.broker.bootstrap)
        self.scene.broker.kill()
        for worker in running:
            worker.signal(signal.SIGCONT)
        time.sleep(self._generator.uniform(0.0, 2.0))
        self.scene.broker.start()
        self.report.broker_kills += 1

    # --- whoever runs the workers ---------------------------------------------------------------

    def _restart(self, name: str) -> None:
        worker = self._workers[name]
        status = worker.process.poll()
        assert status in RESTARTED, f"{name} ended with status {status}\n{worker.text()[-3000:]}"
        self.report.restarts[status] = self.report.restarts.get(status, 0) + 1
        self._start(name)

    def _tend(self, seconds: float) -> None:
        """Start workers again that ended by themselves, for so long."""
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
        """Wait until these workers decide on messages."""

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
            status = worker.stop()
            assert status == 0, f"{worker.name}: status {status}\n{worker.text()[-3000:]}"
            models.add(worker.filter().learner.model.to_bytes())
        report.messages, report.labels = len(messages), labels
        report.faults = {kind: len(found) for kind, found in faults(self.scene, messages).items()}
        report.models = len(models)
        report.undisturbed = models == {expected_model(self.scene, messages)}


def _processor() -> tuple[float, float]:
    """Return for how long all cores worked so far, and for how long they idled."""
    times = [int(each) for each in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    idle = times[3] + times[4]
    return sum(times) - idle, idle
