"""Models named on the command line: `MNB`, `HMNB(alpha=0.5)`, `river:MultinomialNB`."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import difflib
from typing import TYPE_CHECKING, Any

from streamnb import models
from streamnb.errors import InputError

if TYPE_CHECKING:
    from streamnb.evaluation.scoring import Model

__all__ = ["HELP", "MODELS", "RIVER_MODELS", "ModelSpec", "build", "build_all", "model_spec"]

# Of texts: the command line reads nothing else.
MODELS = tuple(name for name in models.__all__ if not getattr(models, name).parts.event.columns)
RIVER_MODELS = ("MultinomialNB", "ComplementNB", "BernoulliNB")

HELP = (
    f"one of {', '.join(MODELS)}, or of river's own for comparison "
    f"(river:{', river:'.join(RIVER_MODELS)}, after its BagOfWords), with parameters where wanted, "
    "as in \"HMNB(alpha=0.5, threshold='auto')\""
)

_RIVER = "river:"


@dataclasses.dataclass(frozen=True)
class ModelSpec:
    """A model's name and parameters; `text` is how the user wrote it."""

    text: str
    name: str
    parameters: dict[str, Any]


def model_spec(text: str) -> ModelSpec:
    """Parse a model and its parameters; the values are Python literals and nothing is run.

    Parameters
    ----------
    text
        A name, or a name with keyword parameters in parentheses.

    Raises
    ------
    argparse.ArgumentTypeError
        It is something else, or there is no such model.

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
    known = MODELS + tuple(_RIVER + each for each in RIVER_MODELS)
    if name not in known:
        close = difflib.get_close_matches(name.upper(), known, n=1) or difflib.get_close_matches(
            name, known, n=1
        )
        hint = f"; did you mean {close[0]}?" if close else ""
        raise argparse.ArgumentTypeError(
            f"there is no model {name!r}{hint} (known: {', '.join(known)})"
        )
    parameters = {}
    for keyword in keywords:
        try:
            parameters[str(keyword.arg)] = ast.literal_eval(keyword.value)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            raise argparse.ArgumentTypeError(
                f"{text!r}: {keyword.arg} should be a number, a quoted string, True, False or None"
            ) from None
    return ModelSpec(stripped, name, parameters)


def _misread(text: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(
        f"{text!r} is not a model: write NAME or NAME(parameter=value, ...)"
    )


def build(spec: ModelSpec) -> Model:
    """Make the model that a specification describes.

    Parameters
    ----------
    spec
        What `model_spec` returned.

    Raises
    ------
    InputError
        The model does not take these parameters.
    """
    try:
        if spec.name.startswith(_RIVER):
            from river import feature_extraction, naive_bayes

            last = getattr(naive_bayes, spec.name.removeprefix(_RIVER))(**spec.parameters)
            pipeline: Model = feature_extraction.BagOfWords() | last
            return pipeline
        import streamnb

        model: Model = getattr(streamnb, spec.name)(**spec.parameters)
    except (TypeError, ValueError) as error:
        reason = str(error).replace(f"{spec.name.removeprefix(_RIVER)}.__init__() ", "")
        raise InputError(f"--model {spec.text}: {reason}") from error
    return model


def build_all(specs: list[ModelSpec]) -> dict[str, Model]:
    """Make several models, by the texts that describe them.

    Parameters
    ----------
    specs
        What `model_spec` returned, each of a different text.

    Raises
    ------
    InputError
        The same text twice, or a model does not take its parameters.
    """
    built: dict[str, Model] = {}
    for spec in specs:
        if spec.text in built:
            raise InputError(f"--model {spec.text} is given twice")
        built[spec.text] = build(spec)
    return built
