"""The native core: tokeniser, count store and scores. Arrays cross as bytes or buffers."""

from array import array
from collections.abc import Hashable, Mapping
from typing import Any, Self, TypeVar, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "UNICODE_VERSION",
    "Batch",
    "CountStore",
    "NativeTokenizer",
    "Scoring",
    "class_ids",
    "compositions",
    "cooccurrence_squares",
    "mail_text",
    "pair_information",
    "read_mail",
    "split_depths",
    "tokenize_and_hash",
]

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
UNICODE_VERSION: str

_Label = TypeVar("_Label", bound=Hashable)

@final
class NativeTokenizer:
    def __new__(
        cls,
        *,
        lowercase: bool,
        strip_accents: bool,
        deobfuscate: bool,
        boundaries: str,
        words: tuple[int, int] | None,
        sparse_bigrams: int | None,
        characters: tuple[int, int] | None,
        characters_within_words: tuple[int, int] | None,
        length: bool,
        fields: bool,
        subject: bool,
        max_token_length: int | None,
        max_tokens: int | None,
        max_bytes: int | None,
    ) -> Self: ...
    def tokens(self, text: str) -> list[str]: ...
    def __deepcopy__(self, _memo: object, /) -> Self: ...

@final
class Batch:
    def __new__(cls, messages: list[Any]) -> Self: ...
    @staticmethod
    def from_rows(
        indptr: _Integers, indices: _Integers, data: _Floats, words: list[str]
    ) -> Batch: ...
    def __len__(self) -> int: ...

@final
class Scoring:
    def __new__(
        cls,
        *,
        event: str = "multinomial",
        dependence: str = "independent",
        estimate: str = "additive",
        weights: str = "uniform",
        document_weights: str = "uniform",
        neighbourhood: str = "stream",
        alpha: float = 1.0,
        prior: str = "empirical",
        oov: str = "smooth",
        vocabulary_size: float | None = None,
        max_parents: int | None = None,
        factor: float = 0.1,
        factors: list[tuple[float, float]] | None = None,
        nb_weight: float = 5.0,
        learning_rate: float = 4.0,
        bias_rate: float = 1.0,
        rate_decay: float = 16.0,
        margin: float = 0.05,
        calibrated: bool = True,
        forgetting_factor: float = 0.999,
        n_neighbors: int = 1,
    ) -> Self: ...
    def __deepcopy__(self, _memo: object, /) -> Self: ...

