"""Energy from the campaign to the verdict: the command on a host whose counter another process moves.

The launcher, its programs and the clock are this machine's; /proc and /sys are a planted tree with one package
that uses 12 W, and 40 W while a program says that it works. Authority: watts times seconds.
"""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
hosts = SimpleNamespace(**runpy.run_path(str(ROOT / "tests" / "hosts" / "trees.py")))
IDLE_W, BUSY_W = 12.0, 40.0
RANGE = 262143328850

# A package: microjoules in a file, written in place so that no reader finds it empty.
MOVER = """
import os, sys, time
file, busy, count, whole = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
fd = os.open(file, os.O_WRONLY)
last, watts = time.monotonic(), 12.0
print("moving", flush=True)
while True:
    now = time.monotonic()
    count += round((now - last) * 1e6 * watts)
    last, watts = now, 40.0 if os.path.exists(busy) else 12.0
    os.pwrite(fd, b"%015d" % (count % whole), 0)
    time.sleep(0.001)
"""

# The command `fairtrial`, with that host in place of this one, and idle segments of a second.
COMMAND = """
import sys
from pathlib import Path
from harness.cli import console
from harness.host.reader import Host
from harness.meters.energy import idle
from harness.trial import execution, preparation, reserving
root = Path(sys.argv[1])
host = lambda: Host(root)
preparation.Host = reserving.Host = host
idle.IDLE_S = 1.0
sys.argv = ["fairtrial", *sys.argv[2:]]
console()
"""


@pytest.fixture
def machine(tmp_path):
    """Plant the host and move its counter, which is about to begin again at 0."""
    start = RANGE - 20_000_000
    root = hosts.plant(tmp_path / "host", hosts.base(2) | hosts.powercap({"package-0": start}))
    file = root / "sys/class/powercap/intel-rapl:0/energy_uj"
    file.write_text(f"{start:015d}\n")
    busy = tmp_path / "busy"
    words = [sys.executable, "-c", MOVER, str(file), str(busy), str(start), str(RANGE)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as mover:
        mover.stdout.readline()
        yield SimpleNamespace(root=root, busy=busy)
        mover.kill()


def test_a_campaign_with_energy_from_its_first_idle_second_to_the_verdict(lab, machine):
    def works(seconds):
        return lab.sh(f": > {machine.busy}; sleep {seconds}; rm {machine.busy}")

    path = lab.write_campaign(
        variants={"short": {"command": works(0.15)}, "long": {"command": works(0.3)}},
        baseline="long",
        benchmarks={"one": {}},
        protocol={"sessions": 2, "runs": 3, "warmup": 0},
        energy="on",
    )
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, machine.root, "run", path],
        cwd=lab.folder, env=lab.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "10 s pass without a run" in done.stderr
    manifest = lab.manifest()
    assert manifest["metrics"]["energy_package_j"]["source"] == "powercap"
    around = manifest["idle_power"]
    assert [(one["session"], one["when"]) for one in around] == [
        (1, "before"), (1, "after"), (2, "before"), (2, "after"),
    ]  # fmt: skip
    assert all(abs(one["watts"] - IDLE_W) < 0.6 for one in around), around
    for row in lab.read_rows():
        seconds = {"short": 0.15, "long": 0.3}[row["variant"]]
        wall = row["wall_ns"] / 1e9
        (gross,) = row["metrics"]["energy_package_j"]
        (net,) = row["metrics"]["energy_net_j"]
        # busy for the sleep at least, and for the wall time at most, but for some milliseconds
        assert seconds * BUSY_W - 0.4 < gross < (wall + 0.02) * BUSY_W, row
        assert net == pytest.approx(gross - around[(row["session"] - 1) * 2]["watts"] * wall)
    for metric in ("energy_package_j", "energy_net_j"):
        verdict = lab.run_fairtrial("verdict", lab.trial(), "--metric", metric, "--json")
        assert verdict.returncode == 0, verdict.stderr
        told = json.loads(verdict.stdout)
        assert (told["metric"], told["unit"], told["better"]) == (metric, "J", "lower")
        (side,) = told["candidates"]
        assert 1.6 < side["multilevel"]["benchmarks"][0]["speedup"] < 2.4  # half the energy
    assert "idle-uncertainty" in verdict.stdout
    screen = lab.run_fairtrial(
        "hpt", f"{lab.trial()}:short", f"{lab.trial()}:long", "--metric", metric
    )
    assert screen.returncode == 0, screen.stderr


def test_without_counters_it_is_said_and_the_campaign_goes_on(lab):
    if Path("/sys/class/powercap").exists() or Path("/sys/bus/event_source/devices/power").exists():
        pytest.skip("this machine has counters of energy")
    path = lab.write_campaign(energy="on")
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    assert "fail energy: no /sys/class/powercap: energy will not be recorded" in done.stderr
    assert lab.manifest()["metrics"] == {}
    refused = lab.run_fairtrial("verdict", lab.trial(), "--metric", "energy_package_j")
    assert refused.returncode == 2
    assert "the trial has no metric 'energy_package_j'" in refused.stderr


def test_who_requires_energy_is_stopped_where_it_cannot_be_had(lab):
    if Path("/sys/class/powercap").exists() or Path("/sys/bus/event_source/devices/power").exists():
        pytest.skip("this machine has counters of energy")
    path = lab.write_campaign(energy="on", checks={"require": ["energy"]})
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 3
    assert "required check 'energy'" in done.stderr
    assert not (lab.folder / "runs").exists() or lab.trials() == []
    doctor = lab.run_fairtrial("doctor", path)
    assert doctor.returncode == 3
    plain = " ".join(lab.run_fairtrial("doctor", "-v").stdout.split())
    assert "energy no /sys/class/powercap: energy will not be recorded" in plain


def test_the_time_of_the_idle_segments_is_part_of_the_estimate(lab):
    assert lab.run_fairtrial("run", lab.write_campaign(), "--quiet").returncode == 0
    seconds = [
        json.loads(
            lab.run_fairtrial(
                "run", lab.write_campaign(energy=energy), "--dry-run", "--json"
            ).stdout
        )["seconds"]
        for energy in ("off", "on")
    ]
    assert seconds[1] - seconds[0] == pytest.approx(20.0)
