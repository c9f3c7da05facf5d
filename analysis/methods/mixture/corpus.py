"""Many samples together: how many components and modes they have, and how often the test rejects.

References
----------
.. [1] J. Worms, S. Touati, "Modelling program's performance with Gaussian mixtures for parametric
       statistics", IEEE Trans. Multi-Scale Computing Systems, 2018, sections 7.3, 7.4 and 7.6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...errors import InsufficientDataError

if TYPE_CHECKING:
    from .model import Mixture
    from .result import FitTest


@dataclass(frozen=True, slots=True)
class ComponentCounts:
    """The number of components over samples (section 7.3); quartile of type 7."""

    median: float
    upper_quartile: float
    largest: int


@dataclass(frozen=True, slots=True)
class CorpusSummary:
    """What the fits of many samples have in common.

    `samples` have a mixture. `modes` counts them by the number of modes of their curve, the level of
    variability I4 (section 7.6); `rejected` are those of the `tested` whose fit test rejects at 5 %
    (section 7.4).
    """

    samples: int
    components: ComponentCounts
    modes: Mapping[int, int]
    tested: int
    rejected: int


def corpus_summary(fits: Iterable[tuple[Mixture | None, FitTest | None]]) -> CorpusSummary:
    """Sum up the fits of samples: pairs of a mixture and its fit test, None where there is none.

    Raises
    ------
    InsufficientDataError
        If no sample has a mixture.
    """
    pairs = list(fits)
    mixtures = [mixture for mixture, _ in pairs if mixture is not None]
    if not mixtures:
        raise InsufficientDataError("no sample has a mixture", n=0, needed=1)
    tests = [test for _, test in pairs if test is not None]
    k = np.array([mixture.components for mixture in mixtures])
    modes = Counter(int(mixture.modes().size) for mixture in mixtures)
    return CorpusSummary(
        samples=len(mixtures),
        components=ComponentCounts(float(np.median(k)), float(np.quantile(k, 0.75)), int(k.max())),
        modes=dict(sorted(modes.items())),
        tested=len(tests),
        rejected=sum(test.rejected() for test in tests),
    )