@final
class CountStore:
    def __new__(
        cls,
        tokenizer: NativeTokenizer,
        *,
        max_features: int = ...,
        index_size: int = 0,
        max_pairs: int = 0,
        frequencies: bool = False,
        columns: bool = False,
        own_pairs: bool = False,
        term_weighting: str = "counts",
        instance_weights: bool = False,
        online_weights: bool = False,
        half_life: float | None = None,
        windowed: bool = False,
    ) -> Self: ...
    @staticmethod
    def restore(tokenizer: NativeTokenizer, snapshot: bytes) -> CountStore: ...
    def weigh_instances(self, scoring: Scoring) -> None: ...
    def normalise(self, scoring: Scoring) -> None: ...
    def correct_online(self, scoring: Scoring) -> None: ...
    def learn(self, x: str | Mapping[Any, float], class_id: int, weight: Any) -> None: ...
    def learn_known(self, x: str | Mapping[Any, float], handle: int, weight: Any) -> bool: ...
    def learn_many(
        self,
        batch: Batch,
        class_ids: array[int],
        weight: Any,
        start: int,
        stop: int,
        threads: int,
    ) -> None: ...
    def expect_times(self, times: list[float]) -> None: ...
    def unlearn(self, x: str | Mapping[Any, float], class_id: int, weight: Any) -> bool: ...
    def merge(self, other: CountStore, class_ids: list[int]) -> None: ...
    def subtract(self, other: CountStore, class_ids: list[int]) -> None: ...
    def prune(self, keep: int) -> None: ...
    def have_documents(self, class_ids: list[int]) -> list[bool]: ...
    def predict(self, x: str | Mapping[Any, float], scoring: Scoring) -> int | None: ...
    def scores(self, x: str | Mapping[Any, float], scoring: Scoring) -> list[float]: ...
    def probable_scores(self, x: str | Mapping[Any, float], scoring: Scoring) -> list[float]: ...
    def probabilities(self, x: str | Mapping[Any, float], scoring: Scoring) -> list[float]: ...
    def decisions(
        self, x: str | Mapping[Any, float], scorings: list[Scoring]
    ) -> list[int | None]: ...
    def predict_many(
        self, batch: Batch, scoring: Scoring, labels: list[_Label], threads: int
    ) -> list[_Label | None]: ...
    def scores_many(self, batch: Batch, scoring: Scoring, threads: int) -> bytes: ...
    def probable_scores_many(self, batch: Batch, scoring: Scoring, threads: int) -> bytes: ...
    def predictions_many(self, batch: Batch, scoring: Scoring, threads: int) -> bytes: ...
    def explain(
        self, x: Mapping[Any, float], scoring: Scoring
    ) -> tuple[list[float], list[tuple[str, list[float]]]]: ...
    def corrections(
        self, x: Mapping[Any, float], scoring: Scoring
    ) -> list[tuple[str, list[float]]]: ...
    def set_ranks(self, ranks: list[tuple[int, int]]) -> None: ...
    def snapshot(self, statistics: bool) -> bytes: ...
    def counts(
        self,
    ) -> tuple[int, int, bytes, bytes, bytes, bytes, bytes, bytes, bytes]: ...
    def words(self) -> list[str]: ...
    def set_packages(
        self,
        layout: int,
        first: _Integers,
        second: _Integers,
        information: _Floats,
        threshold: float,
    ) -> bool: ...
    def set_package_threshold(self, threshold: float) -> None: ...
    def packages(self) -> list[tuple[int, int, float]]: ...
    def packaged_losses(
        self,
        x: str | Mapping[Any, float],
        scoring: Scoring,
        class_id: int,
        thresholds: list[float],
    ) -> list[float]: ...
    def declare(self, values: Mapping[str, int]) -> None: ...
    def rename(self, names: Mapping[str, str]) -> None: ...
    def set_parents(self, layout: int, weights: _Floats) -> bool: ...
    def set_min_df(self, min_df: int) -> None: ...
    def documents(
        self, ordered: bool
    ) -> tuple[
        tuple[int, int, bytes, bytes, bytes, bytes, bytes, bytes, bytes],
        bytes,
        bytes,
        bytes,
        bytes,
        bytes,
        bytes,
        bytes,
        bytes,
    ]: ...
    def set_effective(
        self,
        layout: int,
        alpha: float,
        totals: _Floats,
        indptr: _Integers,
        class_ids: _Integers,
        counts: _Floats,
    ) -> bool: ...
    def effective(self) -> tuple[bytes, bytes, bytes, bytes]: ...
    def set_weights(
        self,
        layout: int,
        words: _Floats,
        oov: float,
        documents: _Floats,
        indptr: _Integers,
        class_ids: _Integers,
        tokens: _Floats,
    ) -> bool: ...
    def weights(self) -> tuple[bytes, float, bytes, bytes, bytes, bytes] | None: ...
    def set_fitted_weights(self, layout: int, words: _Floats, scale: float) -> bool: ...
    def fitted_weights(self) -> tuple[bytes, float] | None: ...
    def init_tree(
        self,
        array: _Integers,
        waited: _Floats,
        max_depth: int,
        min_samples_leaf: float,
        online: tuple[float, float, float] | None,
    ) -> None: ...
    def grow_tree(
        self,
        max_depth: int,
        min_samples_leaf: float,
        online: tuple[float, float, float] | None,
    ) -> bool: ...
    def tree(self) -> tuple[bytes, bytes] | None: ...
    def take_emptied(self) -> list[int]: ...
    @property
    def forgetting(self) -> tuple[float | None, bool, bool]: ...
    @property
    def layout(self) -> int: ...
    @property
    def version(self) -> int: ...
    @property
    def n_documents(self) -> float: ...
    @property
    def n_words(self) -> int: ...
    @property
    def n_cells(self) -> int: ...
    @property
    def n_indexed(self) -> int: ...
    @property
    def term_weighting(self) -> str: ...
    @property
    def n_pairs(self) -> int: ...
    def __deepcopy__(self, _memo: object, /) -> CountStore: ...
    def __sizeof__(self) -> int: ...

def compositions() -> dict[str, dict[str, dict[str, Any]]]: ...
def class_ids(labels: list[Any], ids: dict[Any, int]) -> bytes: ...
def cooccurrence_squares(
    indptr: _Integers, word_ids: _Integers, weights: _Floats, n_words: int, threads: int
) -> bytes: ...
def mail_text(raw: bytes, *, room: int, header_room: int) -> str: ...
def read_mail(
    raw: bytes, *, room: int
) -> tuple[
    list[tuple[str, str]],
    list[str],
    list[tuple[str, str | None, str | None, list[tuple[str, str]], str | None]],
]: ...
def pair_information(
    indptr: _Integers,
    word_ids: _Integers,
    class_ids: _Integers,
    weights: _Floats,
    n_words: int,
    n_classes: int,
    most: int,
    threads: int,
) -> tuple[bytes, bytes, bytes, float]: ...
def split_depths(
    indptr: _Integers,
    word_ids: _Integers,
    class_ids: _Integers,
    weights: _Floats,
    word_order: _Integers,
    n_words: int,
    n_classes: int,
    max_depth: int,
    min_samples_leaf: float,
) -> bytes: ...
def tokenize_and_hash(tokenizer: NativeTokenizer, batch: Batch) -> int: ...
