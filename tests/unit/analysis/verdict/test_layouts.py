"""What a verdict says of layouts, where each session builds its own; authority: docs/layouts.md, by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.data.trial import read_trial
from analysis.errors import StoreError
from analysis.importers.reader import Reading
from analysis.methods.multilevel.compare import multilevel
from analysis.record.shapes import encode_checked
from analysis.record.trial_files import BUILDS, Artifact, BuildRecord
from analysis.stats.arguments import stream
from analysis.verdict.cautions import counted_layouts, layouts_sentences
from analysis.verdict.judging import judge, judge_sources


def build(variant: str, session: int, digest: str, segment: int = 0) -> bytes:
    record = BuildRecord(
        session=session,
        segment=segment,
        variant=variant,
        layout_seed=session or None,
        artifacts={f"build/{variant}": Artifact(sha256=digest, bytes=10)},
        programs={},
        seconds=0.1,
        log=(),
        at="2026-11-27T10:00:00Z",
    )
    return encode_checked(record.to_dict()) + b"\n"


@pytest.fixture
def trial(synthetic, tmp_path) -> Callable[[bytes], Path]:
    """Write a trial of two variants and six sessions with these builds."""

    def make(builds: bytes, name: str = "trial") -> Path:
        times = [1.0, 1.02, 1.01, 1.03, 0.99, 1.0, 1.01, 1.02, 1.0, 0.98, 1.01, 1.0]
        made = synthetic(
            {"old": {"x": times}, "new": {"x": [1.1 * t for t in times[::-1]]}}, sessions=6
        )
        made.extra |= {BUILDS: builds}
        return made.write(tmp_path / name)

    return make


def built(*variants: str, layouts: int = 6) -> bytes:
    return b"".join(build(v, s, f"{v}{s % layouts}") for s in range(1, 7) for v in variants)


def test_a_layout_of_each_session_is_what_the_interval_speaks_for(trial):
    found = judge(read_trial(trial(built("old", "new"))))
    six = [{"variant": name, "layouts": 6, "sessions": 6} for name in ("old", "new")]
    assert found.to_dict()["layouts"] == six
    text = " ".join(str(found).split())
    assert (
        "6 layouts of each variant: the interval speaks for layouts that the linker may draw, "
        "not for one build"
    ) in text
    above, _, _ = str(found).partition("\nnext")  # commands are to be pasted, and never broken
    assert max(map(len, above.splitlines())) <= 80
    assert "layout-not-varied" not in found.to_dict()["caution_codes"]


@pytest.mark.parametrize("builds", [b"", build("old", 0, "a") + build("new", 0, "b")])
def test_of_one_build_nothing_is_said_of_layouts(trial, builds):
    found = judge(read_trial(trial(builds)))
    assert found.to_dict()["layouts"] == []
    assert "layout" not in str(found)


@pytest.mark.parametrize(("layouts", "speaks"), [(1, False), (4, True)])
def test_a_linker_that_ignores_the_seed_is_told(trial, layouts, speaks):
    path = trial(built("old") + built("new", layouts=layouts))
    found = judge(read_trial(path))
    (one,) = [c for c in found.cautions if c.code == "layout-not-varied"]
    assert one.about == ("new",)
    assert f"new has {layouts} layout{'s' * (layouts > 1)} in 6 sessions" in one.text
    screen = " ".join(str(found).split())
    assert f"note [1] new has {layouts} layout" in screen or f"note new has {layouts}" in screen
    assert ("4 to 6 layouts of each variant" in screen) is speaks
    assert ("6 layouts of old: the interval" in screen) is not speaks


@pytest.mark.parametrize(("theirs", "count"), [(6, 6), (1, 1)])
def test_sides_of_two_trials_have_their_own_layouts(trial, theirs, count):
    one, other = trial(built("new"), "one"), trial(built("old", layouts=theirs), "other")
    found = judge_sources(f"{one}:new", f"{other}:old", Reading()).verdict
    assert [(each.variant, each.layouts) for each in found.layouts] == [("old", count), ("new", 6)]
    codes = found.to_dict()["caution_codes"]
    assert ("layout-not-varied" in codes) is (count < 6)
    assert "the interval speaks for layouts" in str(found)


def test_builds_of_which_no_file_is_hashed_are_unknown(trial):
    unknown = BuildRecord(
        session=1,
        segment=0,
        variant="new",
        artifacts={},
        programs={},
        seconds=0.1,
        log=(),
        at="2026-11-27T10:00:00Z",
    )
    lines = (replace(unknown, session=k).to_dict() for k in range(1, 7))
    found = judge(read_trial(trial(b"".join(encode_checked(line) + b"\n" for line in lines))))
    assert found.layouts == ()
    (one,) = [c for c in found.cautions if c.code == "layout-not-varied"]
    assert "whether sessions had layouts of their own of new is not known" in one.text
    assert "the interval speaks" not in str(found)


def test_a_session_that_was_built_twice_has_the_layout_that_was_measured(trial):
    twice = build("new", 3, "new2") + build("new", 3, "new3", segment=1)
    others = b"".join(build("new", s, f"new{s}") for s in (1, 2, 4, 5, 6))
    (one,) = judge(read_trial(trial(twice + others))).layouts
    assert (one.variant, one.layouts, one.sessions) == ("new", 6, 6)


def test_one_side_that_is_built_once_is_named():
    found = counted_layouts([{"new": [(("build/new", f"{k}"),) for k in range(6)]}])
    assert layouts_sentences(found, ["old", "new"]) == (
        "6 layouts of new:",
        "the interval speaks for layouts that the linker may draw, but for one build of old",
    )
    assert layouts_sentences([], ["old", "new"]) == ()


def test_a_damaged_record_of_builds_is_no_answer(trial):
    path = trial(built("old", "new"))
    (path / BUILDS).write_bytes(b'{"session": 1}\n')
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["files"].pop(BUILDS, None)
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(StoreError):
        judge(read_trial(path))


@pytest.mark.parametrize(("per_session", "least", "most"), [(True, 0, 0.08), (False, 0.5, 1)])
def test_the_interval_of_sessions_covers_layouts_only_where_each_session_draws_them(
    per_session, least, most
):
    # authority: theory. Two variants of one source, layouts of sd 0.8 %, sessions of sd 0.2 %: any word is false.
    # One build of each, drawn once, is the negative control.
    rng, sessions, many = stream(30, "layouts"), 6, 200

    def side(name):
        layouts = rng.normal(0, 0.008, (many, sessions if per_session else 1))
        times = np.exp(layouts + rng.normal(0, 0.002, (many, sessions)))
        ids = {f"b{k}": list(range(sessions)) for k in range(many)}
        return PerformanceMatrix.from_samples(
            name, dict(zip(ids, times, strict=True)), better="lower", sessions=ids, blocks=ids
        )

    found = multilevel(side("new"), side("old"), margin=0.0001, correction="none")
    words = [line.outcome for line in found.benchmarks]
    assert least <= sum(word in ("faster", "slower") for word in words) / many <= most
