"""Two matrices without their names: said once, because the baseline comes first here."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from ...errors import SidesWarning

__all__ = ["sides_by_name"]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_warned: list[str] = []  # functions, once a process


def sides_by_name(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Warn once a process when the sides are given by their places.

    Every other method takes the candidate first, so the answer would be reversed in silence.
    """

    @wraps(function)
    def checked(*args: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        if args and function.__name__ not in _warned:
            _warned.append(function.__name__)
            warnings.warn(
                f"{function.__name__} takes the baseline first, every other method the candidate; "
                f"write {function.__name__}(baseline=old, candidate=new)",
                SidesWarning,
                stacklevel=2,
            )
        return function(*args, **named)

    return checked
