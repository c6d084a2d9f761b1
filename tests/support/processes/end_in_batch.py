"""End the process while daemon threads are inside batches: `end_in_batch.py SEED`."""

import random
import sys
import threading
import time

from streamnb import HMNB, OnlineNB

generator = random.Random(int(sys.argv[1]))
words = [f"w{i}" for i in range(3_000)]
texts = [" ".join(generator.choices(words, k=40)) for _ in range(3_000)]
labels = [generator.choice(("ham", "spam")) for _ in texts]
online, hidden = OnlineNB(n_jobs=2), HMNB(n_jobs=2)
for model in (online, hidden):
    model.learn_many(texts[:500], labels[:500])


def learn() -> None:
    while True:
        online.learn_many(texts, labels)


def predict() -> None:
    while True:
        online.predict_many(texts)


def explain() -> None:
    while True:
        hidden.predict_many(texts[:200])
        hidden.explain_one(texts[0])


for target in (learn, predict, predict, explain):
    threading.Thread(target=target, daemon=True).start()
time.sleep(generator.uniform(0.0, 0.3))
print("ends", flush=True)
