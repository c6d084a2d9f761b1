"""Fork while threads are inside batches: `fork_in_batch.py SEED CHILDREN`. Children learn, too."""

import multiprocessing
import os
import random
import sys
import threading
import time

from streamnb import OnlineNB

generator = random.Random(int(sys.argv[1]))
children = int(sys.argv[2])
words = [f"w{i}" for i in range(3_000)]
texts = [" ".join(generator.choices(words, k=40)) for _ in range(2_000)]
labels = [generator.choice(("ham", "spam")) for _ in texts]
model = OnlineNB(n_jobs=2)
model.learn_many(texts[:500], labels[:500])
stop = False


def learn() -> None:
    while not stop:
        model.learn_many(texts, labels)
        # Labels come and go, so a fork may meet half a change.
        model.learn_one("new", "other")
        model.unlearn_one("new", "other")


def predict() -> None:
    while not stop:
        model.predict_many(texts)


def work(seed: int) -> str:
    model.learn_many(texts[seed : seed + 20], labels[seed : seed + 20])
    model.learn_one("see you", "ham")
    found = model.predict_many(texts[:20])
    assert len(found) == 20
    assert model.predict_one("see you") is not None
    return "done"


threads = [threading.Thread(target=target) for target in (learn, predict)]
for thread in threads:
    thread.start()
ended = []
for number in range(children):
    time.sleep(generator.uniform(0.0, 0.02))
    child = os.fork()
    if child == 0:
        work(number)
        os._exit(0)
    until = time.monotonic() + 30
    while (found := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < until:
        time.sleep(0.005)
    if found == (0, 0):
        os.kill(child, 9)
        os.waitpid(child, 0)
    ended.append(found[0] == child and found[1] == 0)
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map_async(work, range(4)).get(timeout=60) == ["done"] * 4
stop = True
for thread in threads:
    thread.join()
print(f"{ended.count(False)} of {children} children failed", flush=True)
sys.exit(not all(ended))
