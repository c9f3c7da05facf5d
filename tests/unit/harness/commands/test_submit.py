"""What ``submit`` answers when Slurm has taken the jobs, or was not asked. Slurm is played."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace

import pytest

from harness.cli import main


@pytest.fixture
def submit(monkeypatch, tmp_path):
    """Go on with a fleet whose two hosts need jobs."""
    asked = []

    class Planned(SimpleNamespace):
        def execute(self, say):
            say("said")
            return Planned(**vars(self) | {"jobs": ("7", "8")})

        def to_dict(self):
            return {"jobs": list(self.jobs)}

        def __str__(self):
            return "the script"

    def planned(folder, time):
        asked.append((folder, time))
        return Planned(notes=("mind this",), hosts=("n1", "n2"), jobs=(), folder=tmp_path / "c-1")

    monkeypatch.setattr("harness.fleet.status.resubmission_of", planned)

    def execute(*words):
        out, err = io.StringIO(), io.StringIO()
        # what is planted here is no whole answer, which the schema would want
        code = main.__wrapped__(["submit", str(tmp_path), "--resume", *words], out, err)
        return code, out.getvalue(), err.getvalue()

    execute.asked = asked
    return execute


def test_who_has_submitted_is_told_how_to_follow(submit, tmp_path):
    place = tmp_path / "c-1"
    assert submit("--time", "20") == (
        0,
        "submitted 2 jobs: n1 (7), n2 (8)\n"
        f"follow: fairtrial status {place}\n"
        f"end:    fairtrial cancel {place}\n"
        f"then:   fairtrial verdict {place}\n",
        "note    mind this\nsaid\n",
    )
    assert submit.asked == [(tmp_path, "20")]


def test_a_dry_run_shows_what_would_be_submitted_and_submits_nothing(submit):
    assert submit("--dry-run") == (0, "the script\n", "note    mind this\n")
    code, out, _ = submit("--dry-run", "--json")
    assert (code, json.loads(out)) == (0, {"jobs": []})


def test_what_was_submitted_is_json_too(submit):
    code, out, err = submit("--json")
    assert (code, json.loads(out)) == (0, {"jobs": ["7", "8"]})
    assert err.endswith("said\n")


@pytest.mark.parametrize(
    "words",
    [
        ("--hosts", "n1"),
        ("--partition", "p"),
        ("--count", "2"),
        ("--seed", "0"),
        ("--build", "once"),
        ("--wait-for-lock",),
        ("--dir", "elsewhere"),
        ("--", "--mail-user=x"),
    ],
)
def test_a_fleet_is_gone_on_with_as_it_was_submitted(submit, words):
    code, _, err = submit(*words)
    assert code == 2
    option = "what stands after --" if words[0] == "--" else words[0]
    assert f"{option} does not go with --resume" in err
    assert submit.asked == []
