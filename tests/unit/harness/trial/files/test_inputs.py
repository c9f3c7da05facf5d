"""Inputs that change under a trial: declared ones are refused, other arguments are told.

Authority: input data was cut from 240,000 to 60,000 bytes in the middle of a trial, as an argument in one
cell and as stdin in another; `--resume` went on without a word and the verdict said "3.60x".
"""

from __future__ import annotations

import dataclasses
import os

import pytest

from analysis.data.trial import read_trial
from analysis.errors import StoreError
from harness.campaign.model import Command, Expect, Service, port_mark
from harness.errors import LaunchError
from harness.trial import run_files as inputs


@pytest.fixture
def fed(stage, campaign, make_cell):
    """Make a campaign of one cell that reads files."""

    def make(*argv, **cell):
        command = Command(argv=("true", *argv), mark="campaign.yaml:7:3")
        return campaign(("x",), ("a",), cells=(make_cell("x", "a", command=command, **cell),))

    return make


@pytest.fixture
def data(stage):
    path = stage.folder / "data"
    path.write_text("long" * 100)
    return path


def broken_off(stage, c, after=2):
    stage.target = stage.at(after, stage.interrupt)
    stage.start(c)
    stage.target = lambda request: None


DECLARED = {
    "stdin": lambda data: {"stdin": data},
    "inputs": lambda data: {"inputs": (data,)},
    "expect.file": lambda data: {"expect": Expect(stdout_file=data)},
}


@pytest.mark.parametrize("how", DECLARED)
@pytest.mark.parametrize("change", ["cut", "gone"])
def test_a_changed_input_is_refused_and_accepted_only_when_asked(stage, fed, data, how, change):
    if how == "expect.file":
        data.write_text("")  # what the runs of the stage write
    c = fed(**DECLARED[how](data))
    broken_off(stage, c)
    (record,) = stage.lines("environment.jsonl")
    assert record["inputs"]["data"]["size_bytes"] == data.stat().st_size
    if change == "cut":
        data.write_text("short")
    else:
        data.unlink()
    missing = change == "gone" and how != "expect.file"
    with pytest.raises(StoreError, match="the input data has changed") as caught:
        stage.resume(c)
    assert "--accept-drift" in caught.value.fix
    assert len(stage.rows) == 2
    assert stage.manifest["status"] == "interrupted"
    if missing:  # accepting does not make it appear
        with pytest.raises(LaunchError):
            stage.resume(c, accept_drift=True)
        return
    stage.resume(c, accept_drift=True)
    assert "the input data has changed" in stage.findings("drift", "resume")[0]["what"]
    (said,) = [found for found in read_trial(stage.trial).cautions if found.code == "drift"]
    assert "the input data has changed" in said.text
    assert "taken together" in said.text


def test_the_same_inputs_are_no_drift_and_no_caution(stage, fed, data):
    c = fed(stdin=data)
    broken_off(stage, c)
    data.write_text("long" * 100)  # written again, with the same content
    assert stage.resume(c).status == "complete"
    assert stage.findings("drift") == []
    assert [found for found in read_trial(stage.trial).cautions if found.code == "drift"] == []


def test_an_input_that_changes_between_sessions_is_a_drift_too(stage, fed, data, campaign):
    c = fed(stdin=data)
    c = dataclasses.replace(c, protocol=dataclasses.replace(c.protocol, sessions=2))
    stage.target = stage.at(3, lambda: data.write_text("short") and None)
    stage.start(c)
    # the fourth run is the first of session 2; its record was made before
    assert stage.findings("drift") == []
    stage.target = lambda request: None
    with pytest.raises(StoreError, match="the input data has changed"):
        stage.resume(c, sessions=3)


def test_a_trial_of_an_earlier_version_has_no_inputs_to_hold_against(stage, fed, data):
    c = fed(stdin=data)
    broken_off(stage, c)
    path = stage.trial / "environment.jsonl"
    text = path.read_text()
    path.write_text(text[: text.index(',"inputs":')] + "}\n")
    data.write_text("short")
    assert stage.resume(c).status == "complete"


@pytest.mark.parametrize("what", ["missing", "folder"])
def test_an_input_that_is_no_file_is_told_before_anything_is_made(stage, fed, what):
    if what == "folder":
        (stage.folder / "data").mkdir()
    with pytest.raises(LaunchError, match="an input is"):
        stage.start(fed(inputs=(stage.folder / "data",)))
    assert list(stage.runs.iterdir()) == []


# --- other arguments ---------------------------------------------------------------------------


def test_an_argument_that_no_run_wrote_is_followed(stage, fed, data):
    c = fed("data")
    broken_off(stage, c)
    assert stage.manifest["arguments"].keys() == {str(data)}
    data.write_text("short")
    assert stage.resume(c).status == "complete"
    (finding,) = stage.findings("input", "before")
    assert str(data) in finding["what"]
    assert stage.findings("drift") == []
    stage.resume(c, sessions=2)
    assert len(stage.findings("input")) == 1  # told once


def test_the_files_are_known_once_by_the_last_first_run(stage, fed, data):
    files = inputs.ArgumentFiles(fed("data"), {})
    assert files.look() == ()
    assert not files.executed("y", "a")  # of another cell
    assert files.executed("x", "a")
    assert files.known.keys() == {str(data)}
    assert not files.executed("x", "a")  # nothing that would have to be written again
    data.write_text("short")
    assert not files.executed("x", "a")
    (finding,) = files.look()
    assert str(data) in finding.what


def test_a_file_that_a_service_is_given_is_followed(fed, data):
    command = Command(argv=("server", "data", "missing", port_mark("s")), mark="campaign.yaml:9:3")
    service = Service(name="s", variant=None, command=command, cwd=data.parent, env={})
    files = inputs.ArgumentFiles(dataclasses.replace(fed(), services=(service,)), {})
    assert files.look() == ()
    assert files.executed("x", "a")
    assert files.known.keys() == {str(data)}
    data.write_text("short")
    (finding,) = files.look()
    assert str(data) in finding.what


def test_an_argument_that_a_run_writes_is_an_output(stage, fed, data):
    def writes(request):
        data.write_text("long" * 100)  # the same content as before

    stage.target = writes
    c = fed("-o", "data")
    stage.start(c)
    assert stage.manifest["arguments"] == {}
    data.write_text("anything")
    stage.target = lambda request: None
    stage.resume(c, sessions=2)
    assert stage.findings("input") == []


def test_what_is_declared_and_what_is_large_is_not_followed(stage, fed, data, monkeypatch):
    large = stage.folder / "large"
    large.write_text("x" * 1001)
    monkeypatch.setattr(inputs, "_MOST_BYTES", 1000)
    stage.start(fed("data", "large", "--in=data", inputs=(data,)))
    assert stage.manifest["arguments"] == {}


def test_a_text_that_can_be_no_name_is_no_file(stage, fed):
    assert stage.start(fed("x" * 5000, "a/" * 3000, "=", "")).failed == 0


def test_a_file_is_read_once_while_it_is_not_touched(stage, data, monkeypatch):
    from harness.host import executables as described
    from harness.host.executables import digest_of

    read = []
    real = described.sha256_of
    monkeypatch.setattr(described, "sha256_of", lambda path: read.append(path) or real(path))
    described._digest.cache_clear()
    first = digest_of(data)
    assert digest_of(data) == first
    os.utime(data, ns=(1, 1))
    assert digest_of(data) == first
    assert len(read) == 2
