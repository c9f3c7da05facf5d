"""What the page about nightly sessions says to do, done."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "nightly.md").read_text(encoding="utf-8")


def blocks(kind):
    return re.findall(rf"(?ms)^```{kind}\n(.*?)^```$", PAGE)


def test_the_script_adds_a_session_every_night(lab):
    (text,) = blocks("sh")
    script = lab.script("nightly.sh", text)
    lab.write_campaign("campaign", protocol={"sessions": 6, "runs": 1, "warmup": 0})
    environment = lab.environment | {
        "PATH": f"{Path(sys.executable).parent}:{lab.environment['PATH']}"
    }
    for night in (1, 2, 3):
        done = subprocess.run(
            ["/bin/sh", script, lab.folder],
            cwd="/",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        (trial,) = (lab.folder / "nightly").iterdir()
        assert lab.manifest(trial)["sessions"] == night
    lab.assert_complete_once_each(trial, planned=12)
    assert [one["first"] for one in lab.manifest(trial)["appended"]] == [2, 3]


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
    assert command.startswith("/home/me/bench/nightly.sh /home/me/bench >>")
