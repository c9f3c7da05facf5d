"""The same bytes on one worker, eight threads, two processes, and a Dask cluster.

Authority: a plain loop with one worker. Each loop over benchmarks, pairs and simulations is here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import distributed
import joblib
import numpy as np
import pytest

import analysis
from analysis.methods.mixture.report import MixtureOptions, mixture_report
from analysis.stats.workers import dask_cluster

SAMPLE = Path(__file__).resolve().parents[2] / "tests" / "data" / "sample-0.2.0"
PLACES = {"8 threads": ("threading", 8), "2 processes": ("loky", 2)}


def rng(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


def matrix(name: str, seed: int) -> analysis.PerformanceMatrix:
    draws = rng(seed)
    names = ["a", "b", "c", "d"]
    return analysis.PerformanceMatrix.from_samples(
        name,
        {bench: draws.lognormal(0, 0.05, 30) for bench in names},
        better="lower",
        blocks={bench: list(range(30)) for bench in names},
    )


# twelve thousand values: libraries of linear algebra add them up in as many parts as they have threads
LONG = rng(5).lognormal(0, 0.01, 12_000)
MATRICES = [matrix("one", 1), matrix("two", 2)]
TABLE = {
    "a": rng(3).normal(size=90).tolist(),
    "b": rng(4).normal(size=90).tolist(),
    "g": [f"f{k % 9}" for k in range(90)],
    "y": (rng(3).normal(size=90) * 2 + rng(5).normal(size=90)).tolist(),
}


def corpus(**where: Any) -> list[Any]:
    samples = {f"s{k}": rng(k).normal(9, 1, 25) for k in range(9)} | {"constant": [1.0, 1.0, 1.0]}
    return [one.to_dict() for one in analysis.fit_corpus(samples, resamples=9, rng=rng(), **where)]


def fit_test(**where: Any) -> list[Any]:
    x = rng(1).normal(9, 1, 25)
    found = analysis.ks_fit(x, analysis.fit_mixture(x), resamples=41, rng=rng(), **where)
    return [found.to_dict(), found.distances.tolist()]


def mixtures(workers: int | None = None, benchmark: str | None = None) -> Any:
    options = MixtureOptions(resamples=9, max_components=3, workers=workers)
    return mixture_report(MATRICES, benchmark=benchmark, options=options, rng=rng()).to_dict()


def studies(**where: Any) -> list[Any]:
    shared = {"simulations": 4, "resamples": 29} | where
    return [
        analysis.power_study(MATRICES[0], shifted=[0, 2], rng=rng(), **shared).to_dict(),
        analysis.type1_study(MATRICES[0], draws="block", rng=rng(), **shared).to_dict(),
        analysis.coverage_study(MATRICES[0], runs=[3, 4], rng=rng(), **shared).to_dict(),
    ]


def calibration(**where: Any) -> Any:
    trial = analysis.read_trial(SAMPLE)
    pair = (trial.manifest.variants[0], trial.manifest.variants[1])
    found = analysis.calibrate_trial(trial, pair=pair, rng=rng(), **where).to_dict()
    del found["created"]
    return found


def variation(**where: Any) -> Any:
    trial = analysis.read_trial(SAMPLE)
    return analysis.sources(trial, permutations=99, rng=rng(), **where).to_dict()


def table(**where: Any) -> Any:
    return analysis.sources_of_table(
        TABLE, "y", group="g", folds=3, repeats=2, rng=rng(), **where
    ).to_dict()


def long_sums(workers: int | None = None) -> list[float]:
    from analysis.stats.workers import in_order

    return list(in_order(_dot, [LONG, LONG[::-1].copy()], workers=workers, prefer="processes"))


def _dot(values: np.ndarray, _going_on: object) -> float:
    return float(values @ values)


LOOPS: dict[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (corpus, fit_test, mixtures, studies, calibration, variation, table)
}


@pytest.fixture(scope="module")
def alone() -> Callable[[str], str]:
    """What one worker says, once for each loop."""
    said: dict[str, str] = {}

    def of(name: str) -> str:
        if name not in said:
            said[name] = json.dumps(LOOPS[name](workers=1))
        return said[name]

    return of


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", LOOPS)
def test_here(name: str, place: str, alone: Callable[[str], str]) -> None:
    backend, count = PLACES[place]
    with joblib.parallel_config(backend=backend, n_jobs=count):
        assert json.dumps(LOOPS[name]()) == alone(name)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=2,
        processes=False,  # test_clusters.py has processes, each of which imports everything
        protocol="tcp",
        dashboard_address="127.0.0.1:0",
        worker_dashboard_address=None,
        local_directory=str(tmp_path_factory.mktemp("dask")),
        silence_logs=50,
    ) as made:
        yield made.scheduler_address


@pytest.mark.parametrize("name", LOOPS)
def test_on_a_cluster(name: str, address: str, alone: Callable[[str], str]) -> None:
    with dask_cluster(address):
        assert json.dumps(LOOPS[name]()) == alone(name)


def test_one_benchmark_in_detail(alone: Callable[[str], str]) -> None:
    one = json.dumps(mixtures(workers=1, benchmark="b"))
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert json.dumps(mixtures(benchmark="b")) == one


def test_long_sums_do_not_depend_on_threads() -> None:
    from threadpoolctl import threadpool_limits

    with (
        threadpool_limits(2, user_api="blas"),
        joblib.parallel_config(backend="threading", n_jobs=2),
    ):
        assert long_sums() == long_sums(workers=1)


def test_another_seed_is_seen() -> None:
    # negative control: equality above is not that of results that never change
    study = analysis.type1_study(MATRICES[0], simulations=30, resamples=29, rng=rng(1)).to_dict()
    other = analysis.type1_study(MATRICES[0], simulations=30, resamples=29, rng=rng(2)).to_dict()
    assert study != other


def test_a_benchmark_more_changes_no_other() -> None:
    options = MixtureOptions(resamples=5, max_components=2, workers=1)
    whole = mixture_report(MATRICES, options=options, rng=rng())
    cells = {(cell.benchmark, cell.variant): cell.to_dict() for cell in whole.cells}
    for names in ("ab", "cd", "acd"):
        chosen = [m.select(list(names)) for m in MATRICES]
        part = mixture_report(chosen, options=options, rng=rng())
        assert len(part.cells) == 2 * len(names)
        for cell in part.cells:
            assert cell.to_dict() == cells[cell.benchmark, cell.variant]
