"""Model specifications: `MNB`, `HMNB(alpha=0.5)`, `river:MultinomialNB`."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import difflib
from collections.abc import Sequence
from typing import Any

from streamnb import families
from streamnb.challenger import Challenger
from streamnb.errors import InputError
from streamnb.evaluation.scoring import Classifier
from streamnb.multilabel import MultiLabelNB
from streamnb.text.tokenizer import Tokenizer
from streamnb.vectors import WithVectors

MODELS = tuple(families.MODELS)
TABLE_MODELS = (
    *(name for name in MODELS if name not in families.TEXT_MODELS),
    *("HNB(columns=True)", "PHNB(columns=True)"),
)
"""The models that read rows of attributes."""
DEFAULT = "OnlineNB"
"""The default model of commands."""
RIVER_MODELS = ("MultinomialNB", "ComplementNB", "BernoulliNB")

SEVERAL_LABELS = MultiLabelNB.__name__
"""The model of messages with any number of labels."""
CHALLENGER = "Challenger"
BOOSTING = "WeightedBoosting"
WITH_VECTORS = "WithVectors"
WRAPPERS = (CHALLENGER, BOOSTING, WITH_VECTORS)
"""The wrappers around a model of this package."""

HELP = (
    f"one of {', '.join(families.TEXT_MODELS)} for texts, or {', '.join(TABLE_MODELS)} for rows of "
    f"attributes, or {SEVERAL_LABELS} for records of JSON with an array of labels, or a model of "
    f"river for comparison "
    f"(river:{', river:'.join(RIVER_MODELS)}, after its BagOfWords), "
    f"or {CHALLENGER}(model=MNB()), which a new MNB() replaces when errors "
    f"drift, or {BOOSTING}(model=MNB(), n_models=5), an ensemble, "
    f"or {WITH_VECTORS}(model=OnlineNB()), with static text vectors; "
    "with optional parameters, as in \"HMNB(alpha=0.5, threshold='auto')\" or "
    "\"MNB(tokenizer=Tokenizer(analyzer='char_wb', ngram_range=(2, 5)))\""
)

_RIVER = "river:"
_UNREADABLE = (SyntaxError, TypeError, ValueError, RecursionError, MemoryError)


@dataclasses.dataclass(frozen=True)
class ModelSpec:
    """A model's name and parameters; `text` is what the user wrote."""

    text: str
    name: str
    parameters: dict[str, Any]


def model_spec(text: str) -> ModelSpec:
    """Parse a model and its parameters; values are Python literals, and no code is executed.

    The parameter `tokenizer` also takes `Tokenizer(...)` with options by name, and the parameter
    `model` of a wrapper a model of this package: `Challenger(model=MNB(alpha=0.5))`.

    Parameters
    ----------
    text
        A name, or a name with keyword parameters in parentheses.

    Raises
    ------
    argparse.ArgumentTypeError
        If the text is invalid, or the model is unknown.

    Examples
    --------
    >>> model_spec("HMNB(alpha=0.5, threshold='auto')").parameters
    {'alpha': 0.5, 'threshold': 'auto'}
    """
    stripped = text.strip()
    prefix = _RIVER if stripped.startswith(_RIVER) else ""
    try:
        node = ast.parse(stripped.removeprefix(prefix), mode="eval").body
    except _UNREADABLE:
        raise _misread(text) from None
    name, keywords = _call(text, node, "MNB(alpha=0.5)")
    name = prefix + name
    known = (*MODELS, SEVERAL_LABELS, *WRAPPERS, *(_RIVER + each for each in RIVER_MODELS))
    if name not in known:
        folded = {each.casefold(): each for each in known}
        close = difflib.get_close_matches(name.casefold(), folded, n=1)
        hint = f"; did you mean {folded[close[0]]}?" if close else ""
        raise argparse.ArgumentTypeError(
            f"unknown model {name!r}{hint} (known: {', '.join(known)})"
        )
    return ModelSpec(stripped, name, {key: _value(text, key, keywords[key]) for key in keywords})


def _call(text: str, node: ast.expr, example: str) -> tuple[str, dict[str, ast.expr]]:
    """Return the name and the keyword arguments of a call, or of a name alone."""
    keywords: list[ast.keyword] = []
    if isinstance(node, ast.Call):
        keywords = node.keywords
        if node.args or any(keyword.arg is None for keyword in keywords):
            raise argparse.ArgumentTypeError(f"{text!r}: give options by name, as in {example}")
        node = node.func
    if not isinstance(node, ast.Name):
        raise _misread(text)
    return node.id, {str(keyword.arg): keyword.value for keyword in keywords}


