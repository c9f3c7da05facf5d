"""Every kind of wrong value at every parameter of every public function: our error, or an answer.

3,256 such calls of the first version ended 34 times in somebody else's error, or were answered
although the argument was none.
"""

import inspect
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import asdict, fields, is_dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import analysis
from analysis.data.matrix import PerformanceMatrix
from analysis.diagnose.normality import lilliefors, shapiro
from analysis.errors import FairtrialError, UsageError
from analysis.plan.runs import t_interval
from analysis.record.fleet import Fleet, FleetHost, write_fleet
from analysis.record.manifest import read_manifest
from analysis.stats.arguments import numbers
from tests.profiled import profile_beside
from tests.unit.analysis.conftest import build

SAMPLE = Path(__file__).parents[3] / "tests" / "data" / "sample-0.2.0"


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def matrix(name: str, shift: float = 0.0) -> PerformanceMatrix:
    noise = np.random.default_rng(2)
    rows = {f"b{k}": noise.lognormal(shift, 0.05, 6) for k in range(3)}
    ids = {bench: [1, 1, 1, 2, 2, 2] for bench in rows}
    return PerformanceMatrix.from_samples(
        name, rows, better="lower", blocks={b: list(range(6)) for b in rows}, sessions=ids
    )


A, B = matrix("new"), matrix("old", 0.1)
VALUES = np.random.default_rng(3).lognormal(0, 0.1, 12)
PAIRS = np.random.default_rng(4).lognormal(0, 0.1, (12, 2))
MIX = analysis.fit_mixture(VALUES, max_components=2)
FITTED = analysis.fitted_sample(VALUES, MIX, resamples=3, rng=rng())
TABLE = {
    "y": np.random.default_rng(6).normal(10, 1, 60),
    "x": np.random.default_rng(7).normal(10, 1, 60),
    "s": np.random.default_rng(8).uniform(1, 2, 60),
    "g": [f"g{k % 6}" for k in range(60)],
    "i": [f"i{k % 3}" for k in range(60)],
    "f": ["-a -b" if k % 2 else "-b" for k in range(60)],
}

# each public function with arguments that it takes: what stands here is replaced, one at a time


def fleet_of_two(folder: Path) -> Path:
    """Make a fleet of two copies of the sample trial."""
    manifest = read_manifest(Path(SAMPLE))
    hosts = ("lab1", "lab2")
    for host in hosts:
        shutil.copytree(SAMPLE, folder / host)
    fleet = Fleet(
        campaign=manifest.campaign_name,
        identity=manifest.campaign_sha256,
        submitted_at=None,
        script=None,
        hosts=tuple(FleetHost(host=host, jobs=(), trial=host) for host in hosts),
    )
    write_fleet(folder, fleet)
    return folder


_PLACE = tempfile.TemporaryDirectory(prefix="fairtrial-fleet-")
FLEET = fleet_of_two(Path(_PLACE.name))
SMALL = analysis.read_trial(
    build(
        {name: {"x": np.exp(PAIRS[:, k]).tolist()} for k, name in enumerate(("old", "new"))},
        sessions=4,
    ).write(FLEET / "small")
)
PROFILE = profile_beside(FLEET / "lab1", build, variant="gzip-1", benchmarks=["json"])

