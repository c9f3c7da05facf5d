"""Fit mixtures to the many samples of a corpus and test each fit, on all cores.

References
----------
.. [1] J. Worms, S. Touati, "Modelling program's performance with Gaussian mixtures for parametric
       statistics", IEEE Trans. Multi-Scale Computing Systems, 2018, sections 4, 5 and 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ....errors import AnalysisError
from ....report import figures
from ....stats import stream
from ..fitting.fit import checked_count, fit_mixture
from ..model.mixture import Mixture, Scale
from .fit_test import FitTest, Progress, TiesHandling, available_cores, ks_fit

__all__ = ["CorpusFit", "fit_corpus"]

_LOOK = 0.2  # seconds between two looks at how many samples are done


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorpusFit:
    """One sample of a corpus: its fit and fit test, or `why` it has none."""

    label: str
    mixture: Mixture | None
    test: FitTest | None
    why: str | None

    def to_dict(self) -> dict[str, Any]:
        """Give the row as JSON types."""
        return {
            "label": self.label,
            "mixture": None if self.mixture is None else self.mixture.to_dict(),
            "test": None if self.test is None else self.test.to_dict(),
            "why": self.why,
        }

    def __str__(self) -> str:
        name = figures.shorten(self.label, 40)
        if self.mixture is None or self.test is None:
            return f"{name}: {self.why}"
        k = self.mixture.components
        return (
            f"{name}: {k} Gaussian{'s' * (k > 1)}, distance {self.test.statistic:.4f}, "
            f"p {figures.pvalue(self.test.pvalue)}"
        )


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
        Samples at the same time; as many as there are processors for this process unless given.
    scale : {"linear", "log"}
        As in `fit_mixture`.
    progress : callable, optional
        Called with the number of samples done and of all, from the caller's thread.

    Raises
    ------
    UsageError
        If an argument is out of its range; for some when the first result is asked for.
    """
    threads = available_cores() if workers is None else checked_count(workers, "workers", 1024)
    checked_count(resamples, "resamples", 10_000_000)
    root = int(rng.integers(2**63))
    stopped = Event()

    def look(_done: int, _total: int) -> None:
        if stopped.is_set():
            raise CancelledError

    def run(label: str, values: ArrayLike) -> CorpusFit:
        mixture = None
        own = stream(root, label)
        try:
            mixture = fit_mixture(values, max_components=max_components, scale=scale)
            test = ks_fit(
                values,
                mixture,
                resamples=resamples,
                max_components=max_components,
                rng=own,
                workers=1,
                ties=ties,
                resolution=resolution,
                progress=look,
            )
        except AnalysisError as error:
            return CorpusFit(label=label, mixture=mixture, test=None, why=error.what)
        return CorpusFit(label=label, mixture=mixture, test=test, why=None)

    return _in_order(run, dict(samples), threads, stopped, progress)


def _in_order(
    run: Callable[[str, ArrayLike], CorpusFit],
    samples: dict[str, ArrayLike],
    threads: int,
    stopped: Event,
    progress: Progress | None,
) -> Iterator[CorpusFit]:
    total = len(samples)
    done: list[None] = []
    pool = ThreadPoolExecutor(threads)
    try:
        rows: list[Future[CorpusFit]] = []
        for label, values in samples.items():
            row = pool.submit(run, label, values)
            row.add_done_callback(lambda _: done.append(None))
            rows.append(row)
        for row in rows:
            while not row.done():
                wait([row], timeout=_LOOK)
                if progress is not None:
                    progress(len(done), total)
            yield row.result()
        if progress is not None:
            progress(total, total)
    finally:
        # after Ctrl-C only the portions at work are waited for
        stopped.set()
        pool.shutdown(cancel_futures=True)
