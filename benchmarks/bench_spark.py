"""Learning and predicting on Spark, compared with MLlib's naive Bayes on the same frames.

`make bench-spark`. Both learn and predict a frame of texts in alternating rounds. The first round
also starts Spark's Python workers with their imports, so it is listed separately. MLlib uses
Tokenizer, HashingTF with 2^18 features, and NaiveBayes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any


def rows(messages: int) -> list[tuple[str, str]]:
    """Return the SMS collection, or without it a synthetic stream, repeated to this length."""
    from streamnb.datasets import demo_stream

    stream, sentence = demo_stream(None, 42)
    print(sentence)
    once = [(one.text, one.label) for one in stream.messages()]
    return (once * (messages // len(once) + 1))[:messages]


def of_streamnb(frame: Any) -> tuple[float, float, float]:
    """Return the seconds for learning and predicting, and the accuracy of streamnb."""
    from pyspark.sql import functions as f

    from streamnb import MNB
    from streamnb.spark import learn, predict

    start = time.perf_counter()
    model = learn(frame, MNB())
    learned = time.perf_counter()
    right = f.avg((f.col("prediction") == f.col("label")).cast("double"))
    share = predict(frame, model).agg(right).first()[0]
    return learned - start, time.perf_counter() - learned, share


def of_mllib(frame: Any) -> tuple[float, float, float]:
    """Return the seconds for learning and predicting, and the accuracy of MLlib."""
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import HashingTF, StringIndexer, Tokenizer
    from pyspark.sql import functions as f

    start = time.perf_counter()
    steps = [
        StringIndexer(inputCol="label", outputCol="y"),
        Tokenizer(inputCol="text", outputCol="words"),
        HashingTF(inputCol="words", outputCol="features"),
        NaiveBayes(labelCol="y"),
    ]
    model = Pipeline(stages=steps).fit(frame)
    learned = time.perf_counter()
    right = f.avg((f.col("prediction") == f.col("y")).cast("double"))
    share = model.transform(frame).agg(right).first()[0]
    return learned - start, time.perf_counter() - learned, share


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=111_480, help="default: 111,480")
    parser.add_argument("--partitions", type=int, default=8, help="default: 8")
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    args = parser.parse_args(argv)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    from streamnb import MNB

    messages = rows(args.messages)
    start = time.perf_counter()
    alone = MNB()
    alone.learn_many([text for text, _ in messages], [label for _, label in messages])
    one_process = time.perf_counter() - start
    contestants: dict[str, Callable[[Any], tuple[float, float, float]]] = {
        "streamnb.spark, MNB": of_streamnb,
        "MLlib, HashingTF and NaiveBayes": of_mllib,
    }
    taken: dict[str, list[tuple[float, float, float]]] = {name: [] for name in contestants}
    with tempfile.TemporaryDirectory() as folder:
        spark = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.warehouse.dir", folder)
            .config("spark.driver.host", "127.0.0.1")
            .getOrCreate()
        )
        spark.sparkContext.setLogLevel("ERROR")
        spark.createDataFrame(messages, "text string, label string").repartition(
            args.partitions
        ).write.parquet(f"{folder}/messages")
        frame = spark.read.parquet(f"{folder}/messages").cache()
        frame.count()
        for _ in range(args.rounds + 1):
            for name, run in contestants.items():
                taken[name].append(run(frame))
        spark.stop()
    print(f"{len(messages):,} messages in {args.partitions} partitions; medians of {args.rounds}")
    print(f"one process without Spark learns them in {one_process:.2f} s")
    print("| | first round, s | learn, s | predict, s | accuracy on what was learned |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, times in taken.items():
        learn, predict = (statistics.median(one[step] for one in times[1:]) for step in (0, 1))
        first = times[0][0] + times[0][1]
        print(f"| {name} | {first:.2f} | {learn:.2f} | {predict:.2f} | {times[-1][2]:.4f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
