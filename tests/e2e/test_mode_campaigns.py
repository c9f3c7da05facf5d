"""Programs with two speeds each: measured as the campaigns in configs/modes say, and explained.

Authority: the programs themselves. How slow a processor is at what the programs of configs/modes do is
its own matter, so what has to be explained is planted here: programs with the same output that say to be
slow with one padding in four, and with two of eight seeds.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

CONFIGS = Path(__file__).resolve().parents[2] / "configs" / "modes"
PLANTED = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    unsigned length = strlen(getenv("FAIRTRIAL_PADDING")), seed = (length * 2654435761u >> 13) % 8;
    printf("%s\\n", "TOLD");
    printf("seed %u\\n", seed);
    printf("cpu %.3f ms\\n", (SLOW ? 12 : 4) + length * 37 % 100 / 1e3);
    return 0;
}
"""
BY_PLACE = PLANTED.replace("TOLD", "sum 0").replace("SLOW", "length % 64 >= 48")
BY_SEED = PLANTED.replace("TOLD", "keys 819200").replace("SLOW", "seed == 3 || seed == 6")


def measured(lab, name, program=None, runs=30):
    """Execute a campaign, with another program in place of its own."""
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler 'cc' on PATH")
    shutil.copytree(CONFIGS, lab.folder, dirs_exist_ok=True)
    path = lab.folder / name
    text = path.read_text(encoding="utf-8")
    assert text.count("  runs: 30 ") + text.count("  runs: 30\n") == 1
    path.write_text(text.replace("  runs: 30", f"  runs: {runs}"), encoding="utf-8")
    if program is not None:
        source, code = program
        assert (lab.folder / source).exists()
        (lab.folder / source).write_text(code, encoding="utf-8")
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    assert [row["outcome"] for row in lab.read_rows()] == ["ok"] * 3 * (1 + runs)
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


def test_padding_decides_how_fast_a_program_is(lab):
    trial = measured(lab, "padding.yaml", ("straddle.c", BY_PLACE))
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
    # whatever the host did to the wall time: nothing else is ever called the cause of its modes
    for one in of_wall(lab, trial):
        assert not one["causal"] or one["factor"].startswith("padding_bytes")


def test_two_of_eight_seeds_make_a_program_slow(lab):
    trial = measured(lab, "seeds.yaml", ("seeds.c", BY_SEED))
    mode = explained(lab, trial, "cpu")
    assert mode["factor"] == "seed (levels)"
    assert (mode["kind"], mode["causal"]) == ("observed", False)
    assert mode["pvalue"] <= 0.05
    assert mode["accuracy"] >= 0.9
    assert area(mode) >= 0.98
    assert ": seed 3 or 6 in " in mode["sentence"]
    assert "it is a cause" not in mode["sentence"]


@pytest.mark.parametrize("name", ["padding.yaml", "seeds.yaml"])
def test_the_programs_as_they_are(lab, name):
    trial = measured(lab, name, runs=8)
    done = lab.run_fairtrial("sources", trial, "--metric", "cpu", "--json")
    assert done.returncode == 0, done.stderr
    # whether there are two speeds to be explained is the processor's matter
    assert {mode["benchmark"] for mode in json.loads(done.stdout)["modes"]} <= {"straddle", "table"}