JUDGED: dict[str, Any] = {
    "metric": "wall",
    "confidence": 0.9,
    "benchmarks": ["text", "logs"],
    "margin": 0.01,
    "correction": "bh",
    "weights": {"text": 2.0},
    "looks": 2,
}
PUBLIC: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "PerformanceMatrix.from_samples": (
        PerformanceMatrix.from_samples,
        {"name": "n", "samples": {"b": [1.0, 2.0]}, "better": "lower", "unit": "s"}
        | {"blocks": {"b": [1, 2]}, "sessions": {"b": [1, 1]}, "processes": {"b": [1, 2]}}
        | {"cautions": (), "failed": {"b": 1}, "metric": "m", "origin": "o"},
    ),
    "multilevel": (
        analysis.multilevel,
        {"candidate": A, "baseline": B, "confidence": 0.9, "margin": 0.02, "correction": "bh"}
        | {"weights": {"b1": 2.0}, "looks": 1, "always_valid": False}
        | {"beside": [analysis.multilevel(B, A)]},
    ),
    "gate": (
        analysis.gate,
        {"results": analysis.multilevel(A, B), "condition": "slower>2%", "on": "benchmarks"}
        | {"failing": ["c"], "metric": "rps", "allow_missing": ["b"]},
    ),
    "hpt": (
        analysis.hpt,
        {"candidate": A, "baseline": B, "speedup": 1.1, "confidence": 0.9, "alpha": 0.05}
        | {"ties": "exact", "scores": "ratio", "alternative": "two-sided"},
    ),
    "hpt_speedup": (
        analysis.hpt_speedup,
        {"candidate": A, "baseline": B, "confidence": 0.6, "alpha": 0.05, "ties": "table"}
        | {"scores": "auto"},
    ),
    "hpt_report": (
        analysis.hpt_report,
        {"candidate": A, "baseline": B, "speedup": 1.1, "confidence": 0.6, "alpha": 0.05}
        | {"ties": "table", "scores": "log-ratio", "alternative": "candidate", "others": True},
    ),
    "hpt_context": (
        analysis.hpt_context,
        {"candidate": A, "baseline": B, "speedup": 1.1, "confidence": 0.6, "alpha": 0.05}
        | {"ties": "table", "scores": "raw", "best": None},
    ),
    "speedup_test": (
        analysis.speedup_test,
        {"baseline_values": VALUES, "candidate_values": VALUES * 2, "confidence": 0.9}
        | {"compatible": False},
    ),
    "speedup_test_suite": (
        analysis.speedup_test_suite,
        {"baseline": B, "candidate": A, "confidence": 0.9, "weights": "equal"}
        | {"precision": 0.1, "proportion_confidence": 0.9, "compatible": False},
    ),
    "randomization_test": (
        analysis.randomization_test,
        {"candidate": A, "baseline": B, "mean": "geometric", "centre": "runs", "unit": "run"}
        | {"alternative": "candidate", "resamples": 20, "rng": rng()},
    ),
    "bootstrap_speedup": (
        analysis.bootstrap_speedup,
        {"candidate": A, "baseline": B, "mean": "geometric", "centre": "runs", "unit": "run"}
        | {"interval": "bca", "confidence": 0.9, "sides": "two", "resamples": 20, "rng": rng()},
    ),
    "empirical_distribution": (
        analysis.empirical_distribution,
        {"matrix": A, "mean": "harmonic", "resamples": 20, "rng": rng()},
    ),
    "compare_distributions": (
        analysis.compare_distributions,
        {"matrices": [A, B], "mean": "harmonic", "resamples": 20, "rng": rng()},
    ),
    "fit_mixture": (
        analysis.fit_mixture,
        {"values": VALUES, "max_components": 2, "starts": 2, "variance_floor": 0.0}
        | {"resolution": None, "scale": "log", "rng": rng()},
    ),
    "fit_mixture_of_metrics": (
        analysis.fit_mixture_of_metrics,
        {"values_xy": PAIRS, "max_components": 1, "models": ["EII"], "names": ("a", "b")}
        | {"units": "spread"},
    ),
    "Mixture.from_parameters": (
        analysis.Mixture.from_parameters,
        {"weights": [0.5, 0.5], "means": [1.0, 2.0], "sds": [1.0, 1.0], "scale": "log"},
    ),
    "Mixture.pdf": (MIX.pdf, {"x": [1.0]}),
    "Mixture.cdf": (MIX.cdf, {"x": [1.0]}),
    "Mixture.quantile": (MIX.quantile, {"q": [0.5]}),
    "Mixture.classify": (MIX.classify, {"values": [1.0]}),
    "Mixture.sample": (MIX.sample, {"n": 3, "rng": rng()}),
    "fitted_sample": (
        analysis.fitted_sample,
        {"values": VALUES, "mixture": MIX, "fit": None, "resamples": 2, "rng": rng()},
    ),
    "ks_fit": (
        analysis.ks_fit,
        {"values": VALUES, "mixture": MIX, "resamples": 3, "max_components": 2, "rng": rng()}
        | {"workers": 1, "ties": "jitter", "resolution": 0.01, "starts": 1}
        | {"variance_floor": 0.0, "progress": None},
    ),
    "fit_corpus": (
        lambda **kwargs: list(analysis.fit_corpus(**kwargs)),
        {"samples": {"a": VALUES}, "resamples": 3, "max_components": 2, "rng": rng()}
        | {"workers": 1, "scale": "log", "ties": "as-measured", "resolution": None}
        | {"progress": None},
    ),
    "mode_evidence": (
        analysis.mode_evidence,
        {"values": VALUES, "mixture": MIX, "sample": FITTED, "fit": None, "risk": 0.1}
        | {"resamples": 2, "rng": rng()},
    ),
    "dip_test": (analysis.dip_test, {"values": VALUES, "resamples": 20, "rng": rng()}),
    "bandwidth_test": (analysis.bandwidth_test, {"values": VALUES, "resamples": 5, "rng": rng()}),
    "skewed_families": (analysis.skewed_families, {"values": VALUES}),
    "lilliefors": (lilliefors, {"values": VALUES}),
    "shapiro": (shapiro, {"values": VALUES}),
    "mean_difference": (analysis.mean_difference, {"x": MIX, "y": MIX}),
    "probability_faster": (analysis.probability_faster, {"x": MIX, "y": MIX, "shift": 0.1}),
    "stream": (
        lambda source, label: analysis.stream(source, label, "b"),
        {"source": 3, "label": "a"},
    ),
    "probability_fastest": (lambda one: analysis.probability_fastest(MIX, one), {"one": MIX}),
    "variability_level": (analysis.variability_level, {"x": MIX}),
    "metric_interval": (
        lambda sample, name, confidence, metric: analysis.metric_interval(
            metric, sample, name=name, confidence=confidence
        ),
        {"sample": FITTED, "name": "m", "confidence": 0.9, "metric": analysis.variability_level},
    ),
    "faster_estimate": (
        analysis.faster_estimate,
        {"x": FITTED, "y": FITTED, "shift": 0.1, "confidence": 0.9},
    ),
    "rank_share": (
        analysis.rank_share,
        {"x": VALUES, "y": VALUES * 2, "shift": 0.1, "confidence": 0.9},
    ),
    "biplot": (
        analysis.biplot,
        {"values": [[1.0, 2.0], [2.0, 5.0], [3.0, 3.0]], "systems": ["a", "b", "c"]}
        | {"benchmarks": ["x", "y"], "scale": "covariance"},
    ),
    "changes": (analysis.changes, {"values": np.log(VALUES), "risk": 0.1}),
    "find_steps": (
        analysis.find_steps,
        {"measure": lambda places: {k: 0.01 * k + 1e-4 * (k % 2) for k in places}, "commits": 2}
        | {"builds": lambda _: True, "programs": lambda place: place, "looks": (3, 4)}
        | {"risk": 0.1, "margin": 0.01, "stop": 0.9, "sessions_max": 50, "unit": "s"},
    ),
    "ordered_variants": (
        analysis.ordered_variants,
        {"trial": analysis.read_trial(SAMPLE), "variants": ("gzip-6", "gzip-1"), "metric": "wall"}
        | {"benchmarks": ("json",), "risk": 0.1, "margin": 0.02, "correction": "bh"},
    ),
    "explain": (
        analysis.explain,
        {"profile": PROFILE, "benchmark": "json", "renames": {"old": "new"}, "confidence": 0.9}
        | {"any_total": True, "timed": None},
    ),
    "diagnose_trial": (
        analysis.diagnose_trial,
        {"trial": analysis.read_trial(SAMPLE), "metric": "wall", "variants": ("gzip-1",)}
        | {"confidence": 0.9},
    ),
    "diagnose_matrix": (analysis.diagnose_matrix, {"matrix": A, "confidence": 0.9}),
    "diagnose_runs": (
        analysis.diagnose_runs,
        {"values": VALUES, "sessions": [1] * 6 + [2] * 6, "confidence": 0.9},
    ),
    "normality": (analysis.normality, {"matrix": A, "risk": 0.1, "rng": rng(), "seed": 1}),
    "estimator_spread": (
        analysis.estimator_spread,
        {"matrix": A, "sizes": [2, 3], "subsamples": 20, "rng": rng()},
    ),
    "normal_spread": (analysis.normal_spread, {"size": 3}),
    "central_limit_study": (
        analysis.central_limit_study,
        {"matrix": A, "sizes": [5], "risk": 0.1, "rng": rng()},
    ),
    "t_interval": (t_interval, {"candidate": A, "baseline": B, "confidence": 0.9}),
    "plan_runs": (
        analysis.plan_runs,
        {"candidate": A, "baseline": B, "width": 0.2, "effect": 1.2, "power": 0.8}
        | {"confidence": 0.9, "max_runs": 6, "grid": [3, 5], "interval": "t"}
        | {"simulations": 100, "rng": rng(), "seed": 1},
    ),
    "plan_sessions": (
        analysis.plan_sessions,
        {"candidate": A, "baseline": B, "width": 0.2, "effect": 1.2, "on": "suite", "power": 0.8}
        | {"confidence": 0.9, "max_sessions": 9, "max_runs": 6}
        | {"costs": analysis.trial_costs(analysis.read_trial(SAMPLE))},
    ),
    "sources": (
        analysis.sources,
        {"trial_or_trials": SMALL, "metric": "wall", "permutations": 99, "confidence": 0.9}
        | {"rng": rng(), "seed": 1, "workers": 1},
    ),
    "sources_of_table": (
        analysis.sources_of_table,
        {"table": TABLE, "response": "y", "flags": ["f"], "group": "g", "ignore": ["i"]}
        | {"variation": "s", "runs": 3, "folds": 2, "test_share": 0.3, "progress": None}
        | {"repeats": 2, "resamples": 20, "confidence": 0.9, "rng": rng(), "seed": 1, "workers": 1},
    ),
    "trial_costs": (analysis.trial_costs, {"trial": analysis.read_trial(SAMPLE)}),
    "variance_components": (analysis.variance_components, {"candidate": A, "baseline": B}),
    "width_loop": (
        analysis.width_loop,
        {"candidate": A, "baseline": B, "width": 0.001, "interval": "percentile"}
        | {"scale": "relative", "confidence": 0.9, "start": 3, "step": 1, "max_runs": 4}
        | {"resamples": 20, "rng": rng()},
    ),
    "power_study": (
        analysis.power_study,
        {"population": A, "shift": 1.1, "shifted": [0, 1], "runs": 3, "tests": ["t", "hpt"]}
        | {"alternative": "two-sided", "alpha": 0.1, "draws": "block", "simulations": 2}
        | {"shift_by": 0.1, "replace": False, "resamples": 20}
        | {"rng": rng(), "seed": 1, "workers": 1, "progress": None},
    ),
    "type1_study": (
        analysis.type1_study,
        {"population": A, "runs": [3], "tests": ["welch", "randomization"], "alpha": 0.1}
        | {"alternative": "two-sided", "draws": "run", "simulations": 2, "resamples": 20}
        | {"rng": rng(), "seed": 1, "workers": 1, "progress": None, "replace": True},
    ),
    "coverage_study": (
        analysis.coverage_study,
        {"population": A, "runs": [3], "intervals": ["t", "percentile"], "ratio": 1.5}
        | {"confidence": 0.9, "mean": "geometric", "draws": "run", "simulations": 2}
        | {"replace": True, "resamples": 20, "rng": rng(), "seed": 1, "workers": 1}
        | {"progress": None},
    ),
    "draw_study": (
        analysis.draw_study,
        {"candidate": A, "baseline": B, "runs": 3, "tests": ["t", "hpt"], "speedup": 1.1}
        | {"alternative": "candidate", "alphas": [0.1], "draws": "run", "replace": False}
        | {"simulations": 2, "resamples": 20, "rng": rng(), "seed": 1, "workers": 1}
        | {"progress": None},
    ),
    "compare_trials": (
        analysis.compare_trials,
        {"old": SMALL, "new": SMALL} | {"metric": "wall", "confidence": 0.9, "margin": 0.02},
    ),
    "read_trial": (analysis.read_trial, {"path": SAMPLE}),
    "pairs_of_runs": (
        analysis.pairs_of_runs,
        {"trial": analysis.read_trial(SAMPLE), "variant": "gzip-1", "benchmark": "text"}
        | {"metrics": ("wall", "max_rss")},
    ),
    "calibrate_trial": (
        analysis.calibrate_trial,
        {"trial": SMALL, "pair": ("new", "old"), "methods": ["welch"], "workers": 1}
        | {"metric": "wall", "confidence": 0.9, "power": 0.9, "rng": rng(), "seed": 1},
    ),
    "judge": (
        analysis.judge,
        {"trial": analysis.read_trial(SAMPLE), **JUDGED, "variants": ["gzip-1"]}
        | {"always_valid": False, "explain": False, "certificate": None},
    ),
    "judge_fleet": (
        analysis.judge_fleet,
        {"fleet": FLEET, **JUDGED, "variants": ["gzip-1"], "explain": False},
    ),
    "judge_sides": (
        analysis.judge_sides,
        {"candidate": analysis.read_trial(SAMPLE).matrix("gzip-1")}
        | {"baseline": analysis.read_trial(SAMPLE).matrix("gzip-6"), **JUDGED}
        | {"always_valid": False, "explain": False},
    ),
}