def _value(text: str, name: str, node: ast.expr) -> Any:
    if name == "model" and isinstance(node, (ast.Call, ast.Name)):
        return model_spec(ast.unparse(node))
    allowed = "a number, a quoted string, a tuple of these, True, False or None"
    if name == "tokenizer":
        allowed = "None or Tokenizer(...), as in Tokenizer(analyzer='char', ngram_range=(2, 5))"
        if isinstance(node, ast.Call) and ast.unparse(node.func) == Tokenizer.__name__:
            return _tokenizer(text, node)
    try:
        return ast.literal_eval(node)
    except _UNREADABLE:
        raise argparse.ArgumentTypeError(f"{text!r}: {name} should be {allowed}") from None


def _tokenizer(text: str, call: ast.Call) -> Tokenizer:
    _, keywords = _call(text, call, "Tokenizer(analyzer='char')")
    known = [field.name for field in dataclasses.fields(Tokenizer)]
    if unknown := [name for name in keywords if name not in known]:
        raise argparse.ArgumentTypeError(
            f"{text!r}: Tokenizer takes {', '.join(known)}, not {unknown[0]}"
        )
    options = {name: _value(text, f"tokenizer: {name}", keywords[name]) for name in keywords}
    try:
        return Tokenizer(**options)
    except (TypeError, ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError(f"{text!r}: tokenizer: {error}") from None


def _misread(text: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(
        f"{text!r} is not a model: write NAME or NAME(parameter=value, ...)"
    )


def build(spec: ModelSpec) -> Classifier:
    """Return a new model for a specification.

    Raises
    ------
    InputError
        If the model does not take these parameters.
    """
    try:
        if spec.name.startswith(_RIVER):
            from river import feature_extraction, naive_bayes

            last = getattr(naive_bayes, spec.name.removeprefix(_RIVER))(**spec.parameters)
            pipeline: Classifier = feature_extraction.BagOfWords() | last
            return pipeline
        if spec.name in WRAPPERS:
            inner = spec.parameters.get("model")
            if not isinstance(inner, ModelSpec) or inner.name not in MODELS:
                raise InputError("model must be a model of this package, as in model=MNB()")
            parameters: Any = spec.parameters | {"model": build(inner)}
            if spec.name == CHALLENGER:
                return Challenger(**parameters)
            if spec.name == WITH_VECTORS:
                return WithVectors(**parameters)
            from streamnb.ensembles import WeightedBoosting  # its import takes long

            return WeightedBoosting(**parameters)
        if spec.name == SEVERAL_LABELS:
            return MultiLabelNB(**spec.parameters)
        model: Classifier = families.MODELS[spec.name](**spec.parameters)
    except (TypeError, ValueError) as error:
        written = spec.name.removeprefix(_RIVER)
        reason = str(error).replace(f"{written}.__init__() ", "")
        raise InputError(f"--model {spec.text}: {reason}") from error
    return model


def with_fields(
    spec: ModelSpec, fields: Sequence[str], per_field: str | None, numbers: Sequence[str] = ()
) -> ModelSpec:
    """Return a specification whose tokenizer reads fields, if there are any.

    Models of river stay unchanged.

    Parameters
    ----------
    spec
        The model.
    fields, per_field, numbers
        As in `Tokenizer`.

    Raises
    ------
    InputError
        If a name is invalid.
    """
    if not (fields or per_field or numbers):
        return spec
    return with_tokenizer(spec, fields=tuple(fields), per_field=per_field, numbers=tuple(numbers))


def with_tokenizer(spec: ModelSpec, **options: Any) -> ModelSpec:
    """Return a specification with other options of its tokenizer, as in `Tokenizer`.

    Models of river stay unchanged.

    Raises
    ------
    InputError
        If an option is invalid, or the model reads tables.
    """
    inner = spec.parameters.get("model")
    if isinstance(inner, ModelSpec):
        changed: dict[str, Any] = {"model": with_tokenizer(inner, **options)}
    elif spec.name in MODELS and spec.name not in families.TEXT_MODELS:
        raise InputError(
            f"--fields: {spec.text} reads all attributes of a row; fields and hashed words are for "
            f"models of texts"
        )
    elif spec.name in (*MODELS, SEVERAL_LABELS):
        tokenizer = spec.parameters.get("tokenizer")
        kind: Any = families.TEXT_MODELS.get(spec.name, MultiLabelNB)
        tokenizer = tokenizer or kind.default_tokenizer
        changed = {"tokenizer": dataclasses.replace(tokenizer, **options)}
    else:
        return spec
    return dataclasses.replace(spec, parameters=spec.parameters | changed)


def build_all(specs: list[ModelSpec]) -> dict[str, Classifier]:
    """Return new models by their specifications as texts.

    Raises
    ------
    InputError
        If a text appears twice, or a model does not take its parameters.
    """
    built: dict[str, Classifier] = {}
    for spec in specs:
        if spec.text in built:
            raise InputError(f"--model {spec.text} is given twice")
        built[spec.text] = build(spec)
    return built
