"""Throughput of several workers of one filter, calculated and simulated.

Each message is decided by one worker; each training event is learned by every worker. Both costs
are measured here without a broker; the cost of the Kafka client per message is a parameter. In
theory, n workers with one core each handle 1 / (decide / n + share × learn) messages per second. In
the simulation, messages arrive at random at workers that take batches, like the daemon. The result
is the highest rate with a 99th percentile of the delay below half a second.

    python benchmarks/bench_workers.py --transport 12 --model "OnlineNB()"
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import time

from streamnb import datasets
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.jsons import canonical
from streamnb_consumers.kafka.cluster import Topics
from streamnb_consumers.kafka.encoding import encode
from streamnb_consumers.records import Partition, Record, Role

TOPICS = Topics(*"mfdtwx")
COMMIT = 0.010  # seconds of a transaction, whatever is in it
DELAY = 0.5  # seconds: what the 99th percentile may be
WORKERS = (1, 4, 16, 64)
SHARES = (0.01, 0.1, 1.0)


def costs(model: str, count: int = 20_000, batch: int = 500) -> tuple[float, float]:
    """Return the seconds for deciding a message, and for learning a training event."""
    stream, _ = datasets.demo_stream()
    texts = list(itertools.islice(itertools.cycle(list(stream)), count))
    worker = make_filter("sms", Settings(bootstrap_servers="x:1", model=model))

    def records(role: Role, values: list[bytes]) -> list[Record]:
        place = Partition(role, 0)
        return [Record(place, at, value, b"%d" % at, role=role) for at, value in enumerate(values)]

    def spent(found: list[Record]) -> float:
        begun = time.process_time()
        for at in range(0, len(found), batch):
            list(encode(worker.handle_many(found[at : at + batch]), TOPICS, 2**20))
        return (time.process_time() - begun) / len(found)

    events = [
        canonical({"id": str(at), "features": text, "learn": label})
        for at, (text, label) in enumerate(texts)
    ]
    messages = [
        json.dumps({"id": str(at), "text": text}).encode() for at, (text, _) in enumerate(texts)
    ]
    learn = spent(records("training", events))
    return spent(records("message", messages)), learn


def on_paper(decide: float, learn: float, share: float, workers: int) -> float:
    """Return the theoretical messages per second of a number of workers."""
    return 1 / (decide / workers + share * learn)


def delay(
    rate: float, decide: float, learn: float, share: float, workers: int, batch: int = 500
) -> float:
    """Return the 99th percentile of the delay from arrival to decision, in seconds."""
    generator, seconds = random.Random(1), 4.0
    mine = rate / workers
    # All workers are alike, and each learns all training events.
    come = list(
        itertools.accumulate(generator.expovariate(mine) for _ in range(int(mine * seconds)))
    )
    now, done, learned, delays = 0.0, 0, 0.0, []
    while done < len(come):
        now = max(now, come[done])
        end = done
        while end < len(come) and end < done + batch and come[end] <= now:
            end += 1
        new = min(now, seconds) * rate * share - learned
        learned += new
        now += COMMIT + (end - done) * decide + new * learn
        delays += [now - each for each in come[done:end]]
        done = end
    return sorted(delays)[len(delays) * 99 // 100]


def simulated(decide: float, learn: float, share: float, workers: int) -> float:
    """Return the highest rate with an acceptable delay."""
    low, high = 0.0, on_paper(decide, learn, share, workers)
    for _ in range(7):
        middle = (low + high) / 2
        if delay(middle, decide, learn, share, workers) <= DELAY:
            low = middle
        else:
            high = middle
    return low


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="")
    parser.add_argument("--transport", type=float, default=12.0, help="µs of the client a message")
    options = parser.parse_args()
    decide, learn = costs(options.model)
    decide += options.transport / 1e6
    print(f"a message {decide * 1e6:.0f} µs, a training event {learn * 1e6:.0f} µs; workers, then")
    print("messages a second on paper / simulated, by the share of messages with labels")
    print(
        f"{'workers':>8}"
        + "".join(f"{share:>22.0%}" for share in SHARES)
        + "   stopped by learning"
    )
    for workers in WORKERS:
        cells, stopped = "", []
        for share in SHARES:
            paper = on_paper(decide, learn, share, workers)
            found = simulated(decide, learn, share, workers)
            cells += f"{f'{paper:,.0f} / {found:,.0f}':>22}"
            stopped.append(f"{share * learn * paper:.0%}")
        print(f"{workers:>8}{cells}   {', '.join(stopped)}", flush=True)


if __name__ == "__main__":
    main()
