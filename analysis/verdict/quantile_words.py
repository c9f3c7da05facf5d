"""Which quantiles are judged, in words: those of all values of a session, or those that runs have each for itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..pages.model import Caution
from ..pages.short_sentence import ShortSentence, plain
from ..words import shorten, shown

if TYPE_CHECKING:
    from ..data.iterations.session_quantiles import QuantileBasis, Why
    from ..data.matrix import PerformanceMatrix
    from ..data.trial import Trial

OF_RUNS: Final = "quantiles-of-runs"  # the caution's code
_NAME = 24  # columns
_WHY: Final[dict[Why, str]] = {
    "one-session": "there is one session",
    "printed": "percentiles that were printed cannot be put together",
    "not-kept": "not all values were kept, or their place is not known",
    "own": "the values behind it are not there",
}


def basis_of(each: Iterable[QuantileBasis | None]) -> QuantileBasis | None:
    """Give the basis of several trials that are judged together: that of single runs where one has no other."""
    found = [one for one in each if one is not None]
    return next((one for one in found if one.level == "run"), next(iter(found), None))


def with_numbers(
    basis: QuantileBasis | None, sides: Iterable[PerformanceMatrix | None], baseline: str
) -> QuantileBasis | None:
    """Say how many values the sessions of the candidate have, and of the baseline: where these differ most."""
    each = [side for side in sides if side is not None]
    pairs = [
        (one.values_of[bench], base.values_of[bench])
        for base in each
        if base.name == baseline
        for one in each
        if one.name != baseline
        for bench in one.values_of.keys() & base.values_of.keys()
    ]
    if basis is None or not pairs:
        return basis
    a, b = max(pairs, key=lambda pair: abs(math.log(pair[0].mean / pair[1].mean)))
    values = (round(a.mean), round(b.mean))
    return replace(basis, values=values, compared_at=min(a.compared_at, b.compared_at))


def quantile_sentences(metric: str, basis: QuantileBasis | None) -> tuple[str, ...]:
    """Say of which values a metric is the quantile; nothing of another metric."""
    if basis is None:
        return ()
    name = shorten(shown(metric), _NAME)
    if basis.level == "session":
        return (f"{name} is that of all values of a session together",)
    told = f"{name} is each run's own, and their geometric mean is judged"
    return (told,) if basis.why is None else (f"{told}:", _WHY[basis.why])


def quantile_cautions(trial: Trial, metric: str) -> Iterator[Caution]:
    """Say that the quantiles of runs are judged, which are not those of the session."""
    basis = trial.quantile_basis(metric)
    if basis is None or basis.level == "session" or basis.why is None:
        return
    text = (
        f"{metric} is each run's own, and the geometric mean of runs is judged, not the quantile of all values of a session: "
        f"{_WHY[basis.why]}"
    )
    short = ShortSentence.of(plain(f"judged is the mean of each run's own {metric}"))
    yield Caution(OF_RUNS, text, short=short)
