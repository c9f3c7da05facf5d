"""No two sides share a session by accident.

Authority: a session is what was measured on one occasion; two files that do not say when they were
measured are two occasions, and a number that two sources use is no common session.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.importers.sources import Reading, read_sides, sessions_apart
from analysis.methods.multilevel.compare import multilevel

Build = Callable[..., Any]
LOWER = Reading(better="lower")


def written(path: Path, sessions: list[int] | None = None) -> str:
    data: dict[str, Any] = {"name": path.stem, "samples": {"a": [1.0, 1.1, 1.2, 1.3]}}
    path.write_text(json.dumps(data | ({"sessions": {"a": sessions}} if sessions else {})))
    return str(path)


def design(candidate: str, baseline: str) -> str:
    sides = sessions_apart(read_sides(candidate, baseline, LOWER))
    return multilevel(sides.candidate, sides.baseline).design


def test_two_files_without_ids_cannot_tell_session_from_variant(tmp_path: Path) -> None:
    x, y = written(tmp_path / "x.json"), written(tmp_path / "y.json")
    assert design(x, y) == "confounded"
    sides = read_sides(x, y, LOWER)  # the negative control: as values they share one session
    assert multilevel(sides.candidate, sides.baseline).design == "one session, runs"


def test_files_that_say_their_sessions_are_left_as_they_are(tmp_path: Path) -> None:
    ids = [1, 1, 2, 2]
    x, y = written(tmp_path / "x.json", ids), written(tmp_path / "y.json", ids)
    sides = read_sides(x, y, LOWER)
    assert sessions_apart(sides).candidate is sides.candidate
    assert design(x, y) == "paired"
    assert design(x, written(tmp_path / "z.json")) == "confounded"


@pytest.fixture
def trial(synthetic: Build, tmp_path: Path) -> Callable[[str], str]:
    data = {"old": {"a": [1.0, 1.1, 1.2, 1.3]}, "new": {"a": [0.5, 0.6, 0.7, 0.8]}}
    return lambda name: str(synthetic(data, sessions=2).write(tmp_path / "runs" / name))


def test_variants_of_one_trial_stay_paired_and_two_trials_are_separate(
    trial: Callable[[str], str],
) -> None:
    one, two = trial("one"), trial("two")
    assert design(f"{one}:new", f"{one}:old") == "paired"
    assert design(f"{one}:new", f"{two}:old") == "separate"


def test_a_trial_and_a_file_do_not_share_the_numbers_of_their_sessions(
    trial: Callable[[str], str], tmp_path: Path
) -> None:
    one = trial("one")
    assert design(f"{one}:new", written(tmp_path / "x.json", [1, 1, 2, 2])) == "separate"
    assert design(written(tmp_path / "y.json"), f"{one}:old") == "confounded"
