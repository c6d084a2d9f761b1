"""A real Apache Kafka broker (KRaft, one node) for tests.

- The fixture `broker` is one broker for the whole pytest session and its xdist workers (2 s to
  start, 210 MB). `broker.topic` and `broker.unique` return names that no other test has.
- The fixture `own_broker` is a broker for one test, which may kill, stop, start, restart, freeze
  and resume it. Ports and log stay the same.

`KAFKA_BOOTSTRAP_SERVERS` names another broker to use instead of `broker`. Without Java or Maven
the tests skip with a reason, or fail where STREAMNB_REQUIRE_DATA=1. Maven puts the jars once
(4 s, 44 MB) into `$XDG_CACHE_HOME/streamnb/kafka-<hash of the pom>`, by default below `~/.cache`.

Outside pytest: `python tests/support/broker.py` starts one, prints its address and serves until
Ctrl-C.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

POM = Path(__file__).parent / "kafka-broker" / "pom.xml"
START_SECONDS = 180.0  # 1.4 s on an idle machine; more than 60 s were seen on one with a load of 45
STOP_SECONDS = 15.0  # a clean stop takes about 1 s
KILL_SECONDS = 120.0  # more than 15 s were seen beside builds that filled the disk
RESOLVE_SECONDS = 600.0  # 4 s with a near mirror; a slow network may take minutes
READ_SECONDS = 60.0  # bounds read_all(): it waits for transactions that are still open
JAVA_OPTIONS = ("-Xmx256m", "-Xms64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

# Short time-outs bring a killed broker back in 2.4 s instead of 11.5 s, and small internal topics
# and a small cleaner buffer save 120 MB and a second.
PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={log}
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
group.consumer.min.session.timeout.ms=1000
group.consumer.session.timeout.ms=3000
group.consumer.min.heartbeat.interval.ms=200
group.consumer.heartbeat.interval.ms=200
broker.session.timeout.ms=1000
broker.heartbeat.interval.ms=200
transaction.abort.timed.out.transaction.cleanup.interval.ms=500
log.cleaner.dedupe.buffer.size=2097152
"""

# Properties of a broker that a test freezes. Its controller would otherwise take its partitions
# away after the time-out above, and give them back some milliseconds later. Kafka 4.3.1 skips the
# markers of a transaction that ends in between (see `support.scenes.deaths`), which may then stay
# open for ever. A killed broker with this time-out would come back after a minute.
STEADY = {"broker.session.timeout.ms": "60000"}

# Ends the broker ($2) and removes its folder ($1) when one of the processes that want it ($3 …) is
# gone, however it went. Ends itself with the broker.
GUARD = """\
folder=$1 broker=$2
shift 2
while kill -0 "$broker" 2>/dev/null; do
    for owner; do
        if ! kill -0 "$owner" 2>/dev/null; then
            kill -9 "$broker"
            sleep 0.2
            rm -rf "$folder"
            exit
        fi
    done
    sleep 0.5
done
"""


class BrokerUnavailableError(RuntimeError):
    """No broker can be run here."""


def free_ports(count: int) -> list[int]:
    """Return free ports below those that the system assigns to clients.

    In that range a client of a stopped broker may be assigned the broker's own port, and connect to
    itself.
    """
    ports: list[int] = []
    for port in random.SystemRandom().sample(range(15_000, 32_000), 500):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            ports.append(port)
        if len(ports) == count:
            return ports
    raise BrokerUnavailableError("no free port between 15000 and 32000")


def cluster_identity() -> str:
    """Return an identity for a new cluster."""
    return "A" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode()[1:].rstrip("=")


