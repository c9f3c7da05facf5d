"""What the command line of a bisection asks: what is missing or cannot be, and what is pasted to carry it out."""

from __future__ import annotations

import pytest

from analysis.errors import UsageError
from harness.bisect.bisecting import Request, question_of
from harness.bisect.expecting import expected

from .conftest import CAMPAIGN, PROGRAM, Repository


@pytest.fixture
def asked(tmp_path):
    """Ask of a repository of three commits."""
    repository = Repository(tmp_path / "app")
    for k in range(3):
        repository.commit(f"{k}", {"app.c": PROGRAM.format(k)})
    campaign = repository.path / "campaign.yaml"
    campaign.write_text(CAMPAIGN)

    def ask(**words):
        return Request(**{"good": "HEAD~2", "bad": "HEAD", "campaign": campaign, **words})

    return ask


@pytest.mark.parametrize(
    ("good", "what", "fix"),
    [
        ("v1", "BAD is missing", "fairtrial bisect v1 BAD"),
        ("v1..v2", "BAD is missing", "fairtrial bisect v1 v2"),
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
        benchmarks=("run",), variant="other", looks=(4, 8), work_dir=tmp_path / "w", strict=True
    )
    (line,) = expected(question_of(request), request).next
    assert line == (
        f"fairtrial bisect 'HEAD~2' HEAD --benchmark run --campaign {request.campaign} --looks 4,8 "
        f"--work-dir {request.work_dir} --variant other --strict"
    )
    plain = Request(good="HEAD~2", bad="HEAD")
    told = expected(question_of(request), plain)
    assert told.next == ("fairtrial bisect 'HEAD~2' HEAD",)
