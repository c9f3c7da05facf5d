"""Energy from the campaign to the verdict: the command on a host with a counter that moves.

The launcher, its programs and the clock are this machine's; /proc and /sys are a planted tree with one package that
uses 12 W, and 40 W while a program runs. Authority: watts times seconds.
"""

from __future__ import annotations

import io
import json
import runpy
import subprocess
import sys
from pathlib import Path
from statistics import geometric_mean
from types import SimpleNamespace

import pytest

from harness.cli import main
from harness.commands import dry_run
from harness.host.activity import Host
from harness.trial import plan, preparation

ROOT = Path(__file__).resolve().parents[2]
hosts = SimpleNamespace(**runpy.run_path(str(ROOT / "tests" / "hosts" / "trees.py")))
IDLE_W, BUSY_W = 12.0, 40.0
SECONDS = {"short": 0.15, "long": 0.3}
RANGE = 262143328850

# The command `fairtrial`, with that host in place of this one, and idle segments of a second. What the package has
# used is written before each read, as of the meter's own clock and the wall time of the runs: no load moves it.
COMMAND = """
import os, sys, time
from pathlib import Path
from harness.cli import console
from harness.host.activity import Host
from harness.launch.client import LauncherClient
import harness.trial.metering, harness.commands.dry_run
import harness.trial.preparation, harness.trial.plan
root, start, whole = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
begun, busy = time.monotonic(), [0]
class Clock:
    last = begun
    def monotonic(self):
        self.last = time.monotonic()
        return self.last
harness.trial.metering.time = clock = Clock()
execute, read = LauncherClient.execute, Host.energy_uj
def executed(*words, **given):
    done = execute(*words, **given)
    busy[0] += done.wall_ns
    return done
def moved(host, path):
    used = round(12e6 * (clock.last - begun)) + 28 * busy[0] // 1000
    (root / path.lstrip("/")).write_text(str((start + used) % whole))
    return read(host, path)
LauncherClient.execute, Host.energy_uj = executed, moved
host = lambda: Host(root)
harness.trial.preparation.Host = host
harness.trial.plan.Host = host
harness.commands.dry_run.Host = host
harness.trial.metering.IDLE_S = 1.0
sys.argv = ["fairtrial", *sys.argv[4:]]
console()
"""
START = RANGE - 20_000_000  # microjoules: it begins again at 0 in the middle of the trial


def there(lab, root, *words):
    command = [sys.executable, "-c", COMMAND, root, str(START), str(RANGE), *words]
    done = subprocess.run(
        command, cwd=lab.folder, env=lab.environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def test_a_campaign_with_energy_from_its_first_idle_second_to_the_verdict(lab, tmp_path):
    root = hosts.plant(tmp_path / "host", hosts.base(2) | hosts.powercap({"package-0": START}))
    path = lab.write_campaign(
        variants={name: {"command": lab.sh(f"sleep {s}")} for name, s in SECONDS.items()},
        baseline="long",
        benchmarks={"one": {}},
        protocol={"sessions": 2, "runs": 3, "warmup": 0},
        energy="on",
    )
    done = there(lab, root, "run", path)
    assert "1 s pass without a run" in done.stderr
    manifest = lab.manifest()
    assert manifest["metrics"]["energy_package_j"]["source"] == "powercap"
    around = manifest["idle_power"]
    assert [(one["session"], one["when"]) for one in around] == [
        (1, "before"), (1, "after"), (2, "before"), (2, "after"),
    ]  # fmt: skip
    assert [one["watts"] for one in around] == pytest.approx([IDLE_W] * 4, rel=1e-4)
    for row in lab.read_rows():
        wall = row["wall_ns"] / 1e9
        (gross,) = row["metrics"]["energy_package_j"]
        (net,) = row["metrics"]["energy_net_j"]
        assert wall > SECONDS[row["variant"]]
        assert gross > (BUSY_W - 0.01) * wall, row
        assert net == pytest.approx(gross - around[(row["session"] - 1) * 2]["watts"] * wall)
    rows = lab.read_rows()
    for metric in ("energy_package_j", "energy_net_j"):
        verdict = lab.run_fairtrial("verdict", lab.trial(), "--metric", metric, "--json")
        assert verdict.returncode == 0, verdict.stderr
        told = json.loads(verdict.stdout)
        assert (told["metric"], told["unit"], told["better"]) == (metric, "J", "lower")
        (side,) = told["candidates"]
        joules = {
            name: geometric_mean(r["metrics"][metric][0] for r in rows if r["variant"] == name)
            for name in SECONDS
        }
        (one,) = side["multilevel"]["benchmarks"]
        assert one["speedup"] == pytest.approx(joules["long"] / joules["short"])
    assert "idle-uncertainty" in verdict.stdout
    screen = lab.run_fairtrial(
        "hpt", f"{lab.trial()}:short", f"{lab.trial()}:long", "--metric", metric
    )
    assert screen.returncode == 0, screen.stderr


def test_the_idle_segments_are_part_of_the_estimate_where_there_is_energy(
    lab, tmp_path, monkeypatch
):
    protocol = {"sessions": 1, "runs": 2, "warmup": 1, "timeout": "5s"}
    path = lab.write_campaign(protocol=protocol)
    assert lab.run_fairtrial("run", path, "--quiet").returncode == 0
    root = hosts.plant(tmp_path / "host", hosts.base(2) | hosts.powercap({"package-0": START}))
    for module in (preparation, plan, dry_run):
        monkeypatch.setattr(module, "Host", lambda: Host(root))
    monkeypatch.chdir(lab.folder)

    def estimate():
        out, err = io.StringIO(), io.StringIO()
        assert main(["run", str(path), "--dry-run", "--json"], out, err) == 0, err.getvalue()
        return json.loads(out.getvalue())

    off = estimate()
    path = lab.write_campaign(energy="on", protocol=protocol)
    on = estimate()
    for key in ("seconds", "at_most_seconds"):
        assert on[key] - off[key] == pytest.approx(20.0, abs=1e-6)
