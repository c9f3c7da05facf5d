"""What is written of a profile is read again; what does not fit is refused in words (docs/why.md, "What is stored")."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from analysis.errors import StoreError
from analysis.record.profiles import (
    PROFILE,
    SAMPLES,
    JudgedThen,
    Profile,
    SampledCell,
    SampledChain,
    SampledFunction,
    profiles_of,
    read_profile,
    write_profile,
)

PROFILED = Profile(
    trial="sort-1",
    campaign_sha256="0" * 64,
    host_id="host",
    cpu_model=None,
    tool_version="1",
    perf_version="6.1.187",
    event="cpu-clock",
    frequency_hz=999,
    kernel="seen",
    chains="fp",
    baseline="base",
    variant="slow",
    benchmarks=("keys",),
    sessions=2,
    timed_runs=3,
    profiled_runs=3,
    seed=1,
    programs={"keys/base": "a" * 64, "keys/slow": "b" * 64},
    runtimes={"keys/slow": "not-seen: Python 3.11 has no trampoline"},
    started="2026-11-27T10:00:00Z",
    finished="2026-11-27T10:00:09Z",
    verdict_was={
        "keys": JudgedThen(outcome="slower", speedup=0.9, low=0.8, high=0.95, metric="wall")
    },
)


def cell(session: int, variant: str) -> SampledCell:
    return SampledCell(
        session=session,
        benchmark="keys",
        variant=variant,
        runs=3,
        samples=90,
        lost=0,
        functions=(
            SampledFunction(symbol="main", object="app", samples=0),
            SampledFunction(symbol="compare.isra.0", object="app", samples=80),
            SampledFunction(symbol="finish_task_switch", object="kernel", samples=10),
        ),
        chains=(SampledChain(frames=(0, 1), samples=80), SampledChain(frames=(2,), samples=10)),
    )


CELLS = tuple(cell(session, variant) for session in (1, 2) for variant in ("base", "slow"))


def test_a_profile_is_read_as_it_was_written(tmp_path):
    write_profile(tmp_path, PROFILED, CELLS)
    read = read_profile(tmp_path)
    assert read.profile == PROFILED
    assert read.cells == CELLS
    assert read.timed == tmp_path / "timed"
    assert read.profile.sees_kernel


def test_profiles_lie_beside_their_trial():
    assert profiles_of(Path("runs/sort-1.2")) == Path("runs/sort-1.2.why")


def test_what_a_later_version_adds_is_kept(tmp_path):
    write_profile(tmp_path, dataclasses.replace(PROFILED, further={"colour": "red"}), CELLS)
    assert read_profile(tmp_path).profile.further == {"colour": "red"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"samples": 91}, "are not the 91 of session 1, keys/base"),
        ({"session": 3}, "of no session"),
        ({"session": 2}, "is there twice"),
        ({"variant": "other"}, "was not asked for"),
        ({"lost": -1}, "are not the"),
        ({"chains": (SampledChain(frames=(3,), samples=1),)}, "names a function"),
    ],
)
def test_rows_that_do_not_fit_are_refused(tmp_path, change, words):
    odd = dataclasses.replace(CELLS[0], **change)
    write_profile(tmp_path, PROFILED, (odd, *CELLS[1:]))
    with pytest.raises(StoreError, match=words):
        read_profile(tmp_path)


def test_a_damaged_file_is_refused(tmp_path):
    with pytest.raises(StoreError, match="no profile in this folder"):
        read_profile(tmp_path)
    write_profile(tmp_path, PROFILED, CELLS)
    whole = (tmp_path / SAMPLES).read_bytes()
    (tmp_path / SAMPLES).write_bytes(whole[:-20])
    with pytest.raises(StoreError, match="damaged"):
        read_profile(tmp_path)
    (tmp_path / SAMPLES).write_bytes(whole)
    data = json.loads((tmp_path / PROFILE).read_text())
    (tmp_path / PROFILE).write_text(json.dumps(data | {"schema": 2}))
    with pytest.raises(StoreError, match="schema is 2, and 1 is known"):
        read_profile(tmp_path)
    (tmp_path / PROFILE).write_text(json.dumps(data | {"event": 5}))
    with pytest.raises(StoreError, match="event is 5"):
        read_profile(tmp_path)


def test_every_stored_key_is_documented():
    text = (Path(__file__).parents[4] / "docs" / "why.md").read_text()
    section = text.split("\n## What is stored\n")[1].split("\n## ")[0]
    known = set(re.findall(r"`([a-z_0-9]+)`", section))
    stored = (Profile, JudgedThen, SampledCell, SampledFunction, SampledChain)
    names = {field.name for kind in stored for field in dataclasses.fields(kind)}
    assert names - {"further"} <= known
