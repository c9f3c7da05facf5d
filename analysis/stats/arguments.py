"""What every public function asks of its arguments before it looks at their ranges; seeds.

A wrong argument is refused alike everywhere, as our own error: `checks_arguments` holds each argument against
its annotation, `numbers` turns what a user calls values into an array of doubles.
"""

from __future__ import annotations

import decimal
import functools
import inspect
import numbers as number_kinds
import types
import typing
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar, Union, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike

from ..errors import AnalysisError, FairtrialError, UsageError
from .samples import Array

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
MOST = 10_000_000  # resamples, simulations, drawn values: more is a slip of the keyboard
_SHOWN = 60  # columns of a wrong value in a message


def checks_arguments(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Refuse arguments that are not of the kind that the function's annotations say.

    Numbers are whole or real ones and never truth values, texts are text, generators, matrices and
    mixtures are such; sequences and mappings are looked into. Which values are allowed is the
    function's own question: array_like arguments go through `numbers` there.

    A whole number stands for the generator of that seed, and an array, or lists in a list, for a matrix: then
    ``better="lower"`` or ``"higher"`` says which values are better.
    """
    signature = inspect.signature(function)
    kinds: dict[str, _Requirement] = {}
    hints: dict[str, Any] = {}

    @functools.wraps(function)
    def checked(*args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        if not kinds:
            hints.update(typing.get_type_hints(function))
            kinds.update((name, _kind_of(hint)) for name, hint in hints.items())
        better = None if "better" in signature.parameters else kwargs.pop("better", None)
        bound, unused = signature.bind(*args, **kwargs), better is not None
        for name, value in bound.arguments.items():
            variadic = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
            for one in value if variadic else (value,):
                if name in kinds and not kinds[name].fits(one):
                    made = None if variadic else _made(name, one, hints[name], better)
                    if made is None:
                        raise UsageError(f"{name} must be {kinds[name].words}, not {shown(one)}")
                    unused = unused and isinstance(made, np.random.Generator)
                    bound.arguments[name] = made
        if unused:
            raise UsageError("better is for arrays: a matrix says which values are better itself")
        return function(*bound.args, **bound.kwargs)

    return checked


def _made(name: str, value: Any, hint: Any, better: Any) -> Any:  # noqa: ANN401 - of any function
    """Make the generator of a seed, or the matrix of an array; None of all else."""
    kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 0
    if whole and np.random.Generator in kinds:
        return np.random.default_rng(value)
    matrix = next((kind for kind in kinds if hasattr(kind, "of_array")), None)
    if matrix is None or not isinstance(value, np.ndarray | list | tuple):
        return None
    return matrix.of_array(name, value, better)


class _Requirement(NamedTuple):
    """What an annotation asks for: a test of a value, and its words in a message."""

    fits: Callable[[Any], bool]
    words: str


def _is_real(value: object) -> bool:
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


_SIMPLE = {
    float: _Requirement(_is_real, "a number"),
    int: _Requirement(
        lambda value: isinstance(value, int | np.integer) and not isinstance(value, bool),
        "a whole number",
    ),
    bool: _Requirement(lambda value: isinstance(value, bool | np.bool_), "True or False"),
    str: _Requirement(lambda value: isinstance(value, str), "a text"),
    types.NoneType: _Requirement(lambda value: value is None, "None"),
    np.random.Generator: _Requirement(
        lambda value: isinstance(value, np.random.Generator),
        "a random generator, as numpy.random.default_rng(seed) gives",
    ),
}


def _kind_of(hint: Any) -> _Requirement:  # noqa: ANN401 - an annotation may be anything
    origin, inner = get_origin(hint), get_args(hint)
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if origin is Literal:
        return _Requirement(
            lambda value: isinstance(value, str), f"one of {', '.join(map(str, inner))}"
        )
    if origin is Callable:
        return _Requirement(callable, "a function")
    if origin not in (Union, types.UnionType, tuple, Sequence, Iterable, Mapping):
        known = object if hint is Any else origin or hint
        return _Requirement(
            lambda value: not isinstance(known, type) or isinstance(value, known),
            f"a {getattr(hint, '__name__', 'value')}",
        )
    parts = [_kind_of(one) for one in inner]
    if origin in (Union, types.UnionType):
        return _Requirement(
            lambda value: hint == ArrayLike or any(part.fits(value) for part in parts),
            " or ".join(dict.fromkeys(part.words for part in parts)),
        )
    if origin is Mapping:
        return _Requirement(
            lambda value: (
                isinstance(value, Mapping)
                and all(parts[0].fits(key) and parts[1].fits(one) for key, one in value.items())
            ),
            f"a mapping of texts, each to {parts[1].words}",
        )
    noun = parts[0].words
    words = f"a list of {noun[2:]}s" if inner[0] in _SIMPLE else f"a list, each {noun}"
    if origin is tuple:
        return _Requirement(
            lambda value: (
                isinstance(value, tuple | list)
                and len(value) == len(parts)
                and all(part.fits(one) for part, one in zip(parts, value, strict=True))
            ),
            words,
        )
    there = inner[0] is str
    return _Requirement(
        lambda value: (
            (_is_list(value) or (there and isinstance(value, str)))
            and all(map(parts[0].fits, value))
        ),
        words,
    )


def numbers(
    values: ArrayLike,
    what: str,
    where: str | None = None,
    *,
    dimensions: int | None = 1,
    wrong: type[FairtrialError] = UsageError,
) -> Array:
    """Give values as a new array of doubles; whether they are finite is not looked at.

    `values`: Real numbers: no text, truth values or complex numbers, no lists of different lengths.
    `what`, `where`: What the values are called in a message, such as "the runs", and where they
    stand. `dimensions`: How many; any number if None. `wrong`: The error for what are no numbers,
    or too many dimensions. A whole number beyond all doubles is an AnalysisError.
    """
    if np.ma.is_masked(values):  # asarray forgets the mask
        fix = "give those that count: values.compressed(), of a matrix row by row, to PerformanceMatrix.from_samples"
        raise wrong(f"{what} are masked in part", where, fix)
    try:
        found = np.asarray(values)
    except (TypeError, ValueError, OverflowError):  # lists of different lengths
        raise wrong(f"{what} are not numbers in lists of one length", where) from None
    if found.dtype.kind == "O":  # large whole numbers, fractions, decimals
        for one in found.flat:
            if isinstance(one, bool) or not isinstance(one, number_kinds.Real | decimal.Decimal):
                raise wrong(f"{what} are not numbers: one is {shown(one)}", where)
        try:
            found = found.astype(np.float64)
        except OverflowError:
            leave = f"{what} leave the range of numbers: one exceeds 1.8e308"
            raise AnalysisError(leave, where, "choose a larger unit") from None
    if found.dtype.kind not in "iuf":
        raise wrong(f"{what} are not numbers, but {shown(values)}", where)
    if dimensions is not None and found.ndim != dimensions:
        raise wrong(f"{what} must be a flat list, not {found.ndim}-dimensional", where)
    with np.errstate(over="ignore"):  # what only a longer format holds becomes infinite
        return np.array(found, dtype=np.float64)


def counted(name: str, value: int, least: int = 1, most: int = MOST) -> int:
    """Give a whole number back; it must be one, and lie in `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise UsageError(f"{name} must be a whole number, not {shown(value)}")
    if not least <= value <= most:
        raise UsageError(f"{name} must lie between {least:,} and {most:,}, and is {shown(value)}")
    return int(value)


def between(name: str, value: float, fix: str | None = None) -> float:
    """Give a number back that lies between 0 and 1, such as a risk or a confidence."""
    if not 0 < value < 1:
        raise UsageError(f"{name} must lie between 0 and 1, and is {value!r}", fix=fix)
    return value


def chosen(name: str, value: object, known: Sequence[str]) -> None:
    """Raise UsageError unless the value is one of those that are known."""
    if value not in known:
        *others, last = map(repr, known)
        raise UsageError(f"{name} must be {', '.join(others)} or {last}, not {shown(value)}")


def named(kind: str, given: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Give the names that are asked for, each once; there must be one, and all be known."""
    wrong = [name for name in given if name not in known]
    if wrong or not given:
        what = f"there is no {kind} {shown(wrong[0])}" if wrong else f"no {kind} is named"
        raise UsageError(what, fix=f"known here: {', '.join(known)}")
    return tuple(dict.fromkeys(given))


def shown(value: object) -> str:
    """Give a wrong value for a message, in one short line whatever it is."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - whole numbers of 4,300 digits, and objects of others
        text = f"something of type {type(value).__name__}"
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


@checks_arguments
def stream(source: int | np.random.Generator, *labels: str) -> np.random.Generator:
    """Give the stream of a seed and labels, such as a method's and a benchmark's name.

    Another label gives an independent stream, so adding a benchmark changes no other one's numbers.
    A function that takes `rng` draws one root from it, ``int(rng.integers(2**63))``, and derives a
    stream for each benchmark from that root: their order and number then do not matter.

    What a command printed with ``--seed`` comes from such streams; ``docs/json.md`` names them, so
    that a function of `analysis` gives the same numbers.

    Parameters
    ----------
    source : int or numpy.random.Generator
        The seed, not negative; or a stream, which gives one number for the seed.
    labels : str
        What the numbers are for.

    Raises
    ------
    UsageError
        If the seed is negative.
    """
    seed = source if isinstance(source, int) else int(source.integers(2**63))
    if seed < 0:
        raise UsageError(f"the seed must not be negative, and is {seed}")
    return np.random.default_rng([seed, *(zlib.crc32(label.encode()) for label in labels)])
