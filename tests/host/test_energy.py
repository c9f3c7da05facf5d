"""Energy of this machine: its counter moves while a program works, and its idle seconds are told."""

from __future__ import annotations

from pathlib import Path

import pytest

COUNTER = Path("/sys/class/powercap/intel-rapl:0/energy_uj")


@pytest.mark.host
@pytest.mark.host_chance(0.001)
def test_a_program_that_works_takes_energy_and_so_does_an_idle_second(lab):
    if not COUNTER.exists():
        pytest.skip("this machine has no counter of energy")
    path = lab.write_campaign(
        variants={"a": {}},
        benchmarks={"one": {"command": lab.sh("timeout 0.3 sh -c 'while :; do :; done'; :")}},
        protocol={"sessions": 1, "runs": 3, "warmup": 0},
        energy="on",
    )
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    if not lab.manifest()["metrics"]:
        (why,) = (one["what"] for one in lab.findings() if one["check"] == "energy")
        pytest.skip(why)
    assert all(one["watts"] > 0 for one in lab.manifest()["idle_power"])
    assert all(row["metrics"]["energy_package_j"][0] > 0 for row in lab.read_rows())