BAD: dict[str, Any] = {
    "text": "x",
    "texts": ["1", "2", "3", "4", "5"],
    "bytes": b"x",
    "None": None,
    "ragged": [[1.0, 2.0], [3.0]],
    "complex": np.array([1 + 2j] * 6),
    "a complex": 1j,
    "objects": np.array([object()] * 6),
    "with a None": [1.0, None, 2.0, 3.0, 4.0],
    "huge": 10**400,
    "huger than printed": 10**5000,
    "huge ones": [1, 2, 3, 4, 5, 10**400],
    "two-dimensional": np.ones((6, 2)) * [1, 2],
    "three-dimensional": np.ones((2, 2, 2)),
    "True": True,
    "truth values": np.array([True, False] * 3),
    "nan": math.nan,
    "nans": [1.0, 2.0, 3.0, 4.0, 5.0, math.nan],
    "inf": math.inf,
    "infs": [1.0, 2.0, 3.0, 4.0, 5.0, -math.inf],
    "empty": [],
    "empty text": "",
    "an int": 7,
    "zero": 0,
    "negative": -3,
    "half": 9.5,
    "mapping": {"b": "x"},
    "mapping of lists": {"b": [1.0, None]},
    "mapping by numbers": {1: [1.0, 2.0]},
    "a set": {1.0, 2.0},
    "times": np.array(["2020-01-01"] * 6, dtype="datetime64[s]"),
    "a type": int,
}


