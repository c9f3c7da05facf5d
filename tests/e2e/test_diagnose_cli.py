from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "tests" / "data" / "sample-0.2.0"


def test_the_steadiest_estimator_of_a_variant(lab):
    done = lab.run_fairtrial("diagnose", f"{SAMPLE}:gzip-1", "--estimators")
    assert (done.returncode, done.stderr) == (0, "")
    assert "steadiest estimator on gzip-1" in done.stdout.splitlines()[0]
    assert "10000" in done.stdout
    assert "(0.304)" in done.stdout


def test_central_limit_of_a_variant_says_that_it_drew_with_replacement(lab):
    done = lab.run_fairtrial("diagnose", f"{SAMPLE}:gzip-1", "--clt")
    assert (done.returncode, done.stderr) == (0, "")
    assert "drawn WITH REPLACEMENT" in done.stdout
    assert "disjoint samples: where" not in done.stdout


def test_disjoint_samples_of_a_file_and_the_risk(lab):
    runs = [str(1 + (k * 37 % 101) / 1000) for k in range(1, 101)]
    (lab.folder / "x.csv").write_text("one," + ",".join(runs) + "\n")
    done = lab.run_fairtrial("diagnose", "x.csv", "--clt", "--risk", "0.01", "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["risk"] == 0.01
    assert data["counts"][0] | {"samples_least": 20, "draws": "disjoint"} == data["counts"][0]
    wrong = lab.run_fairtrial("diagnose", "x.csv", "--clt", "--risk", "1")
    assert wrong.returncode == 2
    assert "risk must lie between 0 and 1" in wrong.stderr


def test_several_studies_at_once_are_one_object_each(lab):
    words = ("diagnose", f"{SAMPLE}:gzip-6", "--clt", "--normality", "--estimators")
    done = lab.run_fairtrial(*words, "--json", "--seed", "4")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert list(data) == ["normality", "estimators", "clt"]
    alone = lab.run_fairtrial(*words[:2], "--estimators", "--json", "--seed", "4")
    assert json.loads(alone.stdout) == data["estimators"]
    text = lab.run_fairtrial(*words).stdout
    assert [line for line in text.splitlines() if line.startswith("==")] == [
        "== normality ==",
        "== estimators ==",
        "== clt ==",
    ]


def test_seeds_repeat_and_differ(lab):
    words = ("diagnose", f"{SAMPLE}:gzip-6", "--clt", "--json")
    first, again, other = (
        lab.run_fairtrial(*words, "--seed", seed).stdout for seed in ("1", "1", "2")
    )
    assert first == again != other


def test_without_a_study_a_whole_trial_is_diagnosed(lab):
    done = lab.run_fairtrial("diagnose", str(SAMPLE))
    assert (done.returncode, done.stderr) == (0, "")
    assert "the whole host" in done.stdout
    assert "the host was busy" in done.stdout
    data = json.loads(lab.run_fairtrial("diagnose", str(SAMPLE), "--json").stdout)
    assert (data["method"], data["metric"], len(data["cells"])) == ("diagnose", "wall", 12)
    one = json.loads(
        lab.run_fairtrial("diagnose", f"{SAMPLE}:gzip-1", "--metric", "user", "--json").stdout
    )
    assert (one["variants"], one["metric"], len(one["cells"])) == (["gzip-1"], "user", 6)


def test_a_file_is_diagnosed_without_a_host(lab):
    runs = [str(1 + (k * 37 % 101) / 1000) for k in range(1, 41)]
    risen = [str(1 + k / 100) for k in range(40)]
    (lab.folder / "x.csv").write_text(f"one,{','.join(runs)}\ntwo,{','.join(risen)}\n")
    done = lab.run_fairtrial("diagnose", "x.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert "values rise by" in done.stdout
    wrong = lab.run_fairtrial("diagnose", str(SAMPLE), "--better", "lower")
    assert wrong.returncode == 2
    assert "leave out --better" in wrong.stderr
    assert lab.run_fairtrial("diagnose", "nothing-here").returncode == 2


def test_too_few_runs_are_errors_of_studies_and_said_without(lab):
    (lab.folder / "x.csv").write_text("one,1.0,2.0,3.0\n")
    few = lab.run_fairtrial("diagnose", "x.csv", "--estimators")
    assert few.returncode == 6
    assert "measure 4 runs or more" in few.stderr
    assert lab.run_fairtrial("diagnose", "x.csv", "--clt").returncode == 6
    none = lab.run_fairtrial("diagnose", "x.csv")
    assert (none.returncode, none.stderr) == (0, "")
    assert "not tested, under 10 runs: one / x (3)" in none.stdout


def test_the_documented_commands_and_code_work(lab):
    page = (ROOT / "docs" / "diagnose.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.rstrip().endswith("0.4294238158111697")
    (lab.folder / "X.csv").write_text("one," + ",".join(str(10 + k % 7) for k in range(60)) + "\n")
    (commands,) = re.findall(r"^```\n(fairtrial.*?)^```$", page, re.MULTILINE | re.DOTALL)
    for line in commands.splitlines():
        words = line.replace("runs/NAME", str(SAMPLE)).split()[1:]
        assert lab.run_fairtrial(*words).returncode == 0
