"""Learning, predicting and prequential streams on Apache Spark data frames.

Spark splits a frame into partitions, runs them, and repeats the partitions of a lost machine.
Counts are sums, so each partition is learned separately, and the models are merged in a tree.

>>> from streamnb.spark import Prequential, learn, predict
"""

from streamnb.spark.frames import learn, predict
from streamnb.spark.streams import Prequential

__all__ = ["Prequential", "learn", "predict"]