def answers(call: Callable[..., Any], given: dict[str, Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call(**given)


@pytest.mark.parametrize("name", PUBLIC)
def test_right_arguments_are_taken(name: str) -> None:
    call, given = PUBLIC[name]
    found = answers(call, given)
    assert found is not None
    if not isinstance(found, np.ndarray):  # one that is drawn for the caller is theirs
        holds_still(found)


def holds_still(found: Any) -> None:
    """Hold a result to bear no change: neither of a field nor of an array."""
    if is_dataclass(found):
        assert type(found).__dataclass_params__.frozen, type(found)  # type: ignore[attr-defined]
        for field in fields(found):
            holds_still(getattr(found, field.name))
    elif isinstance(found, tuple):
        for one in found:
            holds_still(one)
    elif isinstance(found, np.ndarray):
        assert not found.flags.writeable


@pytest.mark.parametrize("name", PUBLIC)
def test_wrong_arguments_are_refused_with_our_errors(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # what is answered although it is odd is answered at length: few trees are grown for that
    for most, few in (("MOST_TREES", 2), ("RESAMPLES", 50), ("_GRID", 2), ("_MOST_SHOWN", 2)):
        monkeypatch.setattr(f"analysis.methods.variance_sources.predictions.{most}", few)
    call, given = PUBLIC[name]
    wrong = []
    longest = 0
    for parameter in given:
        refused = 0
        for kind, value in BAD.items():
            if kind == "a type" and parameter in ("progress", "fit", "metric", "measure"):
                continue  # a function indeed, which raises what it likes
            try:
                answers(call, {**given, parameter: value})
            except FairtrialError as error:
                refused += 1
                longest = max(longest, len(str(error)))
            except Exception as error:  # noqa: BLE001 - what is looked for
                wrong.append(f"{parameter} = {kind}: {type(error).__name__}: {error}"[:200])
        assert refused >= 10, f"{parameter} takes nearly everything"
    assert not wrong, "\n".join(wrong)
    assert longest < 1000


# What a type checker alone imports is not there when a call asks for the annotations.
HINTS = """
import inspect, typing
import analysis
for name in analysis.__all__:
    found = getattr(analysis, name)
    if inspect.isfunction(found):
        typing.get_type_hints(inspect.unwrap(found))
        print(name)
"""


def test_the_annotations_of_every_public_function_are_there_in_a_fresh_process() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HINTS], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    names = {name for name in PUBLIC if inspect.isfunction(getattr(analysis, name, None))}
    assert set(done.stdout.split()) >= names


def test_every_public_function_is_tried_at_every_parameter() -> None:
    tried = {name.split(".", maxsplit=1)[0] for name in PUBLIC}
    functions = {name for name in analysis.__all__ if inspect.isfunction(getattr(analysis, name))}
    assert len(functions) > 30
    assert analysis.fit_mixture_2d is analysis.fit_mixture_of_metrics  # its name until 0.2.0
    assert analysis.Mixture2d is analysis.MixtureOfMetrics
    assert functions - tried == {"fit_mixture_2d"}
    wrapped = {"fit_corpus", "probability_fastest", "metric_interval", "stream"}
    for name in functions & tried - wrapped:
        assert set(inspect.signature(getattr(analysis, name)).parameters) == set(PUBLIC[name][1])


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, 3],
        (1.0, 2, 3),
        range(1, 4),
        [Fraction(1), 2, 3],
        [Decimal(1), 2, 3],
        np.arange(1, 4, dtype=np.uint8),
        np.array([1, 2, 3], dtype=np.float32),
        np.array([1, 2, 3], dtype=object),
    ],
)
def test_numbers_of_every_kind_are_numbers(values: Any) -> None:
    found = numbers(values, "the values")
    assert found.dtype == np.float64
    assert found.tolist() == [1.0, 2.0, 3.0]
    found[0] = 9.0  # a copy
    assert next(iter(values)) == 1


