"""The variants and benchmarks that are asked for: those that there are, and no others."""

from __future__ import annotations

from collections.abc import Sequence

from ..data import Trial
from ..errors import UsageError

__all__ = ["candidates_in", "known_names"]


def candidates_in(trial: Trial, asked: Sequence[str] | None) -> tuple[str, ...]:
    """Name the variants that are judged, the baseline among them."""
    manifest = trial.manifest
    if asked is None:
        return manifest.variants
    others = [name for name in manifest.variants if name != manifest.baseline]
    if len(asked) == 0:
        raise UsageError("no variant is named", str(trial.path), f"known: {', '.join(others)}")
    for name in asked:
        if name not in others:
            what = (
                f"{name!r} is the baseline: there is nothing to compare it with"
                if name == manifest.baseline
                else f"the trial has no variant {name!r}"
            )
            fix = f"candidates here: {', '.join(others) or 'none'}"
            raise UsageError(what, str(trial.path), fix)
    return tuple(name for name in manifest.variants if name in {*asked, manifest.baseline})


def known_names(what: str, asked: Sequence[str] | None, there: Sequence[str], where: str) -> None:
    """Refuse names that are not there; what is not asked for is no matter."""
    if asked is not None and len(asked) == 0:
        raise UsageError(f"no {what} is named", where, f"known: {', '.join(there)}")
    for name in asked or ():
        if name not in there:
            raise UsageError(f"there is no {what} {name!r}", where, f"known: {', '.join(there)}")
