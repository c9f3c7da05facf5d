"""Many cells of a mixture report on all cores, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import replace
from threading import Event

from ....data import PerformanceMatrix
from ..goodness.fit_test import available_cores
from .cell import MixtureCell, mixture_cell
from .options import MixtureOptions

__all__ = ["mixture_cells"]

Wanted = tuple[PerformanceMatrix, str]


def mixture_cells(
    wanted: Sequence[Wanted],
    options: MixtureOptions,
    *,
    root: int,
    progress: Callable[[int, int, str], None],
) -> Iterator[MixtureCell]:
    """Fit and test cells without the evidence for their modes, several at the same time.

    Each cell has streams of its own, so the number of threads changes no figure. Ending the
    iteration early (or Ctrl-C) stops the cells at work soon and drops the others.

    Parameters
    ----------
    wanted : sequence of (matrix, benchmark)
        The cells.
    options, root
        As in `mixture_cell`; `options.workers` cells are at work at the same time.
    progress : callable
        Called with the numbers of cells given and in all, and the name of the next.
    """
    stopped = Event()
    alone = replace(options, workers=1)

    def look(_done: int, _total: int) -> None:
        if stopped.is_set():
            raise CancelledError

    def run(matrix: PerformanceMatrix, benchmark: str) -> MixtureCell:
        return mixture_cell(matrix, benchmark, alone, root=root, evidence=False, progress=look)

    pool = ThreadPoolExecutor(options.workers or available_cores())
    try:
        rows = [pool.submit(run, *one) for one in wanted]
        for done, (row, (matrix, benchmark)) in enumerate(zip(rows, wanted, strict=True)):
            progress(done, len(wanted), f"{benchmark} / {matrix.name}")
            yield row.result()
    finally:
        stopped.set()
        pool.shutdown(cancel_futures=True)
