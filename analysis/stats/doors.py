"""What every public function asks of its arguments before it looks at their ranges.

Two doors, so that a wrong argument is refused alike everywhere, as our own error: `door` holds each
argument against its annotation, `numbers` turns what a user calls values into an array of doubles.
"""

from __future__ import annotations

import decimal
import functools
import inspect
import numbers as number_kinds
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import AnalysisError, FairtrialError, UsageError

__all__ = ["MOST", "counted", "door", "numbers", "shown"]

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
MOST = 10_000_000  # resamples, simulations, drawn values: more is a slip of the keyboard
_SHOWN = 60  # columns of a wrong value in a message
_EVERYTHING = (Any, ArrayLike, object)


def door(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Refuse arguments that are not of the kind that the function's annotations say.

    Numbers are whole or real ones and never truth values, texts are text, generators, matrices and
    mixtures are such; sequences and mappings are looked into. Which values are allowed is the
    function's own question: array_like arguments go through `numbers` there.

    Raises
    ------
    UsageError
        If an argument is of another kind; the message names it.
    """
    signature = inspect.signature(function)
    hints: dict[str, Any] = {}

    @functools.wraps(function)
    def checked(*args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        if not hints:
            hints.update(typing.get_type_hints(function))
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            kind = signature.parameters[name].kind
            several = value if kind is inspect.Parameter.VAR_POSITIONAL else (value,)
            for one in several:
                if name in hints and not _fits(one, hints[name]):
                    raise UsageError(f"{name} must be {_said(hints[name])}, not {shown(one)}")
        return function(*args, **kwargs)

    return checked


def numbers(
    values: ArrayLike,
    what: str,
    where: str | None = None,
    *,
    dimensions: int | None = 1,
    wrong: type[FairtrialError] = UsageError,
) -> NDArray[np.float64]:
    """Give values as a new array of doubles; whether they are finite is not looked at.

    Parameters
    ----------
    values : array_like
        Real numbers: no text, truth values or complex numbers, no lists of different lengths.
    what : str
        What the values are called in a message, such as "the runs".
    where : str, optional
        Where they stand.
    dimensions : int or None
        How many; any number if None.
    wrong : type
        The error for what are no numbers, or too many dimensions.

    Raises
    ------
    UsageError, or what `wrong` says
        As said there.
    AnalysisError
        If a whole number is beyond all doubles.
    """
    try:
        found = np.asarray(values)
    except (TypeError, ValueError, OverflowError):  # lists of different lengths
        raise wrong(f"{what} are not numbers in lists of one length", where) from None
    if found.dtype.kind == "O":
        found = _from_objects(found, what, where, wrong)
    if found.dtype.kind not in "iuf":
        raise wrong(f"{what} are not numbers, but {shown(values)}", where)
    if dimensions is not None and found.ndim != dimensions:
        raise wrong(f"{what} must be a flat list, not {found.ndim}-dimensional", where)
    with np.errstate(over="ignore"):  # what only a longer format holds becomes infinite
        return np.array(found, dtype=np.float64)


def counted(name: str, value: int, least: int = 1, most: int = MOST) -> int:
    """Give a whole number back.

    Raises
    ------
    UsageError
        If it is none, or lies outside of `least` to `most`.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise UsageError(f"{name} must be a whole number, not {shown(value)}")
    if not least <= value <= most:
        raise UsageError(f"{name} must lie between {least:,} and {most:,}, and is {shown(value)}")
    return int(value)


def shown(value: object) -> str:
    """Give a wrong value for a message, in one short line whatever it is."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - whole numbers of 4,300 digits, and objects of others
        text = f"something of type {type(value).__name__}"
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _from_objects(
    found: NDArray[Any], what: str, where: str | None, wrong: type[FairtrialError]
) -> NDArray[np.float64]:
    """Convert numbers that numpy leaves as they are: large whole numbers, fractions, decimals."""
    doubles = np.empty(found.shape)
    for place, value in np.ndenumerate(found):
        if isinstance(value, bool) or not isinstance(value, number_kinds.Real | decimal.Decimal):
            raise wrong(f"{what} are not numbers: one is {shown(value)}", where)
        try:
            doubles[place] = float(value)
        except OverflowError:
            raise AnalysisError(
                f"{what} leave the range of numbers: one exceeds 1.8e308",
                where,
                "choose a larger unit",
            ) from None
    return doubles


def _fits(value: object, hint: Any) -> bool:  # noqa: ANN401 - an annotation may be anything
    origin, inner = get_origin(hint), get_args(hint)
    if hint in _EVERYTHING or isinstance(hint, TypeVar):
        return True
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is Literal:
        return isinstance(value, str)
    if hint is None or hint is type(None):
        return value is None
    if hint is float:
        return _real(value)
    if hint is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    if hint is bool:
        return isinstance(value, bool | np.bool_)
    if origin is tuple:
        return isinstance(value, tuple | list) and len(value) == len(inner) and _all(value, inner)
    if origin in (Sequence, Iterable):
        return (_is_list(value) or (inner[0] is str and isinstance(value, str))) and all(
            _fits(one, inner[0]) for one in typing.cast("Any", value)
        )
    if origin is Mapping:
        return isinstance(value, Mapping) and all(
            _fits(key, inner[0]) and _fits(one, inner[1]) for key, one in value.items()
        )
    if origin is Callable:
        return callable(value)
    return isinstance(value, origin or hint) if isinstance(origin or hint, type) else True


def _all(values: Sequence[object], hints: Sequence[Any]) -> bool:
    return all(_fits(value, hint) for value, hint in zip(values, hints, strict=True))


def _real(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, number_kinds.Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def _is_list(value: object) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 1
    return isinstance(value, Sequence | range) and not isinstance(value, str | bytes)


def _said(hint: Any) -> str:  # noqa: ANN401
    """Say in words what an annotation asks for."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_said(one) for one in inner))
    if origin is Literal:
        return f"one of {', '.join(map(str, inner))}"
    if origin in (tuple, Sequence, Iterable):
        return f"a list of {_said(inner[0]).removeprefix('a ').removeprefix('an ')}s"
    if origin is Mapping:
        return f"a mapping of texts, each to {_said(inner[1])}"
    if origin is Callable:
        return "a function"
    words = {
        float: "a number",
        int: "a whole number",
        bool: "True or False",
        str: "a text",
        type(None): "None",
        np.random.Generator: "a random generator, as numpy.random.default_rng(seed) gives",
    }
    return words.get(hint, f"a {getattr(hint, '__name__', 'value')}")
