"""Models as scikit-learn estimators, for pipelines, searches and cross-validation.

It needs the extra `sklearn`. No other module of streamnb imports it.

Examples
--------
>>> from streamnb.sklearn import StreamNBClassifier
>>> classifier = StreamNBClassifier("MNB")
>>> classifier.fit(["win cash now", "see you at noon"], ["spam", "ham"]).predict(["cash, now!"])
array(['spam'], dtype='<U4')
"""

from __future__ import annotations

from streamnb.errors import needed_for

with needed_for("streamnb.sklearn", "sklearn"):
    from streamnb.sklearn.classifier import StreamNBClassifier

__all__ = ["StreamNBClassifier"]
