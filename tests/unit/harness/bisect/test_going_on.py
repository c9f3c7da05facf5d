"""A bisection that is killed goes on in its stored sessions. Authority: the same search without a kill."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.errors import AnalysisError, StoreError, UsageError
from analysis.record.shapes import encode_checked
from harness.bisect.bisecting import EndNotBuiltError, Sessions, trial_of
from harness.bisect.commits import Commit, CommitRange
from harness.bisect.journal import (
    SESSIONS,
    Journal,
    MeasuredSession,
    Terms,
    newest_unfinished,
    read_state,
)
from harness.bisect.recipe import Built, NotBuilt

LAST = 40
BROKEN = (20, 31)
DOCS = range(11, 15)  # these build to the program of 10


def commit(place: int) -> Commit:
    return Commit(
        place=place,
        commit=f"{place:040x}",
        tree=f"{place:040x}",
        subject=f"change {place}",
        author="A. Author",
        date="2026-11-03T12:00:00+01:00",
    )


COMMITS = CommitRange(
    root=Path("/repository"),
    git_dir=Path("/repository/.git"),
    good="v1",
    bad="v2",
    commits=tuple(map(commit, range(LAST + 1))),
)


def asked(**changes: object) -> Terms:
    known = {
        "good": "v1",
        "bad": "v2",
        "good_sha": COMMITS.commits[0].commit,
        "bad_sha": COMMITS.commits[-1].commit,
        "root": "/repository",
        "campaign": "/repository/campaign.yaml",
        "campaign_sha256": "00",
        "variant": None,
        "benchmarks": ("one",),
        "metric": "wall",
        "margin": 0.01,
        "risk": 0.05,
        "looks": (6, 12, 24),
        "work_dir": None,
    }
    return Terms(**known | changes)


class Workshop:
    """Builds without a repository."""

    def __init__(self, *, broken: tuple[int, ...] = BROKEN) -> None:
        self.broken = broken
        self.asked: list[int] = []

    def build(self, commit: Commit, *, again: bool = False) -> Built | NotBuilt:
        assert again == (commit.place in (0, LAST))
        self.asked.append(commit.place)
        if commit.place in self.broken:
            return NotBuilt(commit=commit, why="make failed", log=Path("build.log"))
        program = 10 if commit.place in DOCS else commit.place
        return Built(
            commit=commit,
            tree=Path("kept"),
            programs={},
            identity=f"program {program}",
            seconds=0.1,
        )


class KilledError(Exception):
    """Stands for kill -9: nothing behind it is executed."""


class Recorded(Sessions):
    """Sessions whose values are a function of how many were measured; `store` stands for the trials."""

    store: dict = {}  # noqa: RUF012 - set by `begun`
    kill_before_list: int | None = None
    kill_after_list: int | None = None

    def _measured(self, name, places, phase):
        listed = sum(one.trial == name for one in self.journal.sessions)
        key = (name, listed + 1)
        if key not in self.store["values"]:
            number = len(self.store["values"])
            rng = np.random.default_rng([3, number])
            shared = rng.normal(0, 0.01)
            level = {k: math.log(1.05) if k >= 27 else 0.0 for k in range(LAST + 1)}
            self.store["values"][key] = {
                k: level[10 if k in DOCS else k] + shared + rng.normal(0, 0.004) for k in places
            }
            if self.kill_before_list == number:
                raise KilledError
        return MeasuredSession(trial=name, session=listed + 1, places=places)

    def _values(self, stored):
        if self.kill_after_list == len(self.journal.sessions) - 1:
            raise KilledError
        return self.store["values"][stored.trial, stored.session]


def begun(journal: Journal, store: dict) -> Recorded:
    heard = ("phase", "session", "word", "skipped", "building", "built")
    one = Recorded(
        question=SimpleNamespace(commits=COMMITS, info=SimpleNamespace(unit="s")),
        journal=journal,
        workshop=Workshop(),
        view=SimpleNamespace(**dict.fromkeys(heard, lambda *_: None)),
        interrupts=SimpleNamespace(check=lambda: None),
    )
    one.store = store
    one.search.after = one.search.cut = None  # nothing of it is in a trial
    return one


def searched(sessions: Sessions):
    return sessions.search.result()


@pytest.fixture
def whole(tmp_path):
    """Give the search without a kill."""
    store = {"values": {}}
    with Journal.begin(tmp_path / "whole", asked()) as journal:
        found = searched(begun(journal, store))
        return found, list(journal.sessions), store


def test_it_finds_the_step_and_lists_each_session(whole):
    found, listed, store = whole
    assert found.answer == "proven"
    assert [(one.after, one.upto) for one in found.culprits] == [(26, 27)]
    assert [one.places for one in listed] == list(found.measured)
    assert {one.trial for one in listed} > {"step0", "proof-1"}
    assert [(one.trial, one.session) for one in listed] == list(store["values"])


@pytest.mark.parametrize("listed_too", [True, False])
def test_a_kill_after_each_session_changes_nothing_and_measures_none_twice(
    tmp_path, whole, listed_too
):
    expected, expected_list, _ = whole
    for after in range(expected.sessions):
        folder, store = tmp_path / f"{listed_too}-{after}", {"values": {}}
        journal = Journal.begin(folder, asked())
        first = begun(journal, store)
        setattr(first, "kill_after_list" if listed_too else "kill_before_list", after)
        with pytest.raises(KilledError):
            searched(first)
        journal.close()
        assert len(store["values"]) == after + 1
        with Journal.reopen(folder) as again:
            assert len(again.sessions) == after + listed_too
            found = searched(begun(again, store))
            assert again.sessions == expected_list
        assert found.to_dict() == expected.to_dict()
        assert len(store["values"]) == expected.sessions


def test_a_torn_last_line_is_cut_off_and_an_edited_one_is_refused(tmp_path, whole):
    _, listed, _ = whole
    folder = tmp_path / "whole"
    lines = (folder / SESSIONS).read_bytes().splitlines(keepends=True)
    (folder / SESSIONS).write_bytes(b"".join(lines[:-1]) + lines[-1][:20])
    with Journal.reopen(folder) as journal:
        assert journal.sessions == listed[:-1]
        journal.append(listed[-1])
    assert (folder / SESSIONS).read_bytes() == b"".join(lines)
    (folder / SESSIONS).write_bytes(lines[0].replace(b"step0", b"step1") + b"".join(lines[1:]))
    with pytest.raises(StoreError, match="checksum"):
        Journal.reopen(folder)


def test_stored_sessions_of_another_search_are_refused(tmp_path, whole):
    _, _, store = whole
    with Journal.reopen(tmp_path / "whole") as journal:
        sessions = begun(journal, store)
        sessions.workshop = Workshop(broken=(*BROKEN, 27))  # it was built then
        with pytest.raises(StoreError, match="the search now asks for"):
            searched(sessions)


def test_two_processes_do_not_write_one_folder(tmp_path):
    with Journal.begin(tmp_path / "one", asked()):
        with pytest.raises(
            StoreError, match=r"another process is writing this bisection \(process \d"
        ):
            Journal.reopen(tmp_path / "one")
        with pytest.raises(StoreError):
            Journal.begin(tmp_path / "one", asked())
    Journal.reopen(tmp_path / "one").close()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"good_sha": "11"}, "GOOD of this bisection was"),
        ({"bad_sha": "11"}, "BAD of this bisection was"),
        ({"campaign": "/other.yaml"}, "the campaign's file"),
        ({"campaign_sha256": "11"}, "the campaign's text"),
        ({"metric": "user"}, "the metric of this bisection was wall, and now it is user"),
        ({"margin": 0.02}, "--margin"),
        ({"risk": 0.01}, "--risk"),
        ({"looks": (6, 12)}, "--looks of this bisection was 6, 12, 24, and now it is 6, 12"),
        ({"benchmarks": ("two",)}, "the benchmarks"),
        ({"variant": "b"}, "--variant of this bisection was not given"),
    ],
)
def test_another_question_is_refused_with_the_reason(tmp_path, changes, says):
    with pytest.raises(UsageError, match=says):
        asked().refuse_another(asked(**changes), tmp_path)


def test_more_sessions_may_be_allowed_later(tmp_path):  # the control
    asked(sessions_max=10).refuse_another(asked(sessions_max=50), tmp_path)


def test_what_was_asked_is_read_as_it_was_written(tmp_path):
    with Journal.begin(tmp_path / "one", asked(sessions_max=7)) as journal:
        journal.store({"state": "under-way", "seconds": 3.0})
    state = read_state(tmp_path / "one")
    assert state.asked == asked(sessions_max=7)
    assert state.seconds == 3.0
    path = tmp_path / "one" / "bisect.json"
    stored = json.loads(path.read_bytes())
    for change, said in (
        ({"store_schema": 99}, "schema 99"),
        ({"seconds": "3"}, "finite number"),
        ({"asked": []}, "object"),
    ):
        path.write_text(json.dumps(stored | change))
        with pytest.raises(StoreError, match=said):
            read_state(tmp_path / "one")
    path.write_text("[" * 200000)
    with pytest.raises(StoreError, match="nested too deeply"):
        read_state(tmp_path / "one")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"trial": 1, "session": 1, "places": [0]}, "must be a text"),
        ({"trial": "a", "session": 1}, "lacks places"),
        ({"trial": "a", "session": 1, "places": "0"}, "must be a list"),
        ({"trial": "../a", "session": 1, "places": [0]}, "outside of the bisection"),
    ],
)
def test_a_session_of_another_shape_is_refused(tmp_path, row, said):
    Journal.begin(tmp_path / "one", asked()).close()
    (tmp_path / "one" / "sessions.jsonl").write_bytes(encode_checked(row) + b"\n")
    with pytest.raises(StoreError, match=said):
        Journal.reopen(tmp_path / "one")


def test_a_lock_that_leads_elsewhere_is_not_followed(tmp_path):
    Journal.begin(tmp_path / "one", asked()).close()
    (tmp_path / "precious").write_text("of the user")
    (tmp_path / "one" / ".lock").unlink()
    (tmp_path / "one" / ".lock").symlink_to(tmp_path / "precious")
    with pytest.raises(StoreError, match="symbolic link"):
        Journal.reopen(tmp_path / "one")
    assert (tmp_path / "precious").read_text() == "of the user"


def test_the_newest_that_is_not_ended_goes_on(tmp_path):
    with pytest.raises(UsageError, match="no bisection to go on with"):
        newest_unfinished(tmp_path, None)
    for name, state in (("a", "under-way"), ("b", "ended")):
        with Journal.begin(tmp_path / name, asked()) as journal:
            journal.store({"state": state})
    assert newest_unfinished(tmp_path, None) == tmp_path / "a"
    with pytest.raises(UsageError):
        newest_unfinished(tmp_path, "/other.yaml")


def test_an_end_that_does_not_build_is_told_with_its_log(tmp_path):
    with Journal.begin(tmp_path / "one", asked()) as journal:
        sessions = begun(journal, {"values": {}})
        sessions.workshop = Workshop(broken=(LAST,))
        with pytest.raises(EndNotBuiltError):
            searched(sessions)
        assert journal.sessions == []


def test_an_end_that_fails_in_every_run_is_named_as_a_commit_with_its_trial(tmp_path):
    with Journal.begin(tmp_path / "one", asked()) as journal:
        sessions = begun(journal, {"values": {}})
        sessions._values = lambda stored: {
            place: math.nan if place == LAST else 0.0 for place in stored.places
        }
        with pytest.raises(AnalysisError, match="step0: 0000000 fails in every run of two"):
            searched(sessions)
        assert len(journal.sessions) == 2


def test_trials_are_named_by_what_they_are_for():
    from analysis.history.step_search import Phase

    commits = COMMITS.commits
    search = Phase(kind="search", lower=0, upper=LAST, places=(0, LAST))
    inside = Phase(kind="search", lower=5, upper=9, places=(5, 9))
    proof = Phase(kind="proof", lower=26, upper=27, number=2, level=0.025, places=(0, 26, 27, 40))
    assert trial_of(search, (0, 7, LAST), commits) == "search/0007-0000000"
    assert trial_of(inside, (5, 7, 9), commits) == "search/0007-0000000-in-0005-0009"
    assert trial_of(proof, proof.places, commits) == "proof-2"
