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

from streamnb.errors import MissingDependencyError

try:
    from streamnb.sklearn.classifier import StreamNBClassifier
except ModuleNotFoundError as error:
    if error.name is None or error.name.partition(".")[0] != "sklearn":
        raise
    raise MissingDependencyError(
        "streamnb.sklearn needs scikit-learn: pip install 'streamnb[sklearn]'"
    ) from error

__all__ = ["StreamNBClassifier"]