def test_what_is_masked_is_no_value() -> None:
    # authority: numpy.ma, "a masked entry is invalid"; seen: a masked run of 1e9 s was judged
    masked = np.ma.masked_greater([1.0, 2.0, 1e9], 5)
    assert numbers(np.ma.masked_greater([1.0, 2.0], 5), "the values").tolist() == [1.0, 2.0]
    with pytest.raises(UsageError, match=r"the values are masked in part(?s:.*)compressed\(\)"):
        numbers(masked, "the values")
    assert numbers(masked.compressed(), "the values").tolist() == [1.0, 2.0]


ROWS = {"a": [[1.0, 1.2, 1.1], [2.0, 2.1, 2.3]], "b": [[1.5, 1.6, 1.4], [3.0, 3.3, 3.1]]}


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_arrays_of_papers_are_matrices_and_a_seed_is_its_generator(kind: Callable) -> None:
    # authority: the same call with matrices, and with numpy's generator of that seed
    ours, theirs = (kind(rows) for rows in ROWS.values())
    a, b = (
        PerformanceMatrix.from_samples(name, {"1": rows[0], "2": rows[1]}, better="lower")
        for name, rows in zip(("candidate", "baseline"), ROWS.values(), strict=True)
    )
    over_suites = (analysis.hpt, analysis.hpt_speedup, analysis.multilevel)
    for method in (*over_suites, analysis.speedup_test_suite):
        found = method(candidate=ours, baseline=theirs, better="lower")
        assert found.to_dict() == method(candidate=a, baseline=b).to_dict()
    for method in (analysis.bootstrap_speedup, analysis.randomization_test):
        found = method(ours, theirs, better="higher", rng=7)
        other = method(
            *(replace(one, better="higher") for one in (a, b)), rng=np.random.default_rng(7)
        )
        assert found.to_dict() == other.to_dict()
    one = analysis.empirical_distribution(ours, better="lower", rng=np.int64(3))
    assert (
        one.values.tolist()
        == analysis.empirical_distribution(a, rng=np.random.default_rng(3)).values.tolist()
    )
    with pytest.raises(UsageError, match="does not say which values are better") as refused:
        analysis.hpt(ours, theirs)
    assert refused.value.fix == 'add better="lower" (times), or better="higher" (rates)'
    with pytest.raises(UsageError, match=r"candidate must .* each benchmark, and is 1-dim"):
        analysis.hpt([1.0, 2.0], theirs, better="lower")
    with pytest.raises(UsageError, match="better is for arrays"):  # never taken in vain
        analysis.randomization_test(a, b, better="lower", rng=7)
    assert analysis.stream(5).integers(9**9) == np.random.default_rng([5]).integers(9**9)


