"""Models as scikit-learn estimators, for pipelines, searches and cross-validation.

It needs the extra `sklearn`. No other module of streamnb imports it.

Examples
--------
>>> from streamnb.sklearn import StreamNBClassifier
>>> classifier = StreamNBClassifier("MNB")
>>> classifier.fit(["win cash now", "see you at noon"], ["spam", "ham"]).predict(["cash, now!"])
array(['spam'], dtype='<U4')
"""

from streamnb.sklearn.classifier import StreamNBClassifier
from streamnb.sklearn.multilabel import StreamNBMultiLabelClassifier

__all__ = ["StreamNBClassifier", "StreamNBMultiLabelClassifier"]
