"""Runs of other tools that a time limit ended are lower bounds, as our own are.

Authority: rules-2, section 2: a cut run counts with its limit, or with what was recorded at its end, and withholds each word and
pass that its true length could overturn; without a value it withholds every word.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from analysis.data.opening import open_foreign
from analysis.data.trial import read_trial
from analysis.history.nights import read_nights
from analysis.importers.export import TARGETS, exported_trial
from analysis.importers.reader import Reading, open_trial, read_sources
from analysis.importers.registry import read_foreign
from analysis.verdict.gate import gate
from analysis.verdict.judging import judge

TABLES = [one for one in TARGETS if one.name in ("long-csv", "parquet")]
NIGHTS = range(1, 11)


def result(tool, night, seconds, status="true"):
    """Give a result file of BenchExec with one run, as its DTD has it."""
    ended = '<column title="terminationreason" value="cputime"/>' * (status == "TIMEOUT")
    return (
        f'<?xml version="1.0"?>\n<result benchmarkname="b" tool="{tool}" version="1" timelimit="1.2s" '
        f'starttime="2026-01-{night:02}T03:04:05+00:00"><run name="sort">'
        f'<column title="status" value="{status}"/>{ended}'
        f'<column title="walltime" value="{seconds!r}s"/><column title="cputime" value="{seconds!r}s"/>'
        f'<column title="category" value="{"error" if ended else "correct"}"/></run></result>'
    )


@pytest.fixture
def judged(tmp_path, imported):
    """Judge ten nights of `new`, with a share of the time of `old`; in some of them it hangs."""

    def make(share, hangs):
        rng = np.random.default_rng([2, 26])
        files = []
        for night in NIGHTS:
            (folder := tmp_path / f"{night:02}").mkdir(exist_ok=True)
            for tool, k in (("old", 1.0), ("new", share)):
                seconds = k * float(np.exp(0.004 * rng.standard_normal()))
                cut = (tool, night) in hangs
                text = result(tool, night, *((1.25, "TIMEOUT") if cut else (seconds,)))
                (path := folder / f"{tool}.xml").write_text(text)
                files.append(read_foreign(open_foreign(str(path))))
        return imported(*files, session="folder")

    return make


@pytest.mark.parametrize("metric", ["walltime", "cputime"])
@pytest.mark.parametrize(
    ("hangs", "word", "code"),
    [
        ((), "faster", 0),
        ({("new", 4)}, "undecided", 7),  # "faster", and passed, when such runs were left out
        ({("old", 4)}, "faster", 0),
    ],
)
def test_who_hangs_in_a_tenth_of_its_runs_is_not_faster(judged, metric, hangs, word, code):
    found = judge(judged(0.5, hangs), metric=metric)
    (candidate,) = found.candidates
    line = candidate.multilevel.benchmarks[0]
    assert (line.outcome, line.reason) == (word, "cut-off" if word == "undecided" else None)
    assert gate(candidate.multilevel, "slower>2%").exit_code == code
    assert line.limit_s == (1.2 if hangs else None)
    assert [one.text for one in found.cautions if one.code == "cut-off"] == [
        f"1 of 10 runs of {side} were stopped at their limit of 1.20 s and count as what they used until then: it is at least this"
        for side, _ in hangs
    ]


def test_such_a_run_counts_with_what_it_used(judged):
    matrix = judged(0.5, {("new", 4)}).matrix("new", "walltime")
    assert matrix.cut["sort"].bounds.tolist() == [1.25]
    assert (matrix.failed, matrix.failed_by_session) == ({"sort": 1}, {"sort": {4: 1}})


@pytest.mark.parametrize("target", TABLES, ids=lambda one: one.name)
def test_tables_bring_them_back(judged, synthetic, tmp_path, target):
    times = {"old": {"b": [1.0, 1.01] * 6}, "new": {"b": [0.9, 0.91] * 6}}
    own = synthetic(times, sessions=6)
    own.rows[-1] = replace(
        own.rows[-1],
        outcome="timeout",
        detail="ended after its timeout of 10 s",
        wall_ns=10**10 + 9,
    )
    for k, trial in enumerate((judged(0.5, {("new", 4)}), read_trial(own.write(tmp_path / "t")))):
        path = tmp_path / f"{k}{target.endings[0]}"
        path.write_bytes(target.write(exported_trial(trial)).data)
        back = open_trial(path)
        (name,) = {*trial.manifest.variants} - {trial.manifest.baseline}
        lines = [judge(one).candidates[0].multilevel.benchmarks[0] for one in (trial, back)]
        assert lines[0].cut == lines[1].cut is not None, name
        assert lines[0].mean_candidate == pytest.approx(lines[1].mean_candidate, rel=1e-12)
        assert lines[0].outcome == lines[1].outcome


def test_without_a_limit_no_word_is_given(tmp_path):
    rows = [
        f"b,{name},{night},{0.5 if name == 'new' else 1 + night / 1000},{'timeout' if (name, night) == ('old', 3) else 'ok'}"
        for night in NIGHTS
        for name in ("old", "new")
    ]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(("benchmark,variant,session,time_s,status", *rows)))
    found = judge(open_trial(path))
    assert found.candidates[0].multilevel.benchmarks[0].reason == "cut-off"
    assert [one.text for one in found.cautions if one.code == "cut-off"] == [
        "1 of 10 runs of old were stopped at their limit and have no value: no word is given"
    ]


def test_a_matrix_says_so_too(tmp_path, judged):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(judged(0.5, {("new", 4)}).matrix("new", "walltime").to_dict()))
    (matrix,) = read_sources([str(path)], Reading()).matrices
    assert matrix.cut["sort"].runs == 1


def test_a_night_counts_with_them_and_is_marked(tmp_path):
    for night in NIGHTS:
        text = result("new", night, *((1.25, "TIMEOUT") if night == 4 else (0.5,)))
        (folder := tmp_path / f"{night:02}").mkdir()
        (folder / "new.xml").write_text(text)
    series = read_nights(sorted(tmp_path.glob("*/new.xml")), metric="walltime").series[0]
    assert np.exp(series.logs) == pytest.approx([0.5] * 3 + [1.25] + [0.5] * 6, rel=1e-12)
    assert [night.cut for night in series.values] == [(k == 4, False) for k in NIGHTS]
