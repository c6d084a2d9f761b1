"""Many machines, by Apache Spark: learning, predicting and streams on Spark's frames.

Spark is the engine: it cuts a frame into partitions, runs them and repeats those of a machine that
is lost. Here stands what a partition does with a model: counts are sums, so partitions are learned
apart and merged by a tree.

>>> from streamnb.spark import Prequential, learn, predict
"""

from streamnb.spark.frames import learn, predict
from streamnb.spark.streams import Prequential

__all__ = ["Prequential", "learn", "predict"]
