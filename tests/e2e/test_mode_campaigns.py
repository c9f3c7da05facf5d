"""Two programs with two speeds each: measured by their campaigns in configs/modes, and explained.

Authority: the programs themselves, which were written to be slow at one stack position in four, and with
two of eight seeds. What others take of the host's time is in `wall` and not in the time that the
programs account for themselves: on a busy host the modes drown in the one, and stand out in the other.
"""

from __future__ import annotations

import ctypes
import json
import platform
import shutil
from pathlib import Path

import numpy as np
import pytest

from analysis.data import read_trial

CONFIGS = Path(__file__).resolve().parents[2] / "configs" / "modes"
_QUERY, _NO_RANDOMIZATION = 0xFFFFFFFF, 0x0040000


def aslr_can_be_switched_off() -> bool:
    """Ask for what the launcher asks for, and take it back."""
    personality = ctypes.CDLL(None).personality
    before = personality(ctypes.c_ulong(_QUERY))
    if before < 0 or personality(ctypes.c_ulong(before | _NO_RANDOMIZATION)) < 0:
        return False
    personality(ctypes.c_ulong(before))
    return True


def measured(lab, name):
    """Execute a campaign as it is, but on no CPU in particular: another trial may hold the best one."""
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler 'cc' on PATH")
    shutil.copytree(CONFIGS, lab.folder, dirs_exist_ok=True)
    path = lab.folder / name
    text = path.read_text(encoding="utf-8")
    assert text.count("  cpus: auto") == 1
    path.write_text(text.replace("  cpus: auto", "  cpus: none"), encoding="utf-8")
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    assert [row["outcome"] for row in lab.read_rows()] == ["ok"] * 93
    return lab.trial()


def explained(lab, trial, metric):
    done = lab.run_fairtrial("sources", trial, "--metric", metric, "--json")
    assert done.returncode == 0, done.stderr
    (mode,) = json.loads(done.stdout)["modes"]
    said = lab.run_fairtrial("sources", trial, "--metric", metric)
    assert mode["sentence"] in " ".join(said.stdout.split())
    return mode


def of_wall(lab, trial):
    done = lab.run_fairtrial("sources", trial, "--json")
    assert done.returncode == 0, done.stderr
    return [mode for mode in json.loads(done.stdout)["modes"] if mode["sentence"]]


def area(mode):
    """Give the area under the curve of a rule with one step: the runs that it tells rightly."""
    return (1 + mode["inside"] - mode["outside"]) / 2


def slow_arc(trial):
    """Find the 16 bytes of 64 that are slow, wherever arguments and environment put them."""
    read = read_trial(trial)
    used = read.measured
    cpu, place = read.values("cpu")[used], read.numbers["padding_bytes"][used] % 64
    inside = [np.mod(place - first, 64) < 16 for first in range(64)]
    medians = [(np.median(cpu[one]), np.median(cpu[~one])) for one in inside]
    return max(medians, key=lambda one: one[0] / one[1])


def test_padding_decides_how_fast_a_program_is(lab):
    if not aslr_can_be_switched_off():
        pytest.skip("address space layout randomization cannot be switched off here")
    trial = measured(lab, "padding.yaml")
    slow, fast = slow_arc(trial)
    if platform.machine() != "x86_64" and slow <= 1.4 * fast:
        pytest.skip("loads that cross two cache lines are as fast as others here")
    assert slow > 1.4 * fast  # there is something to be explained
    mode = explained(lab, trial, "cpu")
    assert mode["factor"] == "padding_bytes mod 64"
    assert (mode["kind"], mode["causal"], mode["may_follow"]) == ("randomized", True, False)
    assert mode["pvalue"] <= 0.05
    assert mode["accuracy"] >= 0.9 > mode["chance"]
    assert area(mode) >= 0.98
    assert "environment padding of" in mode["sentence"]
    assert "modulo 64" in mode["sentence"]
    assert mode["sentence"].endswith("so it is a cause")
    assert 0.1 < mode["classes"][-1]["share"] < 0.45  # one place in four
    drawn = lab.run_fairtrial(
        "plot", "causes", trial, "--metric", "cpu", "-o", lab.folder / "causes.svg"
    )
    assert mode["sentence"] in drawn.stdout, drawn.stderr
    assert "padding_bytes mod 64" in (lab.folder / "causes.csv").read_text(encoding="utf-8")
    # whatever the host did to the wall time: nothing else is ever called the cause of its modes
    for one in of_wall(lab, trial):
        assert not one["causal"] or one["factor"].startswith("padding_bytes")


def test_two_of_eight_seeds_make_a_program_slow(lab):
    trial = measured(lab, "seeds.yaml")
    mode = explained(lab, trial, "cpu")
    assert mode["factor"] == "seed (levels)"
    assert (mode["kind"], mode["causal"]) == ("observed", False)
    assert mode["pvalue"] <= 0.05
    assert mode["accuracy"] >= 0.9
    assert area(mode) >= 0.98
    assert ": seed 3 or 6 in " in mode["sentence"]
    assert "it is a cause" not in mode["sentence"]
