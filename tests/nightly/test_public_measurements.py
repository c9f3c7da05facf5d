"""Public measurements beside this project, which are never copied into it, give what their authors say of them."""

from __future__ import annotations

import csv
import io
import lzma
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kruskal

from analysis.methods.variance_sources.fit import nested
from analysis.stats.steady_state import steady_state
from tests import planted
from tests.unit.analysis.methods.variance_sources.test_factors import factors

ROOT = Path(__file__).resolve().parents[2]
DATASETS = ROOT.parent / "shared" / "datasets"
pytestmark = pytest.mark.skipif(
    not DATASETS.is_dir(), reason="public measurements are not beside this project"
)


def rows_of(name):
    with lzma.open(DATASETS / name) as file:
        return list(csv.DictReader(io.TextIOWrapper(file)))


def sds(variances):
    return {name: np.sqrt(value) for name, (_, value) in variances.items()}


def test_the_page_says_what_twenty_processes_are_called():
    """Barrett et al.; docs/iterations.md."""
    runs = defaultdict(list)
    for row in rows_of("krun_warmup/binarytrees_v8.csv.xz"):
        runs[row["process"]].append(float(row["seconds"]))
    page = (ROOT / "docs" / "iterations.md").read_text()
    told = " ".join(page.partition("not judged: ")[2].partition(".")[0].split())
    of_word = dict(one.split(": ") for one in told.split("; "))
    words = Counter()
    for number, seconds in runs.items():
        found = steady_state(np.array(seconds))
        words[found.state] += 1
        left = f"{number} ({found.first})" if found.first else f"{number}"
        assert left in of_word[found.state].split(", ")
    assert words == {"slowdown": 11, "warm-up": 6, "no steady state": 3}
    assert "11 slowdowns, 6 warm-ups, 3 without a steady state, none flat" in page


def test_processes_of_the_fft_differ_by_a_hundredth_and_iterations_by_less_than_a_thousandth():
    """Kalibera, Bulej and Tuma 2005: 7 processes of 2,048 iterations; 1.2 % and 0.04 %."""
    rows = rows_of("fft_initial_state/fft.csv.xz")
    logs = np.log([float(row["ms"]) for row in rows])
    process = np.unique([row["process"] for row in rows], return_inverse=True)[1]
    found = sds(nested(logs, {"process": process}))
    assert 0.0115 < found["process"] < 0.0135
    assert 0.00035 < found["rest"] < 0.00045


def test_machines_of_a_cloud_make_half_of_the_variance():
    """CloudWorkBench, three iterations on each machine: intraclass correlations by metric and type.

    An independent computation on 285 cells had the median .47 and the quartiles .19 and .79; on the
    cells that are here the closed form of the analysis of variance gives .44, .05 and .79.
    """
    rows = rows_of("cloud_cwb/cwb.csv.xz")
    shares, closed = [], []
    for kind in sorted({row["source"].rpartition("_")[2] for row in rows}):
        mine = [row for row in rows if row["source"].endswith(f"_{kind}")]
        for metric in list(rows[0])[3:]:
            pairs = [(row["vm"], row[metric]) for row in mine if row[metric] not in ("", "NA")]
            try:
                values = np.array([float(text) for _, text in pairs])
            except ValueError:
                continue
            machine = np.unique([vm for vm, _ in pairs], return_inverse=True)[1]
            if (
                np.unique(machine).size < 20
                or np.ptp(values) == 0
                or values.size == machine.max() + 1
            ):
                continue
            parts = nested(values, {"machine": machine})
            total = sum(variance for _, variance in parts.values())
            shares.append(parts["machine"][1] / total)
            closed.append(max(closed_form(values, machine), 0.0))
    low, median, high = np.quantile(shares, [0.25, 0.5, 0.75])
    assert 0.40 < median < 0.50
    assert low < 0.2
    assert 0.74 < high < 0.82
    assert np.quantile(closed, [0.25, 0.5, 0.75]) == pytest.approx([low, median, high], abs=0.02)


def closed_form(values, group):
    """Give the intraclass correlation of the analysis of variance."""
    counts = np.bincount(group)
    means = np.bincount(group, values) / counts
    between = (counts * (means - values.mean()) ** 2).sum() / (counts.size - 1)
    within = ((values - means[group]) ** 2).sum() / (values.size - counts.size)
    size = (values.size - (counts**2).sum() / values.size) / (counts.size - 1)
    return (between - within) / (between + (size - 1) * within)


def test_drawn_factors_of_a_public_experiment_are_found_where_they_are():
    """DataMill (ICPE 2013): 400.perlbench on seven machines, three link orders, random addresses or not.

    Both were drawn for each job of five runs. Authority: Kruskal and Wallis' test of the jobs' means.
    """
    rows = rows_of("datamill/perlbench.csv.xz")
    drawn = ("address_randomization", "link_order")
    told, expected = {}, {}
    for machine in sorted({row["machine"] for row in rows}):
        mine = [row for row in rows if row["machine"] == machine]
        jobs = [(row["address_randomization"], row["link_order"], row["job"]) for row in mine]
        session = np.unique([",".join(job) for job in jobs], return_inverse=True)[1]
        order = np.argsort(session, kind="stable")
        codes = {
            name: np.unique([row[name] for row in mine], return_inverse=True)[1][order].astype(
                float
            )
            for name in drawn
        }
        frame = planted.frame(np.random.default_rng(1), sessions=int(session.max()) + 1, runs=5)
        logs = np.log([float(row["seconds"]) for row in mine])[order]
        trial = planted.filled(frame, logs, metrics=codes)
        found = factors(trial)
        means = logs.reshape(-1, 5).mean(axis=1)
        for name in drawn:
            one = found.get(("b0", "v0", f"{name} (levels)")) or found["b0", "v0", name]
            told[machine, name] = one.pvalue
            levels = codes[name].reshape(-1, 5)[:, 0]
            expected[machine, name] = kruskal(
                *(means[levels == k] for k in np.unique(levels))
            ).pvalue
    assert {
        machine for (machine, name), p in told.items() if name == "link_order" and p < 0.005
    } == {*"ABEFGK"}
    assert told["I", "link_order"] > 0.2
    assert told["I", "address_randomization"] < 0.005
    assert told["A", "address_randomization"] > 0.2
    for key, p in expected.items():
        if p < 1e-4:
            assert told[key] < 0.005
