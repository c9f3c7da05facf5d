"""What services, and what hooks left running, used during runs: in rows, in the manifest, in the verdict's cautions.

A service that spins on the client's CPU must be found, and one that sleeps there must not be: docs/trial-format.md.
"""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

import pytest

from analysis.data.trial import read_trial
from analysis.record.run_numbers import is_disturbed, waited_ns
from analysis.verdict.cautions import service_cautions

pytestmark = [pytest.mark.host, pytest.mark.host_chance(0.01)]

# Works for so long as its own processor time says, whoever takes the CPU meanwhile.
WORK = "import time\nwhile time.process_time() < 0.3: pass\n"
SPINS = "print('up', flush=True)\nwhile True: pass\n"
SLEEPS = "import time\nprint('up', flush=True)\ntime.sleep(1000)\n"
PARTS = ("run_delay_ns", "launcher_delay_ns", "launcher_on_cpu_ns")


def test_a_service_that_spins_on_the_clients_cpu_is_found_and_one_that_sleeps_is_not(lab):
    for name, text in {"work.py": WORK, "spins.py": SPINS, "sleeps.py": SLEEPS}.items():
        lab.script(name, text)
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < 2:
        pytest.skip("one CPU only")
    cpu = usable[-1]
    service = {
        "command": [sys.executable, "{how}.py", lab.marker],
        "ready": {"output": "^up"},
        "cpus": cpu,
        "share_cpus": True,
        "each": "run",
    }
    path = lab.write_campaign(
        baseline="sleeps",
        variants={"sleeps": {"how": "sleeps"}, "spins": {"how": "spins"}},
        benchmarks={"one": {"command": [sys.executable, "work.py"]}},
        services={"s": service},
        hooks={"before": {"shell": "sleep 0.2"}},  # until it sleeps, who says that it is up
        isolation={"cpus": cpu},
        protocol={"sessions": 1, "runs": 2, "warmup": 0},
        judge="service.s.cpu",
    )
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    for row in lab.read_rows():
        assert row["outcome"] == "ok"
        wall_s = row["wall_ns"] / 1e9
        if "service.s.wait" not in row["metrics"]:
            pytest.skip("the kernel keeps no account of a process's waiting")
        (cpu_s,), (wait_s,) = (row["metrics"][f"service.s.{name}"] for name in ("cpu", "wait"))
        assert row["load_1min"] >= 0
        assert row["service_cpus_busy_s"] > 0.1 * wall_s  # the client works there
        if row["variant"] == "spins":
            assert cpu_s > 0.1 * wall_s
            assert wait_s > 0.1 * wall_s
            assert row["disturbed"] is True
            pressure_s = row["pressure_cpu_s"]  # two of them want one CPU
            assert pressure_s is None or pressure_s > 0.1 * wall_s
            continue
        assert cpu_s < 0.01
        assert wait_s <= 0.0005
        own = waited_ns(*(row[name] for name in PARTS))
        assert row["disturbed"] == is_disturbed(row["wall_ns"], own)  # nothing was added
    trial = read_trial(lab.trial())
    assert trial.default_metric == "service.s.cpu"
    assert trial.metric("service.s.cpu") == ("s", "lower")
    assert not trial.manifest.declared
    assert not trial.kind("service.s.cpu").waits
    assert lab.left() == []


def test_what_a_hook_left_running_is_named_where_it_works_during_runs(lab):
    lab.script("busy.py", SPINS)
    lab.script("idle.py", SLEEPS)
    lab.script("work.py", WORK)
    for name, there in (("busy", True), ("idle", False)):
        hook = f"exec {sys.executable} {name}.py {lab.marker} >{name}.txt 2>&1 &"
        path = lab.write_campaign(
            name=name,
            benchmarks={"one": {"command": [sys.executable, "work.py"]}},
            hooks={"setup": {"shell": hook}},
            protocol={"sessions": 1, "runs": 1, "warmup": 0},
        )
        done = lab.run_fairtrial("run", path)
        assert done.returncode == 0, done.stderr
        (trial,) = (one for one in lab.trials() if one.name.startswith(name))
        codes = [one.code for one in service_cautions(SimpleNamespace(path=trial))]
        assert codes == (["hook-left-running"] if there else [])
    assert lab.left() == []