def test_the_argument_is_named() -> None:
    with pytest.raises(UsageError, match="confidence must be a number, not 'x'"):
        analysis.hpt(A, B, confidence="x")
    with pytest.raises(UsageError, match=r"resamples must be a whole number, not 9\.5"):
        analysis.randomization_test(A, B, resamples=9.5, rng=rng())
    with pytest.raises(UsageError, match="rng must be a random generator"):
        analysis.randomization_test(A, B, rng=None)
    with pytest.raises(
        UsageError, match=r"weights must be .* a mapping of texts, each to a number"
    ):
        analysis.speedup_test_suite(baseline=B, candidate=A, weights={"b0": "x"})
    with pytest.raises(UsageError, match="others must be a Mixture, not 3"):
        analysis.probability_fastest(MIX, 3)


ENDS = {
    "largest": [1.4e308, 1.5e308, 1.6e308, 1.65e308, 1.7e308, 1.55e308],
    "far apart": [1e-200, 1e200, 1.0, 1e-100, 1e100, 3.0],
    "farthest": [5e-324, 1.7e308, 1.0, 2.0, 3.0, 4.0],
    "denormal": [5e-324, 1e-323, 2e-323, 4e-323, 1e-310, 3e-310],
    "smallest": [2.3e-308, 2.4e-308, 2.6e-308, 2.7e-308, 3e-308, 2.5e-308],
    "one of them large": [1.0, 1.1, 1.2, 1.3, 1.4, 1.7e308],
}
TAKES_VALUES = {
    "speedup_test": ("baseline_values", "candidate_values"),
    **{name: ("values",) for name in ("fit_mixture", "fitted_sample", "ks_fit", "mode_evidence")},
    **{name: ("values",) for name in ("dip_test", "bandwidth_test", "skewed_families")},
    **{name: ("values",) for name in ("lilliefors", "shapiro", "Mixture.classify")},
    "diagnose_runs": ("values",),
    **{name: ("x",) for name in ("Mixture.pdf", "Mixture.cdf")},
    "rank_share": ("x", "y"),
    "biplot": ("values",),
    "changes": ("values",),
    "fit_mixture_of_metrics": ("values_xy",),
}


