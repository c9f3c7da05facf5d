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


def hold_to(wanted: Edition, found: Edition | None = None) -> None:
    """Refuse a worker that has other versions.

    Parameters
    ----------
    wanted : mapping of str to str
        The versions of the process that asks.
    found : mapping of str to str, optional
        Those of the worker; of this process if it is the worker.

    Raises
    ------
    AnalysisError
        Which names the first that differs.
    """
    there = edition() if found is None else found
    for name, asked in wanted.items():
        if there.get(name) != asked:
            raise AnalysisError(
                f"the worker has {name} {there.get(name, 'not at all')}, and the process that asks "
                f"has {asked}: their numbers could differ",
                fix="install the same versions on the workers",
            )
