"""A trial's tables hold all that its verdict rests on: blocks, sessions, failed runs, the baseline.

Authority: the verdict on the trial itself.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from analysis.data.trial import read_trial
from analysis.errors import AnalysisError, FairtrialError
from analysis.importers.export import TARGETS, exported_trial
from analysis.importers.reader import Reading, open_trial, read_sources
from analysis.verdict.judging import judge
from tests.examples import examples

TABLES = [one for one in TARGETS if one.name in ("long-csv", "parquet")]


def drawn(synthetic, rng: Random):
    """Make a trial of any shape, with some failed runs."""
    sessions, per_session = rng.choice((1, 1, 2, 3, 5)), rng.randint(1, 5)
    names = ["old", "new", "odd"][: rng.randint(2, 3)]
    benches = ["b", "a", "c"][: rng.randint(1, 3)]
    times = {
        variant: {
            bench: [math.exp(rng.gauss(0.2 * k, 0.1)) for _ in range(sessions * per_session)]
            for bench in benches
        }
        for k, variant in enumerate(names)
    }
    made = synthetic(times, baseline=rng.choice(names), sessions=sessions, warmup=rng.randint(0, 1))
    share = rng.choice((0, 0, 0.1, 0.3))
    made.rows = [
        replace(row, outcome="exit", exit_code=3, detail="exit code 3")
        if not row.warmup and rng.random() < share
        else row
        for row in made.rows
    ]
    return made


def flat(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Give the leaves of JSON types, each with its path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{at}.{key}")
    elif isinstance(value, list):
        for k, inner in enumerate(value):
            yield from flat(inner, f"{at}[{k}]")
    else:
        yield at, value


def conclusions(trial) -> dict[str, Any]:
    """Give words, estimates, bounds and p of all comparisons, or why there are none."""
    try:
        answer = judge(trial).to_dict()
    except FairtrialError as error:
        return {"refused": type(error).__name__}
    found = {}
    for one in answer["candidates"]:
        found[one["variant"]] = one["multilevel"] is None  # every run failed
        told = one["multilevel"] or {}
        lines = {line["name"]: line for line in told.pop("benchmarks", [])}
        told.pop("cautions", None)  # what nobody knows of an imported trial
        for at, value in flat({one["variant"]: {"suite": told, "lines": lines}}):
            found[at] = value
    return found


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return bool(one == other)


@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(seed=st.integers(0, 10**9))
def test_own_tables_come_back_to_the_same_verdict(synthetic, tmp_path, seed) -> None:
    shutil.rmtree(tmp_path / "one", ignore_errors=True)
    trial = read_trial(drawn(synthetic, Random(seed)).write(tmp_path / "one"))
    try:
        exported = exported_trial(trial)
    except AnalysisError:  # no run counts
        return
    ours = conclusions(trial)
    for target in TABLES:
        made = target.write(exported)
        assert made.lost == ()  # so --strict writes it
        path = tmp_path / f"back{target.endings[0]}"
        path.write_bytes(made.data)
        theirs = conclusions(open_trial(path))
        assert ours.keys() == theirs.keys(), target.name
        differ = {key: (ours[key], theirs[key]) for key in ours if not same(ours[key], theirs[key])}
        assert not differ, target.name


def test_one_session_of_blocks_keeps_its_design(synthetic, tmp_path) -> None:
    """What one session's blocks decide was undecided when the column ``block`` was not read."""
    rng = Random(3)
    shared = [rng.gauss(0, 1) for _ in range(8)]
    times = {
        name: {"b": [math.exp(s + shift + rng.gauss(0, 0.01)) for s in shared]}
        for name, shift in (("old", 0.2), ("new", 0.0))
    }
    trial = read_trial(synthetic(times).write(tmp_path / "one"))
    (tmp_path / "t.csv").write_bytes(TABLES[0].write(exported_trial(trial)).data)
    back = conclusions(open_trial(tmp_path / "t.csv"))
    ours = conclusions(trial)
    assert ours.keys() == back.keys()
    assert all(same(ours[key], back[key]) for key in ours)
    assert "one session, blocks" in back.values()
    without = "\n".join(
        ",".join(cells[:3] + cells[4:])
        for cells in (line.split(",") for line in (tmp_path / "t.csv").read_text().splitlines())
    )
    (tmp_path / "u.csv").write_text(without)  # the negative control
    assert "one session, blocks" not in conclusions(open_trial(tmp_path / "u.csv")).values()


LOST = {
    "long-csv": set(),
    "parquet": set(),
    "hyperfine": {"limits-lost", "sessions-lost", "blocks-lost", "warm-ups-lost", "metrics-lost"},
    "pyperf": {"failed-lost", "limits-lost", "sessions-lost", "blocks-lost", "warm-ups-lost", "metrics-lost"},
    "go-bench": {"failed-lost", "limits-lost", "sessions-lost", "blocks-lost", "warm-ups-lost", "names-changed", "units-lost"},
}  # fmt: skip


@pytest.mark.parametrize("target", TARGETS, ids=lambda one: one.name)
def test_a_trial_of_all_kinds_of_runs_comes_back_but_for_what_is_said_to_be_lost(
    synthetic, tmp_path, target
) -> None:
    """Sessions, blocks, warm-ups, a failed run, one at its limit, and a second metric."""
    rng = Random(8)
    times = {
        name: {"b": [math.exp(k + rng.gauss(0, 0.01)) for _ in range(24)]}
        for name, k in (("old", 0.0), ("new", 0.2))
    }
    rss = {"rss": {"unit": "B", "better": "lower"}}
    made = synthetic(times, sessions=6, warmup=1, metrics=rss)
    made.rows = [replace(row, metrics={"rss": (float(2**20 + row.position),)}) for row in made.rows]
    cut = {"outcome": "timeout", "exit_code": None, "detail": "ended after its timeout of 10 s"}
    for place, ends in (
        (-1, {**cut, "wall_ns": 10**10 + 9}),
        (-3, {"outcome": "exit", "exit_code": 3}),
    ):
        made.rows[place] = replace(made.rows[place], **ends)
    trial = read_trial(made.write(tmp_path / "one"))
    written, files = [], []
    for name in ((), ("old",), ("new",))[target.name == "pyperf" :][
        : 1 + (target.name == "pyperf")
    ]:
        written.append(target.write(exported_trial(trial, (), name)))
        files.append(tmp_path / f"{'-'.join(name) or 'both'}{(*target.endings, '.json')[0]}")
        files[-1].write_bytes(written[-1].data)
    assert {one.code for made in written for one in made.lost} == LOST[target.name]
    matrices = {
        matrix.name.removesuffix(" b"): matrix
        for path in files
        for matrix in read_sources([str(path)], Reading()).matrices
    }
    for name in ("old", "new"):
        ours, theirs = trial.matrix(name, "wall"), matrices[name]
        assert theirs.samples[0].tolist() == ours.samples[0].tolist()
        assert target.name in ("pyperf", "go-bench") or sum(theirs.failed.values()) == sum(
            ours.failed.values()
        )
    if not LOST[target.name]:
        assert conclusions(open_trial(files[0])) == conclusions(trial)
