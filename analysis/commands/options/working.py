"""The options of whatever takes long: how many workers, of which kind, and where."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from ...errors import UsageError
from ..arguments import line_to

if TYPE_CHECKING:
    from ...stats import Kind

__all__ = ["add_working", "working"]

_BACKENDS = {"threads": "threading", "processes": "loky"}  # joblib's names


def add_working(parser: argparse.ArgumentParser, kind: Kind) -> None:
    """Add ``--workers``, ``--backend`` and ``--dask``; `kind` is what the command prefers."""
    parser.add_argument(
        "--workers",
        type=int,
        metavar="W",
        help="at the same time (default: the cores it may use); no number depends on it",
    )
    when = "" if kind == "threads" else ", once it has taken 2 s"
    parser.add_argument(
        "--backend", choices=tuple(_BACKENDS), help=f"what workers are (default: {kind}{when})"
    )
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="let the workers of a Dask cluster do it: its scheduler's address, or scheduler file",
    )


@contextmanager
def working(args: argparse.Namespace, err: TextIO) -> Iterator[int | None]:
    """Say where loops are executed inside this context; give their number of workers.

    Raises
    ------
    UsageError
        If the number is none, options contradict each other, or there is no such cluster.
    """
    from ...stats import MOST_WORKERS, available_cores, counted, dask_cluster

    if args.dask is not None:
        for name in ("workers", "backend"):
            if getattr(args, name) is not None:
                raise UsageError(
                    f"--{name} is for this host, and --dask names a cluster",
                    fix="leave one of them out: a cluster has the workers that it has",
                )
        with dask_cluster(args.dask, say=line_to(err)):
            yield None
        return
    count = available_cores()
    if args.workers is not None:
        count = counted("--workers", args.workers, most=MOST_WORKERS)
    if args.backend is None or count == 1:
        yield count
        return
    import joblib

    inner = {"inner_max_num_threads": 1} if args.backend == "processes" else {}
    with joblib.parallel_config(backend=_BACKENDS[args.backend], n_jobs=count, **inner):
        yield count
