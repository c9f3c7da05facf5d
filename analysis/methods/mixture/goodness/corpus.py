"""Fit mixtures to the many samples of a corpus and test each fit, on all cores or a cluster.

References
----------
.. [1] J. Worms, S. Touati, "Modelling program's performance with Gaussian mixtures for parametric
       statistics", IEEE Trans. Multi-Scale Computing Systems, 2018, sections 4, 5 and 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from ....errors import AnalysisError
from ....stats import MOST_WORKERS, Progress, counted, door, in_order, stream
from ..fitting.fit import fit_mixture
from ..model.mixture import Scale
from .fit_test import MOST_RESAMPLES, compile_kernels, ks_fit
from .result import CorpusFit, TiesHandling

__all__ = ["fit_corpus"]


@door
def fit_corpus(
    samples: Mapping[str, ArrayLike],
    *,
    resamples: int = 200,
    max_components: int = 9,
    rng: np.random.Generator,
    workers: int | None = None,
    scale: Scale = "linear",
    ties: TiesHandling = "as-measured",
    resolution: float | None = None,
    progress: Progress | None = None,
) -> Iterator[CorpusFit]:
    """Fit a mixture to each sample and test the fit; give the results in the samples' order.

    A sample's numbers depend on the generator, its label and its values only: not on the other
    samples, their order, or the number of threads. A sample that cannot be fitted says why and does
    not stop the others. Work starts with the first result that is asked for; ending the iteration
    early (or Ctrl-C) drops what has not begun.

    Parameters
    ----------
    samples : mapping of str to array_like
        The values of each sample by its label.
    resamples, max_components, ties, resolution : int, int, str, float
        As in `ks_fit`.
    rng : numpy.random.Generator
        One number is drawn from it; each label's stream derives from that.
    workers : int, optional
        Samples at the same time. Without it a ``joblib.parallel_config`` around the call decides,
        and says whether on threads, processes or a cluster; without either there are as many threads
        as processors for this process.
    scale : {"linear", "log"}
        As in `fit_mixture`.
    progress : callable, optional
        Called with the number of samples done and of all, from the caller's thread.

    Raises
    ------
    UsageError
        If an argument is out of its range; for some when the first result is asked for.
    """
    count = None if workers is None else counted("workers", workers, most=MOST_WORKERS)
    counted("resamples", resamples, most=MOST_RESAMPLES)
    asked = partial(
        _fitted,
        root=int(rng.integers(2**63)),
        resamples=resamples,
        max_components=max_components,
        scale=scale,
        ties=ties,
        resolution=resolution,
    )
    tell = progress if progress is not None else lambda _done, _total: None
    return in_order(
        asked,
        samples.items(),
        workers=count,
        prefer="threads",
        look=lambda done: tell(done, len(samples)),
        ready=compile_kernels,
    )


def _fitted(
    one: tuple[str, ArrayLike],
    going_on: Progress,
    *,
    root: int,
    resamples: int,
    max_components: int,
    scale: Scale,
    ties: TiesHandling,
    resolution: float | None,
) -> CorpusFit:
    """Fit and test one sample."""
    label, values = one
    mixture = None
    try:
        mixture = fit_mixture(values, max_components=max_components, scale=scale)
        test = ks_fit(
            values,
            mixture,
            resamples=resamples,
            max_components=max_components,
            rng=stream(root, label),
            workers=1,
            ties=ties,
            resolution=resolution,
            progress=going_on,
        )
    except AnalysisError as error:
        return CorpusFit(label=label, mixture=mixture, test=None, why=error.what)
    return CorpusFit(label=label, mixture=mixture, test=test, why=None)
