"""What the page about nightly measuring says to do, done.

Authority: the costs that the programs print are planted, so which night is slower is known.
"""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from analysis.record.environment import commits_of_all
from analysis.record.shapes import readable_rows
from analysis.record.trial_files import ENVIRONMENT
from tests.bisect_lab import git

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "nightly.md").read_text(encoding="utf-8")
# a build makes a program that prints its cost, with what differs from night to night
BUILD = """\
app:
\tprintf '#!/bin/sh\\necho cost %s.%02d\\n' $$(cat cost) $$(($$(ls ../nights | wc -l) * 37 % 89)) > app
\tchmod +x app
.PHONY: app
"""
CAMPAIGN = {
    "name": "app",
    "build": [["make", "-s", "-C", "{variant}"]],
    "variants": {"old": {}, "tip": {}},
    "baseline": "old",
    "benchmarks": {
        "text": {
            "command": ["{variant}/app"],
            "metrics": {"cost": {"regex": "cost (.+)", "unit": "s", "better": "lower"}},
        }
    },
    "judge": "cost",
    "protocol": {"sessions": 1, "runs": 1, "warmup": 0},
    "isolation": {"cpus": "none"},
    "checks": {"probe": "0s"},
}


def blocks(kind):
    return re.findall(rf"(?ms)^```{kind}\n(.*?)^```$", PAGE)


def scripts():
    """Give the scripts of the page by their names, as their first comment says them."""
    named = ((re.search(r"(?m)^# (\S+\.sh) ", text), text) for text in blocks("sh"))
    return {name[1]: text for name, text in named if name}


@pytest.fixture
def execute(forks, path_of_forks):
    """Execute a script as a timer does: from another folder, with fairtrial on the PATH."""

    def executed(lab, script):
        forks.stage = lambda: lab.on_stage(None)
        return subprocess.run(
            ["/bin/sh", script, lab.folder],
            cwd="/",
            env=lab.environment | {"PATH": path_of_forks},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    yield executed
    forks.stage = dict


class Project:
    """A repository that others push to, and the two clones of the page."""

    def __init__(self, lab):
        self.lab, self.origin = lab, lab.folder / "origin"
        self.origin.mkdir()
        git(self.origin, "init", "-q")
        (self.origin / "Makefile").write_text(BUILD)
        (self.origin / ".gitignore").write_text("app\n")
        self.push(100)
        for name in ("old", "tip"):
            git(lab.folder, "clone", "-q", self.origin, name)
        (lab.folder / "campaign.yaml").write_text(json.dumps(CAMPAIGN))
        (lab.folder / "nights").mkdir(exist_ok=True)

    def push(self, cost):
        (self.origin / "cost").write_text(f"{cost}\n")
        git(self.origin, "add", "-A")
        git(self.origin, "commit", "-q", "--allow-empty", "-m", f"it costs {cost}")
        return git(self.origin, "rev-parse", "HEAD")

    def nights(self, count):
        """Measure so many nights as the script does, without its looking."""
        git(self.lab.folder / "tip", "pull", "-q", "--ff-only")
        for _ in range(count):
            done = self.lab.run_fairtrial("run", "campaign.yaml", "--dir", "nights", "-q")
            assert done.returncode == 0, done.stderr


@pytest.fixture
def project(lab):
    lab.environment["HOME"] = str(lab.folder)
    return Project(lab)


def test_the_nightly_script_is_silent_until_the_program_is_slower(lab, project, execute):
    script = lab.script("nightly.sh", scripts()["nightly.sh"])
    lab.script("notify", '#!/bin/sh\n{ echo "$1"; cat; } > told\n')
    for night in (1, 2):  # the first ones: nothing can be told yet
        done = execute(lab, script)
        assert (done.returncode, done.stdout) == (0, ""), (done.stderr, night)
    project.nights(6)
    slow = project.push(110)
    project.nights(6)
    done = execute(lab, script)  # 8 nights, and 7 slow ones
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert not (lab.folder / "told").exists()
    done = execute(lab, script)  # the eighth slow night
    assert done.returncode == 1, (done.stdout, done.stderr)
    first = done.stdout.splitlines()[0]
    assert re.match(r"STOP  text takes (9\.\d|10(\.\d)?) % more time", first)
    assert (lab.folder / "told").read_text() == f"{first}\n{done.stdout}"
    assert (lab.folder / "history.txt").read_text()
    nights = sorted(one for one in (lab.folder / "nights").iterdir() if one.is_dir())
    assert len(nights) == 16
    commits = [commits_of_all([next(readable_rows(night / ENVIRONMENT))]) for night in nights]
    assert {one["old"] for one in commits} == {git(lab.folder / "old", "rev-parse", "HEAD")}
    assert [one["tip"] == slow for one in commits] == [False] * 8 + [True] * 8


def test_a_night_without_a_measurement_is_said(lab, project, execute):
    script = lab.script("nightly.sh", scripts()["nightly.sh"])
    (project.origin / "Makefile").write_text("app:\n\tfalse\n")
    project.push(100)
    done = execute(lab, script)
    assert done.returncode == 4
    assert "build" in done.stderr
    shutil.rmtree(project.origin)  # and one that cannot see whether there is something new
    done = execute(lab, script)
    assert done.returncode not in {0, 7}
    assert "origin" in done.stderr


def test_the_script_of_a_growing_trial_adds_a_session_every_night(lab, execute):
    script = lab.script("growing.sh", scripts()["growing.sh"])
    lab.write_campaign("campaign", protocol={"sessions": 6, "runs": 1, "warmup": 0})
    for night in (1, 2, 3):
        done = execute(lab, script)
        assert done.returncode == 0, done.stderr
        (trial,) = (lab.folder / "growing").iterdir()
        assert lab.manifest(trial)["sessions"] == night
    lab.assert_complete_once_each(trial, planned=12)
    assert [one["first"] for one in lab.manifest(trial)["appended"]] == [2, 3]


def test_the_nights_of_the_table_are_those_that_the_alarm_takes():
    """Authority: `order_of`, which is exact for exchangeable nights of any law."""
    from analysis.history.changes import NEWEST, NIGHTS, order_of

    rows = re.findall(r"(?m)^\| (\d+) \| (\d) \|$", PAGE)
    risk = 0.05 / 100 / len(NIGHTS)
    found = []
    for nights in range(2 * NEWEST, 200):
        least = min((m for m in NIGHTS if order_of(m, nights - NEWEST, risk)), default=None)
        if least is not None and (not found or least < found[-1][1]):
            found.append((nights, least))
    assert [(int(nights), int(slow)) for nights, slow in rows] == found


def test_the_timer_and_its_service_are_units(tmp_path):
    service, timer = blocks("ini")
    units = {"nightly.service": service, "nightly.timer": timer}
    for name, text in units.items():
        parsed = configparser.ConfigParser()
        parsed.read_string(text)
        assert "Unit" in parsed
        (tmp_path / name).write_text(text.replace("/home/me/bench/nightly.sh", "nightly.sh"))
    if not shutil.which("systemd-analyze"):
        return  # they are units as far as can be told
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", *(tmp_path / name for name in units)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "Unknown key" not in done.stderr
    assert "Failed to parse" not in done.stderr


def test_the_line_for_cron_has_five_times_and_a_command():
    (line,) = re.findall(r"(?m)^10 3 .*$", PAGE)
    *times, command = line.split(maxsplit=5)
    assert times == ["10", "3", "*", "*", "*"]
    assert command == "/home/me/bench/nightly.sh /home/me/bench"
