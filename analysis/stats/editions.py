"""Which versions compute: numbers agree to the last digit only where these do."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from ..errors import AnalysisError
from ..version import VERSION

__all__ = ["Edition", "edition", "hold_to"]

Edition = Mapping[str, str]  # library -> its version
_COMPUTING = ("numpy", "scipy", "numba", "scikit-learn")


@functools.cache
def edition() -> Edition:
    """Give the versions of fairtrial and of what computes for it, as far as it is installed."""
    found = {"fairtrial": VERSION}
    for name in _COMPUTING:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def hold_to(wanted: Edition) -> None:
    """Refuse to compute for a process that has other versions.

    Raises
    ------
    AnalysisError
        Which names the first that differs.
    """
    here = edition()
    for name, there in wanted.items():
        mine = here.get(name, "none")
        if mine != there:
            raise AnalysisError(
                f"a worker has {name} {mine} and this process {there}: their numbers could differ",
                fix="install the same versions on the workers",
            )
