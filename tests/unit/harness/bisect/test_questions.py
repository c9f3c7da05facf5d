"""What the command line of a bisection asks: what is missing or cannot be, and what is pasted to carry it out."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from analysis.errors import UsageError
from analysis.history.places import fails_more
from analysis.record.manifest import bisection_of_trial, is_bisection
from analysis.record.shapes import shaped
from harness.bisect.bisecting import Request, expected, question_of, same_programs
from harness.bisect.journal import Journal, Terms
from harness.bisect.recipe import Built, NotBuilt

from .conftest import CAMPAIGN, PROGRAM, Repository


@pytest.fixture
def asked(tmp_path):
    """Ask of a repository of three commits."""
    repository = Repository(tmp_path / "app")
    for k in range(3):
        repository.commit(f"{k}", {"app.c": PROGRAM.format(k)})
    campaign = repository.path / "campaign.yaml"
    campaign.write_text(CAMPAIGN)

    def ask(*, strict=False, resume=None, **words):
        said = {"good": "HEAD~2", "bad": "HEAD", "campaign": campaign, **words}
        terms = {name: one for name, one in said.items() if one is not None}
        return Request(terms=terms, strict=strict, resume=resume)

    return ask


def _print_t(campaign):
    """Let the runs of a campaign print iterations of t."""
    metric = "metrics: {t: {regex: 't (.*)', unit: s, better: lower, warmup_iterations: 9}}"
    campaign.write_text(CAMPAIGN.replace('"]}\nprotocol', f'"], {metric}}}\nprotocol'))


@pytest.mark.parametrize(
    ("good", "what", "fix"),
    [
        ("v1", "BAD is missing", "fairtrial bisect v1 BAD"),
        ("v1..v2", "BAD is missing", "fairtrial bisect v1 v2"),
        ("v1...v2", "BAD is missing", "fairtrial bisect v1 v2"),
        (None, "GOOD and BAD are missing", "fairtrial bisect GOOD BAD"),
    ],
)
def test_an_end_that_is_missing_is_named(asked, good, what, fix):
    with pytest.raises(UsageError, match=what) as said:
        question_of(asked(good=good, bad=None))
    assert said.value.fix == fix


def test_sessions_that_end_before_the_first_look_are_refused(asked):
    with pytest.raises(UsageError, match="3 sessions end before the first look, which is after 6"):
        question_of(asked(sessions_max=3))
    # negative controls: as many as that look, and another list of looks
    assert question_of(asked(sessions_max=6)).asked.sessions_max == 6
    assert question_of(asked(sessions_max=3, looks=(3, 6))).asked.looks == (3, 6)


def test_what_is_pasted_after_a_dry_run_asks_the_same(asked, tmp_path):
    request = asked(
        benchmarks=("run",),
        variant="other",
        looks=(4, 8),
        work_dir=Path("-w x"),
        strict=True,
        metric="t",
        warmup_iterations=0,
    )
    _print_t(request.terms["campaign"])
    (line,) = expected(question_of(request)).to_dict()["next"]
    assert line == (
        f"fairtrial bisect 'HEAD~2' HEAD --benchmark run --campaign {request.terms['campaign']} --metric t --looks 4,8 "
        "'--work-dir=-w x' --variant other --warmup-iterations 0 --strict"
    )
    plain = replace(question_of(request), request=Request())
    assert expected(plain).to_dict()["next"] == ["fairtrial bisect 'HEAD~2' HEAD"]
    request.terms["work_dir"] = Path("w\td")
    assert " --work-dir $'w\\x09d'" in " ".join(str(expected(question_of(request))).split())
    # one that is resumed with more sessions: the line that was to be pasted did not ask for them
    Journal.begin(tmp_path / "one", question_of(asked()).asked).close()
    more = question_of(asked(good=None, bad=None, resume=tmp_path / "one", sessions_max=90))
    words = f"--resume {tmp_path}/one --campaign {more.asked.campaign} --sessions-max 90"
    assert expected(more).to_dict()["next"][0].endswith(words)
    (tmp_path / "app").rename(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="put it back"):
        question_of(asked(good=None, bad=None, campaign=None, resume=tmp_path / "one"))


def test_iterations_are_those_that_were_asked_and_stay_so(asked):
    request = asked(metric="t", warmup_iterations="auto")
    _print_t(request.terms["campaign"])
    first = question_of(request).asked
    assert first.warmup_iterations == "auto"
    old = json.loads(json.dumps(asdict(first)))
    stored = shaped(Terms, old)
    assert stored == first
    with pytest.raises(UsageError, match="--warmup-iterations of this bisection was auto, and now"):
        stored.refuse_another(replace(first, warmup_iterations=3), request.terms["campaign"])
    del old["warmup_iterations"]
    assert shaped(Terms, old).warmup_iterations is None  # of a version without it


def test_iterations_of_what_has_none_are_refused(asked):
    with pytest.raises(UsageError, match="wall has one value a run, and no iterations"):
        question_of(asked(warmup_iterations=3))


# ---- What is counted over a bisection's trials. Authority: Fisher's test, and programs that are known.


def test_a_place_that_fails_more_often_than_the_ends_is_named_and_no_other():
    counts = {0: (1, 60), 40: (0, 60), 7: (4, 8), 9: (1, 20), 11: (0, 8)}
    assert fails_more(counts, 40) == (7,)
    # the controls: as often, and more seldom
    assert fails_more({0: (10, 20), 40: (10, 20), 7: (4, 8)}, 40) == ()
    assert fails_more({0: (20, 20), 40: (20, 20), 7: (1, 8)}, 40) == ()
    assert fails_more({}, 40) == ()
    # an end is held against the other one
    assert fails_more({0: (0, 48), 40: (26, 48), 7: (0, 8)}, 40) == (40,)


def test_programs_are_the_same_only_where_nothing_unknown_lies_between():
    def built(identity):
        return Built(
            commit=None, tree=Path("t"), programs={}, identity=identity, seconds=0.0
        )  # of the commit nothing is asked

    broken = NotBuilt(commit=None, why="make failed", log=Path("log"))
    found = {1: built("a"), 2: built("a"), 3: broken, 4: built("a"), 6: built("a"), 7: built("b")}
    assert same_programs(found, ()) == (2, 4)
    assert same_programs(found, (4,)) == (2,)


def test_a_trial_knows_the_bisection_that_it_belongs_to(tmp_path):
    folder = tmp_path / "runs" / "bisect-app"
    (folder / "search" / "0007-abc").mkdir(parents=True)
    (folder / "bisect.json").write_text("{}")
    assert is_bisection(folder)
    assert bisection_of_trial(folder / "step0") == folder
    assert bisection_of_trial(folder / "search" / "0007-abc") == folder
    assert bisection_of_trial(tmp_path / "runs" / "other") is None
