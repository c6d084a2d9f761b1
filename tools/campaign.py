"""Kill and pause workers and brokers, operate the cluster, and count lost and doubled records.

Each run has a seed, a separate broker or three, and four workers for six partitions. The stream is
the SMS collection with late, repeated and corrected labels, compressed by each codec. Retention,
expired and wrong offsets, new partitions, recreated topics and full disks happen between the kills.
The table lists the events and the errors of each run. After an error, the progress is printed, and
the logs of workers and broker are kept.

    python tools/campaign.py --client confluent --runs 3
    make campaign CLIENT=confluent RUNS=3
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from streamnb_consumers.kafka.drivers import CLIENTS
from support.broker import Broker, BrokerUnavailableError
from support.brokers.cluster import BrokerCluster
from support.scenes.campaign import Campaign, Plan, Report
from support.scenes.operations import AUTHORIZER
from support.scenes.standing import standing

MODEL = "MNB(alpha=0.1, oov='skip')"
HEAD = (
    "| client | brokers | seed | messages | labels | kills | freezes | broker kills | operations "
    "| ended by themselves | broker started again | decisions lost, doubled "
    "| labels lost, doubled, out of order "
    "| dead letters | models | undisturbed | minutes | cores busy |"
)


def row(client: str, brokers: int, seed: int, report: Report) -> str:
    """Return the table row of a run."""
    found = report.faults
    ended = ", ".join(f"{n} × {status}" for status, n in sorted(report.restarts.items())) or "0"
    cells = [
        *(client, brokers, seed, f"{report.messages:,}", f"{report.labels:,}"),
        *(report.kills, report.freezes, report.broker_kills, report.operations),
        *(ended, report.again),
        "{}, {}".format(found["decisions lost"], found["decisions doubled"]),
        "{}, {}, {}".format(*(found[f"labels {kind}"] for kind in LABELS)),
        *(found["dead letters"], report.models, "yes" if report.undisturbed else "NO"),
        *(f"{report.seconds / 60:.1f}", f"{report.busy:.0%}"),
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


LABELS = ("lost", "doubled", "out of order")


def run(client: str, brokers: int, plan: Plan, model: str) -> bool:
    """Run a campaign, print its row, and return whether it passed. A failed run keeps its logs."""
    folder = Path(tempfile.mkdtemp(prefix=f"streamnb-campaign-{client}-{plan.seed}-"))
    one = brokers == 1
    broker = Broker(properties=AUTHORIZER) if one else BrokerCluster(plan.seed, AUTHORIZER)
    broker.start()
    try:
        campaign = Campaign(broker, folder, client, plan, model)
        try:
            report = campaign.run()
        except (AssertionError, TimeoutError, BrokerUnavailableError) as error:
            print(f"{client}, seed {plan.seed}: {error}\nthe logs are in {folder}", flush=True)
            return False
        print(row(client, brokers, plan.seed, report), flush=True)
        if not report.clean:
            print(f"{standing(campaign.scene)}\nthe logs are in {folder}", flush=True)
            return False
    finally:
        if broker.folder is not None:
            shutil.copy(broker.folder / "output.txt", folder / "broker.log")
        broker.close()
    shutil.rmtree(folder)
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run campaigns; return 1 if one failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--client", choices=CLIENTS, nargs="+", default=list(CLIENTS))
    parser.add_argument("--runs", type=int, default=1, help="runs of each client")
    parser.add_argument("--seed", type=int, default=1, help="of the first run")
    parser.add_argument("--model", default=MODEL, help="one that does not follow the order")
    parser.add_argument("--brokers", type=int, choices=(1, 3), default=1)
    for name in ("kills", "freezes", "broker_kills", "operations", "messages"):
        flag = "--" + name.replace("_", "-")
        parser.add_argument(flag, type=int, default=getattr(Plan, name))
    parser.add_argument("--pause", type=float, default=Plan.pause, help="seconds between events")
    flags = parser.parse_args(arguments)
    # Stop workers and brokers as on Ctrl-C; the default action would leave them running.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(HEAD, "|" + " --- |" * HEAD.count(" | ") + " --- |", sep="\n", flush=True)
    well = True
    for seed in range(flags.seed, flags.seed + flags.runs):
        plan = Plan(
            *(flags.kills, flags.freezes, flags.broker_kills, flags.operations),
            *(flags.messages, flags.pause, seed),
        )
        for client in flags.client:
            well = run(client, flags.brokers, plan, flags.model) and well
    return int(not well)


if __name__ == "__main__":
    raise SystemExit(main())
