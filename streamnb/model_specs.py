"""Model specifications: `MNB`, `HMNB(alpha=0.5)`, `river:MultinomialNB`."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import difflib
from typing import TYPE_CHECKING, Any

from streamnb import families
from streamnb.challenger import Challenger
from streamnb.errors import InputError
from streamnb.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from streamnb.evaluation.scoring import Classifier

__all__ = [
    "DEFAULT",
    "HELP",
    "MODELS",
    "RIVER_MODELS",
    "ModelSpec",
    "build",
    "build_all",
    "model_spec",
]

MODELS = tuple(families.TEXT_MODELS)  # nothing that takes a specification reads columns
DEFAULT = "OnlineNB"
"""The default model of commands."""
RIVER_MODELS = ("MultinomialNB", "ComplementNB", "BernoulliNB")

CHALLENGER = "Challenger"
"""Name of the wrapper around a model of this package."""

HELP = (
    f"one of {', '.join(MODELS)}, or a model of river for comparison "
    f"(river:{', river:'.join(RIVER_MODELS)}, after its BagOfWords), "
    f"or {CHALLENGER}(model=MNB()), which a new MNB() replaces when errors "
    "drift; with optional parameters, as in \"HMNB(alpha=0.5, threshold='auto')\" or "
    "\"MNB(tokenizer=Tokenizer(analyzer='char_wb', ngram_range=(2, 5)))\""
)

_RIVER = "river:"


@dataclasses.dataclass(frozen=True)
class ModelSpec:
    """A model's name and parameters; `text` is what the user wrote."""

    text: str
    name: str
    parameters: dict[str, Any]


def model_spec(text: str) -> ModelSpec:
    """Parse a model and its parameters; values are Python literals, and no code is executed.

    The parameter `tokenizer` also takes `Tokenizer(...)` with options by name, and the parameter
    `model` of `Challenger` a model of this package: `Challenger(model=MNB(alpha=0.5))`.

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
        node: ast.expr = ast.parse(stripped.removeprefix(prefix), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _misread(text) from None
    keywords: list[ast.keyword] = []
    if isinstance(node, ast.Call):
        keywords = node.keywords
        if node.args or any(keyword.arg is None for keyword in keywords):
            raise argparse.ArgumentTypeError(
                f"{text!r}: give parameters by name, as in MNB(alpha=0.5)"
            )
        node = node.func
    if not isinstance(node, ast.Name):
        raise _misread(text)
    name = prefix + node.id
    known = (*MODELS, CHALLENGER, *(_RIVER + each for each in RIVER_MODELS))
    if name not in known:
        close = difflib.get_close_matches(name.upper(), known, n=1) or difflib.get_close_matches(
            name, known, n=1
        )
        hint = f"; did you mean {close[0]}?" if close else ""
        raise argparse.ArgumentTypeError(
            f"unknown model {name!r}{hint} (known: {', '.join(known)})"
        )
    parameters = {str(keyword.arg): _value(text, keyword) for keyword in keywords}
    return ModelSpec(stripped, name, parameters)


def _value(text: str, keyword: ast.keyword) -> Any:
    if keyword.arg == "tokenizer" and isinstance(keyword.value, ast.Call):
        return _tokenizer(text, keyword.value)
    if keyword.arg == "model" and isinstance(keyword.value, (ast.Call, ast.Name)):
        return model_spec(ast.unparse(keyword.value))
    try:
        return ast.literal_eval(keyword.value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        allowed = "a number, a quoted string, True, False or None"
        if keyword.arg == "tokenizer":
            allowed = "None or Tokenizer(...), as in Tokenizer(analyzer='char', ngram_range=(2, 5))"
        raise argparse.ArgumentTypeError(f"{text!r}: {keyword.arg} should be {allowed}") from None


def _tokenizer(text: str, call: ast.Call) -> Tokenizer:
    known = [field.name for field in dataclasses.fields(Tokenizer)]
    if not (isinstance(call.func, ast.Name) and call.func.id == Tokenizer.__name__):
        raise argparse.ArgumentTypeError(
            f"{text!r}: tokenizer should be None or Tokenizer(...), not another call"
        )
    options = {}
    for keyword in call.keywords:
        if keyword.arg not in known:
            raise argparse.ArgumentTypeError(
                f"{text!r}: Tokenizer takes {', '.join(known)}, not {keyword.arg or '**'}"
            )
        try:
            options[keyword.arg] = ast.literal_eval(keyword.value)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            raise argparse.ArgumentTypeError(
                f"{text!r}: tokenizer: {keyword.arg} should be a number, a quoted string, "
                "True, False, None or a pair of numbers, as in (2, 5)"
            ) from None
    if call.args:
        raise argparse.ArgumentTypeError(
            f"{text!r}: give the tokenizer's options by name, as in Tokenizer(analyzer='char')"
        )
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

    Parameters
    ----------
    spec
        A specification from `model_spec`.

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
        if spec.name == CHALLENGER:
            inner = spec.parameters.get("model")
            if not isinstance(inner, ModelSpec) or inner.name not in MODELS:
                raise InputError("model must be a model of this package, as in model=MNB()")
            parameters: Any = spec.parameters | {"model": build(inner)}
            return Challenger(**parameters)
        model: Classifier = families.TEXT_MODELS[spec.name](**spec.parameters)
    except (TypeError, ValueError) as error:
        written = spec.name.removeprefix(_RIVER)
        reason = str(error).replace(f"{written}.__init__() ", "")
        raise InputError(f"--model {spec.text}: {reason}") from error
    return model


def build_all(specs: list[ModelSpec]) -> dict[str, Classifier]:
    """Return new models by their specifications as texts.

    Parameters
    ----------
    specs
        Specifications from `model_spec` with different texts.

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