OF_ENDS = (
    r"the range of numbers|too far apart|exceeds 1e\+150|within 1e-150|below 1e-150|is no number|"
    "values are equal|that of a median is not known"  # the last for any values: see _choices
)


def answers_or_refuses_the_size(call: Callable[..., Any], given: dict[str, Any]) -> None:
    """Hold it to answer with finite numbers and a sentence, or to refuse the size of these values."""
    if given.get("rng") is not None:  # those of the table have moved on with the tests before
        given = {**given, "rng": rng()}
    found = said = None
    try:
        found = answers(call, given)
    except FairtrialError as error:
        said = str(error)
    if said is not None:
        assert re.search(OF_ENDS, said), said
        return
    if hasattr(found, "to_dict"):
        told = found.to_dict()
    else:
        told = asdict(found) if is_dataclass(found) else np.asarray(found).tolist()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert str(found)


@pytest.mark.parametrize("kind", ENDS)
@pytest.mark.parametrize("name", sorted(TAKES_VALUES))
def test_values_at_the_ends_of_doubles_work_or_are_refused(name: str, kind: str) -> None:
    call, given = PUBLIC[name]
    for which in TAKES_VALUES[name]:
        value: Any = ENDS[kind]
        value = {
            "biplot": np.reshape(value, (3, 2)),
            "fit_mixture_of_metrics": np.c_[value, value[::-1]],
        }.get(name, value)
        for scale in ("log", "linear") if name == "fit_mixture" else (None,):
            more: dict[str, Any] = {} if scale is None else {"scale": scale}
            if name == "diagnose_runs":
                more["sessions"] = [1, 1, 1, 2, 2, 2]
            answers_or_refuses_the_size(call, {**given, **more, which: value})


