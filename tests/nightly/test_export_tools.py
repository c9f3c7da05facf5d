"""Exports, read by the tools that they are for: installed beside the project, never into it.

Authority: pyperf, pandas and DuckDB themselves. `make nightly` installs them into
``.venv-tools``; FAIRTRIAL_TOOLS names the interpreter of another environment.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
from pathlib import Path

import pytest

from analysis.data.trial import read_trial
from harness.cli import main

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests" / "data" / "sample-0.2.0"
TOOLS = Path(os.environ.get("FAIRTRIAL_TOOLS") or ROOT / ".venv-tools" / "bin" / "python")
BENCHMARKS = tuple(read_trial(SAMPLE).manifest.benchmarks)


@pytest.fixture
def tools(tmp_path):
    """Execute Python with the tools; give what it printed."""
    if not TOOLS.is_file():
        pytest.skip("the foreign tools are not installed")

    def execute(*words):
        done = subprocess.run(
            [TOOLS, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr or done.stdout
        return done.stdout

    return execute


def export(path, target, variant=""):
    out, err = io.StringIO(), io.StringIO()
    source = f"{SAMPLE}:{variant}" if variant else str(SAMPLE)
    assert main(["export", source, "-o", str(path), "--to", target], out, err) == 0, err.getvalue()


@pytest.fixture
def both(tmp_path):
    """Export both variants of the sample; give what each median is in milliseconds."""

    def of(target):
        medians = {}
        for variant in ("gzip-1", "gzip-6"):
            export(tmp_path / f"{variant}.json", target, variant)
            matrix = read_trial(SAMPLE).matrix(variant)
            for bench, runs in zip(matrix.benchmarks, matrix.samples, strict=True):
                ordered = sorted(runs.tolist())
                half = len(ordered) // 2
                medians[variant, bench] = (ordered[half - 1] + ordered[half]) / 2 * 1e3
        return medians

    return of


def test_pyperf_reads_every_value(both, tools):
    medians = both("pyperf")
    text = tools("-m", "pyperf", "stats", "gzip-1.json")
    assert f"Number of benchmarks: {len(BENCHMARKS)}" in text
    assert text.count("Number of run with values: 10") == len(BENCHMARKS)
    assert text.count("Total number of values: 10") == len(BENCHMARKS)
    for bench in BENCHMARKS:
        # three digits, as pyperf prints them
        assert f"{medians['gzip-1', bench]:.2f} ms" in text


def test_pyperf_compares_and_checks(both, tools):
    both("pyperf")
    text = tools("-m", "pyperf", "compare_to", "gzip-1.json", "gzip-6.json")
    assert "Geometric mean" in text
    assert "slower" in text
    for bench in BENCHMARKS:
        assert bench in text
    assert "text" in tools("-m", "pyperf", "check", "gzip-1.json")


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("long-csv", "import pandas as p; print(len(p.read_csv('x')))"),
        ("parquet", "import pandas as p; print(len(p.read_parquet('x')))"),
        ("long-csv", "import duckdb as d; print(d.sql(\"FROM read_csv('x')\").df().shape[0])"),
        ("parquet", "import duckdb as d; print(d.sql(\"FROM read_parquet('x')\").df().shape[0])"),
    ],
)
def test_readers_of_tables_count_a_row_for_each_run(target, code, tools, tmp_path):
    export(tmp_path / "x", target)
    assert int(tools("-c", code)) == len(read_trial(SAMPLE))


def test_pandas_finds_the_values_that_were_measured(tools, tmp_path):
    export(tmp_path / "x", "parquet")
    code = (
        "import pandas as p; f = p.read_parquet('x'); f = f[(f.outcome == 'ok') & ~f.warmup];"
        "print(f.groupby(['variant', 'benchmark']).value.sum().to_json())"
    )
    found = json.loads(tools("-c", code))
    trial = read_trial(SAMPLE)
    for variant in trial.manifest.variants:
        matrix = trial.matrix(variant)
        for bench, runs in zip(matrix.benchmarks, matrix.samples, strict=True):
            place = str((variant, bench))
            assert found[place] == pytest.approx(runs.sum(), rel=1e-9)
