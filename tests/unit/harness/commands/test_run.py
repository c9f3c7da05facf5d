"""What ``run`` says before a trial and behind it. Authority: the commands that it names."""

from __future__ import annotations

import io
import json
import shlex
import shutil
from pathlib import Path

import pytest

from harness.cli import main
from harness.trial.ending import Ending

SAMPLE = Path(__file__).resolve().parents[4] / "tests" / "data" / "sample-0.2.0"


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Execute nothing: every trial is interrupted at once."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.yaml").write_text(
        "name: sample\nvariants: {a: {}}\nbenchmarks: {x: {command: ['true']}}\n"
        "isolation: {cpus: none}\n"
    )
    ending = Ending(trial=tmp_path, status="interrupted", reason=None, done=1, planned=4, failed=0)
    monkeypatch.setattr("harness.trial.execution.start", lambda *_: ending)

    def execute(*words):
        out, err = io.StringIO(), io.StringIO()
        return main(["run", "c.yaml", *words], out, err), err.getvalue()

    return execute


def continued(err):
    return shlex.split(err[err.rindex("next  ") :].replace("\\\n", ""))[1:]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--seed", "0"],  # the trial keeps it
        ["--dir", "my runs"],
        ["--resume", "--dir", "my runs", "--trial", "my runs/t"],
        ["--resume", "--trial", "t", "--seed", "5"],
    ],
)
def test_the_command_that_goes_on_names_the_trial(run, tmp_path, words):
    code, err = run(*words)
    assert code == 130
    assert continued(err) == ["fairtrial", "run", "c.yaml", "--resume", "--trial", str(tmp_path)]


def test_a_trial_is_named_with_its_folder_or_not(run):
    # seen: a new trial began in ./sample-1, although --dir said runs/
    code, err = run("--resume", "--dir", "my runs", "--trial", "sample-1")
    assert code == 2
    assert "fix: leave out --dir: --trial 'my runs/sample-1'" in err


@pytest.mark.parametrize("there", [True, False])
def test_a_new_trial_says_how_to_go_on_with_an_unfinished_one(run, tmp_path, there):
    old = tmp_path / "runs" / "sample-1"
    shutil.copytree(SAMPLE, old)
    manifest = json.loads((old / "manifest.json").read_text())
    campaign = str(tmp_path / "c.yaml") if there else "/absent/c.yaml"
    manifest |= {"status": "interrupted", "campaign_path": campaign}
    (old / "manifest.json").write_text(json.dumps(manifest))
    said = run("--dir", str(tmp_path / "runs"))[1]
    text = " ".join(said.replace("\\\n", "").split())
    assert f"note {old} of this campaign is unfinished; this is a new trial" in text
    assert f"next fairtrial run {campaign} --resume --trial {old} " in text
    assert ("goes on with it" if there else "once the campaign is put back: ") in text