@pytest.mark.parametrize(
    ("kind", "better"),
    [*((kind, "lower") for kind in ENDS), ("farthest", "higher"), ("largest", "higher")],
)
def test_matrices_at_the_ends_of_doubles_work_or_are_refused(kind: str, better: str) -> None:
    def made(name: str, row: list[float]) -> PerformanceMatrix:
        names = ["b0", "b1"]
        ids = {bench: list(range(6)) for bench in names}
        return PerformanceMatrix.from_samples(
            name, dict.fromkeys(names, row), better=better, blocks=ids, sessions=ids
        )

    sides = {"candidate": made("new", ENDS[kind]), "baseline": made("old", ENDS[kind][::-1])}
    mild = made("mild", [1.0, 1.1, 1.2, 1.3, 1.4, 1.5])
    assert np.isfinite(sides["candidate"].medians()).all()
    names = [name for name, (_, given) in PUBLIC.items() if {"candidate", "baseline"} <= set(given)]
    names += ["empirical_distribution", "normality", "estimator_spread", "central_limit_study"]
    names += ["diagnose_matrix"]
    assert len(names) > 10
    for name in names:
        call, given = PUBLIC[name]
        one = {"candidate": sides["candidate"], "baseline": mild}
        other = {"candidate": mild, "baseline": sides["baseline"]}
        if name == "variance_components":  # plan_sessions asks it
            continue
        for used in (sides, one) if name == "plan_sessions" else (sides, one, other):
            ours = used if "candidate" in given else {"matrix": used["candidate"]}
            for more in _choices(name):
                answers_or_refuses_the_size(call, {**given, **ours, **more})


def _choices(name: str) -> list[dict[str, Any]]:
    if name == "hpt_report":  # the others are in it
        return [
            {"ties": ties, "scores": scores}
            for ties in ("table", "exact")
            for scores in ("raw", "ratio", "log-ratio")
        ]
    if name == "judge_sides":
        return [{"benchmarks": ["b0", "b1"], "weights": {"b0": 2.0}}]
    if name == "bootstrap_speedup":  # each two of these three, together once
        means, centres = ("geometric", "harmonic", "arithmetic"), ("runs", "mean", "median")
        return [
            {"interval": interval, "mean": mean, "centre": centres[(i + j) % 3]}
            | {"unit": "run", "resamples": 200}
            for i, interval in enumerate(("percentile", "corrected", "bca", "studentized"))
            for j, mean in enumerate(means)
        ]
    if name == "plan_runs":  # seen: without a width the ratio's OverflowError
        return [{}, {"width": None}]
    if name in ("randomization_test", "empirical_distribution"):
        return [{"mean": mean} for mean in ("geometric", "harmonic", "arithmetic")]
    return [{}]