def _kafka() -> Any:
    """Import kafka-python, whose modules import deprecated ones, with a fix that readers need."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import kafka

    from streamnb_consumers.kafka.python_client.workarounds import fix_lost_topics

    fix_lost_topics()
    return kafka


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock that ends with the process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def jars(version: str = "") -> Path:
    """Return the folder with Kafka's jars, of the pom's version; Maven fills it the first time."""
    for program in ("java", "mvn"):
        if shutil.which(program) is None:
            raise BrokerUnavailableError(f"the Kafka broker for tests needs {program}, not found")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "streamnb"
    folder = cache / f"kafka-{version}{hashlib.sha256(POM.read_bytes()).hexdigest()[:16]}"
    if folder.is_dir():
        return folder
    with locked(folder.with_suffix(".lock")):
        if folder.is_dir():
            return folder
        unfinished = Path(tempfile.mkdtemp(dir=cache, prefix=f"{folder.name}."))
        command = ["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies"]
        command += ["-DincludeScope=runtime", f"-DoutputDirectory={unfinished}"]
        command += [f"-Dkafka.version={version}"] if version else []
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=RESOLVE_SECONDS, check=False
            )
            if done.returncode != 0:
                tail = (done.stdout + done.stderr)[-2000:]
                raise BrokerUnavailableError(f"{' '.join(command)} failed:\n{tail}")
            unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return folder


class Broker:
    """A broker with its process, ports and folder, or the address of a running one.

    Parameters
    ----------
    bootstrap
        Address of a broker that someone else runs; None to run one.
    owners
        Processes: the broker ends when one of them ends. By default this process.
    folder
        Folder of the configuration and the log; by default a new temporary folder.
    properties
        More lines of its configuration; `{port}` and `{controller}` are its ports.
    ports
        Its port and the port of its controller; by default free ones.
    identity
        Identity of its cluster; by default a new one.
    version
        Version of Kafka; by default the newest that is tested.
    """

    replication = 1  # of new topics

    def __init__(
        self,
        bootstrap: str | None = None,
        owners: Sequence[int] = (),
        folder: Path | None = None,
        properties: Mapping[str, str] | None = None,
        ports: Sequence[int] | None = None,
        identity: str | None = None,
        version: str = "",
    ) -> None:
        self._version = version
        self._owners = list(owners) or [os.getpid()]
        self._properties = dict(properties or {})
        self._process: subprocess.Popen[bytes] | None = None
        self.folder: Path | None = None
        self.log: Path | None = None  # folder of the partitions, if it is on this machine
        self.logs: list[Path] = []  # the same, of each broker
        if bootstrap is not None:
            self.bootstrap = bootstrap
        else:
            self._make_folder(folder, ports or free_ports(2), identity or cluster_identity())

    def _make_folder(self, folder: Path | None, ports: Sequence[int], identity: str) -> None:
        self._classpath = f"{jars(self._version)}/*"
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="streamnb-kafka-"))
        self.folder = folder
        self.folder.mkdir(exist_ok=True)
        self.log = self.folder / "log"
        self.logs = [self.log]
        self.port, controller = ports
        self.bootstrap = f"127.0.0.1:{self.port}"
        text = PROPERTIES + "".join(f"{name}={value}\n" for name, value in self._properties.items())
        text = text.format(port=self.port, controller=controller, log=self.log)
        (self.folder / "server.properties").write_text(text)
        try:
            done = subprocess.run(
                [
                    *("java", "-cp", self._classpath, *JAVA_OPTIONS, "kafka.tools.StorageTool"),
                    *("format", "-t", identity, "-c", str(self.folder / "server.properties")),
                ],
                capture_output=True,
                text=True,
                timeout=START_SECONDS,
                check=False,
            )
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        if done.returncode != 0:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise BrokerUnavailableError(f"formatting failed:\n{done.stdout}{done.stderr}")

    @property
    def pid(self) -> int | None:
        """The running broker's process, or None."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def start(self) -> None:
        """Start the broker with its old log and ports, and wait until it listens."""
        self.launch()
        self.await_port()

    def launch(self) -> None:
        """Start the broker, unless it runs."""
        if self.folder is None:
            raise RuntimeError("this broker is not ours to start, stop or kill")
        if self.pid is not None:
            return
        with (self.folder / "output.txt").open("ab") as output:
            self._process = subprocess.Popen(
                [
                    *("java", "-cp", self._classpath, *JAVA_OPTIONS, "kafka.Kafka"),
                    str(self.folder / "server.properties"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C in the terminal is for pytest alone
            )
        subprocess.Popen(
            [
                *("sh", "-c", GUARD, "guard", str(self.folder), str(self._process.pid)),
                *(str(owner) for owner in self._owners),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def await_port(self) -> None:
        """Wait until it listens."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.pid is None:
                break
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), timeout=1.0).close()
                return
            time.sleep(0.05)
        self.kill()
        tail = (self.folder / "output.txt").read_text(errors="replace")[-4000:]
        raise BrokerUnavailableError(f"the broker did not open port {self.port}:\n{tail}")

    def _end(self, number: signal.Signals, seconds: float) -> None:
        if self.folder is None:
            raise RuntimeError("this broker is not ours to start, stop or kill")
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(number)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(KILL_SECONDS)

    def stop(self) -> None:
        """Stop it as an operator would (SIGTERM)."""
        self._end(signal.SIGTERM, STOP_SECONDS)

    def kill(self) -> None:
        """Kill it (SIGKILL): unwritten data is lost."""
        self._end(signal.SIGKILL, KILL_SECONDS)

    def restart(self, pause: float = 0.0) -> None:
        """Kill it, and start it again after this number of seconds."""
        self.kill()
        time.sleep(pause)
        self.start()

    def pause(self) -> None:
        """Freeze the process (SIGSTOP): connections stay open, and nothing answers."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Resume a frozen process."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Kill it and remove its folder."""
        if self.folder is not None:
            self.kill()
            shutil.rmtree(self.folder, ignore_errors=True)

    def unique(self, name: str) -> str:
        """Return a name that no other test has."""
        return f"{name}-{uuid.uuid4().hex[:12]}"

    def topic(
        self, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> str:
        """Create a topic with a name that no other test has, and return the name."""
        topic = self.unique(name)
        self.create_topics({topic: partitions}, configs)
        return topic

    def create_topics(
        self, topics: Mapping[str, int], configs: Mapping[str, str] | None = None
    ) -> None:
        """Create topics, and wait until each partition has its leader."""
        admin = _kafka().KafkaAdminClient(bootstrap_servers=self.bootstrap)
        try:
            admin.create_topics(
                {
                    name: {
                        "num_partitions": partitions,
                        "replication_factor": self.replication,
                        "configs": dict(configs or {}),
                    }
                    for name, partitions in topics.items()
                },
                wait_for_metadata=True,
            )
        finally:
            admin.close()

    def read_all(
        self, topic: str, read_committed: bool = True, seconds: float = READ_SECONDS
    ) -> list[Any]:
        """Return the records of kafka-python up to the end, partition after partition.

        With `read_committed` it waits for the markers of transactions that are open at the call.
        """
        kafka = _kafka()
        isolation = "read_committed" if read_committed else "read_uncommitted"
        end = kafka.KafkaConsumer(bootstrap_servers=self.bootstrap)
        reader = kafka.KafkaConsumer(
            bootstrap_servers=self.bootstrap,
            isolation_level=isolation,
            auto_offset_reset="earliest",
        )
        records: list[Any] = []
        try:
            numbers = sorted(end.partitions_for_topic(topic) or ())
            places = [kafka.TopicPartition(topic, number) for number in numbers]
            ends = end.end_offsets(places)
            reader.assign(places)
            reader.seek_to_beginning(*places)
            deadline = time.monotonic() + seconds
            while any(reader.position(place) < ends[place] for place in places):
                if time.monotonic() > deadline:
                    reached = {place: reader.position(place) for place in places}
                    raise TimeoutError(f"{topic} read to {reached} of {ends} in {seconds} s")
                for batch in reader.poll(timeout_ms=100).values():
                    records += batch
        finally:
            end.close()
            reader.close()
        records.sort(key=lambda record: (record.partition, record.offset))
        return [
            record
            for record in records
            if record.offset < ends[kafka.TopicPartition(topic, record.partition)]
        ]


if __name__ == "__main__":
    running = Broker()
    try:
        running.start()
        print(running.bootstrap, flush=True)
        signal.pause()
    except KeyboardInterrupt:
        pass
    finally:
        running.close()
