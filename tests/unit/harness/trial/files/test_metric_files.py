"""What lies in the place of a metric's file: inputs are refused, the rest is set aside, once.

Authority: a metric's `from:` was unlinked before each run whatever it was, the campaign file and the
program included. A file of the user's is never removed.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from analysis.errors import CampaignError, StoreError
from harness.campaign.model import Build, Command, Expect, MetricRule
from harness.commands.dry_run import preview
from harness.trial.execution import Options


def rule(source, name="m"):
    return MetricRule(name=name, source=source, regex="^([0-9.]+)", unit="s", better="lower")


@pytest.fixture
def metered(stage, campaign, make_cell):
    """Make a campaign of one cell with metrics from these files."""

    def make(*sources, argv=("true",), **cell):
        rules = tuple(rule(source, f"m{k}") for k, source in enumerate(sources))
        command = Command(argv=argv, mark="campaign.yaml:7:3")
        made = make_cell("x", "a", metrics=rules, command=command, **cell)
        return campaign(("x",), ("a",), cells=(made,), never_ok="go_on")

    return make


def write_all(*paths):
    """Give the answer of a program that writes its metrics."""

    def answer(request):
        for path in paths:
            path.write_text("1.5\n")

    return answer


# --- inputs ------------------------------------------------------------------------------------


def names_of(path: Path, how: str) -> Path:
    """Give another name of a file."""
    if how == "dots":
        return path.parent / ".." / path.parent.name / path.name
    other = path.with_name(f"other-{path.name}")
    if how == "symbolic":
        other.symlink_to(path)
    elif how == "hard":
        os.link(path, other)
    else:
        return path
    return other


@pytest.mark.parametrize("how", ["same", "dots", "symbolic", "hard"])
@pytest.mark.parametrize(
    "what", ["stdin", "the expected output", "argument", "program", "campaign"]
)
def test_an_input_is_refused_under_any_name_and_nothing_is_made(stage, metered, what, how):
    path = stage.folder / "precious"
    path.write_text("precious")
    cell = {}
    if what == "stdin":
        cell = {"stdin": path}
    elif what == "the expected output":
        cell = {"expect": Expect(stdout_file=path)}
    elif what == "argument":
        cell = {"argv": ("true", "precious")}
    elif what == "program":
        path = stage.bin / "true"
    else:
        path = stage.folder / "campaign.yaml"
    text = path.read_text() if path.exists() else path.write_text("name: c\n") and path.read_text()
    c = metered(names_of(path, how), **cell)
    c = dataclasses.replace(c, source=stage.folder / "campaign.yaml")
    for act in (lambda: stage.start(c), lambda: preview(c, Options(folder=stage.runs))):
        with pytest.raises(CampaignError, match=what) as caught:
            act()
        assert caught.value.exit_code == 2
        assert caught.value.where == "campaign.yaml:7:3"
    assert path.read_text() == text
    assert not stage.runs.exists() or list(stage.runs.iterdir()) == []
    assert stage.executed == []


def test_an_argument_with_a_name_is_an_input_too(stage, metered):
    (stage.folder / "in").write_text("1")
    with pytest.raises(CampaignError, match="an argument of x / a"):
        stage.start(metered(stage.folder / "in", argv=("true", "--data=in")))


def test_an_output_that_is_an_argument_is_no_input_while_it_is_not_there(stage, metered):
    out = stage.folder / "out"
    stage.target = write_all(out)
    c = metered(out, argv=("true", "-o", "out"))
    assert stage.start(c).failed == 0


def test_a_program_that_is_still_to_be_built_is_an_input(stage, metered, commands):
    stage.program("make")
    c = metered(stage.folder / "prog", argv=("./prog",))
    step = Build(variant="a", steps=commands("make"), cwd=stage.folder, env={})
    c = dataclasses.replace(c, builds=(step,))
    with pytest.raises(CampaignError, match="the program of x / a"):
        stage.start(c)
    assert stage.executed == []


# --- what is set aside -------------------------------------------------------------------------


def test_a_file_that_was_there_is_renamed_once_and_said(stage, metered):
    inside, outside = stage.folder / "out", stage.folder.parent / f"{stage.folder.name}-out"
    for path in (inside, outside):
        path.write_text("of the user\n")
    stage.target = write_all(inside, outside)
    assert stage.start(metered(inside, outside)).failed == 0
    for path in (inside, outside):
        aside = path.with_name(f"{path.name}.before-{stage.trial.name}")
        assert aside.read_text() == "of the user\n"
        assert not path.exists()  # what the last run wrote is removed once read
        aside.unlink()
    (finding,) = stage.findings("metric-file", "before")
    assert str(inside) in finding["what"]
    assert str(outside) in finding["what"]
    heard = [one for (found,) in stage.watching.of("findings") for one in found]
    (said,) = [one for one in heard if one.check == "metric-file"]
    assert said.what == finding["what"]


def test_what_a_killed_run_left_is_removed_and_not_set_aside(stage, metered):
    out = stage.folder / "out"

    def killed():
        out.write_text("half")
        stage.interrupt()

    stage.target = stage.at(1, killed)
    c = metered(out)
    stage.start(c)
    out.write_text("half")  # as kill -9 leaves it
    stage.target = write_all(out)
    assert stage.resume(c).status == "complete"
    assert not out.exists()
    assert [path.name for path in stage.folder.iterdir() if "before-" in path.name] == []
    assert stage.findings("metric-file") == []


def test_what_was_there_before_the_first_run_of_a_resumed_trial_is_renamed_too(
    stage, metered, commands
):
    out = stage.folder / "out"
    stage.program("make")
    stage.command = stage.at(0, stage.interrupt)  # in the build, before any run
    step = Build(variant="a", steps=commands("make"), cwd=stage.folder, env={})
    c = dataclasses.replace(metered(out), builds=(step,))
    stage.start(c)
    out.write_text("of the user\n")
    stage.target = write_all(out)
    assert stage.resume(c).status == "complete"
    assert (stage.folder / f"out.before-{stage.trial.name}").read_text() == "of the user\n"
    (finding,) = stage.findings("metric-file", "before")
    assert str(out) in finding["what"]


def test_a_symbolic_link_is_set_aside_and_what_it_names_stays(stage, metered):
    there, link = stage.folder / "there", stage.folder / "out"
    there.write_text("of the user\n")
    link.symlink_to(there)
    stage.target = write_all(link)
    assert stage.start(metered(link)).failed == 0
    assert there.read_text() == "of the user\n"
    assert (stage.folder / f"out.before-{stage.trial.name}").is_symlink()


def test_files_of_the_kernel_are_live(stage, metered):
    link = stage.folder / "out"
    link.symlink_to("/proc/self/comm")
    c = metered(Path("/proc/uptime"), link)
    c = dataclasses.replace(c, cells=tuple(
        dataclasses.replace(cell, metrics=(dataclasses.replace(cell.metrics[0], regex=r"^([0-9.]+)"),
                                           dataclasses.replace(cell.metrics[1], regex="()")))
        for cell in c.cells))  # fmt: skip
    stage.start(c)
    assert link.is_symlink()
    assert stage.findings("metric-file") == []


@pytest.mark.parametrize("what", ["folder", "fifo", "taken"])
def test_what_cannot_be_set_aside_is_told_before_anything_is_measured(
    stage, metered, monkeypatch, what
):
    first, out = stage.folder / "first", stage.folder / "out"
    first.write_text("of the user")
    if what == "folder":
        out.mkdir()
    elif what == "fifo":
        os.mkfifo(out)
    else:
        monkeypatch.setattr("harness.trial.execution.new_trial_name", lambda name: "c-1")
        out.write_text("of the user")
        (stage.folder / "out.before-c-1").write_text("of the user too")
    with pytest.raises(StoreError) as caught:
        stage.start(metered(first, out))
    assert caught.value.where == str(out)
    assert "move it away" in caught.value.fix
    assert stage.executed == []
    assert stage.manifest["status"] == "stopped"
    assert first.read_text() == "of the user"


def test_a_rename_that_fails_leaves_all_as_it_was(stage, metered, monkeypatch):
    first, second = stage.folder / "first", stage.folder / "second"
    for path in (first, second):
        path.write_text(path.name)
    rename = Path.rename

    def fails(path, place):
        if path == second:
            raise PermissionError(13, "Permission denied")
        return rename(path, place)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(StoreError, match="Permission denied"):
        stage.start(metered(first, second))
    assert (first.read_text(), second.read_text()) == ("first", "second")


def test_the_dry_run_names_what_would_be_renamed_and_does_not(stage, metered):
    out = stage.folder / "out"
    out.write_text("of the user")
    shown = preview(metered(out), Options(folder=stage.runs))
    assert shown.to_dict()["set_aside"] == [str(out)]
    assert "out.before-TRIAL" in str(shown)
    assert out.read_text() == "of the user"


# --- files of hooks and of builds ----------------------------------------------------------------


def with_rule(campaign, **changes):
    (cell,) = campaign.cells
    rules = (dataclasses.replace(cell.metrics[0], **changes),)
    return dataclasses.replace(campaign, cells=(dataclasses.replace(cell, metrics=rules),))


def test_what_a_hook_after_a_run_writes_is_read_then_and_removed(stage, metered, commands):
    cost = stage.folder / "cost"
    stage.program("weigh")
    seen = []

    def weigh(request):
        seen.append(cost.exists())
        cost.write_text(f"{len(seen)}.5\n")

    stage.command = weigh
    campaign = with_rule(metered(cost, after=commands("weigh")), when="after")
    assert stage.start(campaign).failed == 0
    values = [row["metrics"]["m0"] for row in stage.rows]
    assert values == [[k + 0.5] for k in range(1, len(values) + 1)]
    assert not any(seen)  # what an earlier one wrote cannot count
    assert not cost.exists()


def test_what_a_build_wrote_is_neither_set_aside_nor_removed(stage, metered, commands):
    size = stage.folder / "a.size"
    size.write_text("7 B\n")  # of an earlier build: this one may find it up to date
    stage.program("make")
    step = Build(variant="a", steps=commands("make"), cwd=stage.folder, env={})
    c = dataclasses.replace(with_rule(metered(size), when="build", unit="B"), builds=(step,))
    assert stage.start(c).failed == 0
    assert size.read_text() == "7 B\n"
    assert stage.findings("metric-file") == []
    assert [path.name for path in stage.folder.iterdir() if "before-" in path.name] == []
