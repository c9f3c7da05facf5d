"""A trial that is gone on with hashes its programs before it builds any.

Authority: a refused `--resume` had already built all variants anew, and so destroyed the programs of two
that nobody had touched.
"""

from __future__ import annotations

import dataclasses

import pytest

from analysis.errors import StoreError
from harness.campaign.model import Build, Command
from harness.errors import LaunchError

MARK = "campaign.yaml:2:1"


OLD, NEW = "#!/bin/sh\n# old\n", "#!/bin/sh\n# new\n"


@pytest.fixture
def two(stage, campaign, make_cell, commands):
    """Begin a trial of two variants with a program and a build each, and break it off."""
    stage.program("make")
    cells, builds = [], []
    for variant in ("a", "b"):
        command = Command(argv=(f"bin/{variant}",), mark="campaign.yaml:1:1")
        cells.append(make_cell("x", variant, command=command))
        step = Command(argv=("make", variant), mark="campaign.yaml:2:1")
        builds.append(Build(variant=variant, steps=(step,), cwd=stage.folder, env={}))
    c = campaign(("x",), cells=tuple(cells), builds=tuple(builds))
    c = dataclasses.replace(c, builds=tuple(builds))
    stage.command = makes(stage, OLD)
    stage.target = stage.at(3, stage.interrupt)
    stage.start(c)
    stage.target = lambda request: None
    stage.executed.clear()
    return c


def makes(stage, text, *, of=None):
    """Give a build that writes the program of its variant, or of some."""

    def answer(request):
        for name in of or request.argv[1:]:
            stage.program(name, text)

    return answer


def built(stage):
    return [request.argv[1] for _, request in stage.executed if request.argv[0] == "make"]


def test_a_changed_program_is_refused_and_nothing_is_built(stage, two):
    stage.program("a", NEW)
    stage.command = makes(stage, "#!/bin/sh\n# of a later source\n")
    with pytest.raises(StoreError) as caught:
        stage.resume(two)
    assert "bin/a has changed" in caught.value.what
    assert "bin/b" not in caught.value.what
    assert built(stage) == []
    assert [(stage.bin / name).read_text() for name in "ab"] == [NEW, OLD]
    assert stage.manifest["status"] == "interrupted"


def test_a_missing_program_is_built_and_the_other_is_not(stage, two):
    (stage.bin / "a").unlink()
    stage.command = makes(stage, OLD)
    assert stage.resume(two).status == "complete"
    assert built(stage) == ["a"]
    assert stage.findings("drift") == []


def test_a_build_that_touches_another_variant_leaves_its_program_as_it_was(stage, two):
    (stage.bin / "a").unlink()
    (stage.bin / "b").chmod(0o711)
    stage.command = makes(stage, NEW, of=("a", "b"))
    with pytest.raises(StoreError) as caught:
        stage.resume(two)
    assert "bin/a has changed" in caught.value.what
    assert "bin/b" not in caught.value.what
    assert (stage.bin / "b").read_text() == OLD
    assert (stage.bin / "b").stat().st_mode & 0o777 == 0o711


@pytest.mark.parametrize("accept", [True, False])
def test_a_build_that_fails_puts_back_what_was_there(stage, two, accept):
    (stage.bin / "a").unlink()
    if accept:
        stage.program("b", NEW)
    before = (stage.bin / "b").read_text()

    def fails(request):
        stage.program("b", "half a program")
        return {"exit_code": 2}

    stage.command = fails
    with pytest.raises(LaunchError, match="failed with exit code 2"):
        stage.resume(two, accept_drift=accept)
    assert (stage.bin / "b").read_text() == before
    assert stage.manifest["status"] == "interrupted"


def test_a_signal_during_the_build_puts_back_what_was_there(stage, two):
    (stage.bin / "a").unlink()

    def broken_off(request):
        (stage.bin / "b").unlink()
        stage.interrupt(15)

    stage.command = broken_off
    assert stage.resume(two).status == "interrupted"
    assert (stage.bin / "b").read_text() == OLD


def test_an_accepted_change_is_built_after_the_programs_were_copied_into_the_trial(stage, two):
    stage.program("a", NEW)
    stage.command = makes(stage, "#!/bin/sh\n# of a later source\n")
    assert stage.resume(two, accept_drift=True).status == "complete"
    assert built(stage) == ["a", "b"]
    copies = sorted(path.read_text() for path in stage.trial.glob("outputs/targets-before/*"))
    assert copies == sorted([NEW, OLD])
    assert {found["what"].rpartition("/")[2].split()[0] for found in stage.findings("drift")} >= {
        "a"
    }
    assert any(name.startswith("outputs/targets-before/") for name in stage.manifest["files"])


def test_copies_are_not_written_through_a_planted_link(stage, two):
    (stage.bin / "a").unlink()
    victim = stage.folder / "elsewhere"
    victim.mkdir()

    (stage.trial / "outputs" / "targets-before").symlink_to(victim)
    with pytest.raises(StoreError, match="symbolic link"):
        stage.resume(two)
    assert list(victim.iterdir()) == []
