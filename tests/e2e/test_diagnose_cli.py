from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "tests" / "data" / "sample-0.2.0"


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


def test_a_trial_knows_which_values_are_better_and_another_metric_can_be_asked_for(lab):
    done = lab.run_fairtrial("diagnose", f"{SAMPLE}:gzip-1", "--metric", "user", "--json")
    one = json.loads(done.stdout)
    assert (one["variants"], one["metric"], len(one["cells"])) == (["gzip-1"], "user", 6)
    wrong = lab.run_fairtrial("diagnose", str(SAMPLE), "--better", "lower")
    assert wrong.returncode == 2
    assert "leave out --better" in wrong.stderr


def test_too_few_runs_are_errors_of_studies_and_said_without(lab):
    (lab.folder / "x.csv").write_text("one,1.0,2.0,3.0\n")
    few = lab.run_fairtrial("diagnose", "x.csv", "--estimators")
    assert few.returncode == 6
    assert "measure 4 runs or more" in few.stderr
    assert lab.run_fairtrial("diagnose", "x.csv", "--clt").returncode == 6
    none = lab.run_fairtrial("diagnose", "x.csv")
    assert (none.returncode, none.stderr) == (0, "")
    assert "not tested, under 10 runs: one / x (3)" in none.stdout


@pytest.mark.filterwarnings("error")
def test_the_documented_commands_and_code_work(lab, capsys):
    page = (ROOT / "docs" / "methods" / "diagnosis.md").read_text(encoding="utf-8")
    (_, code) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    exec(code, {})
    assert capsys.readouterr().out.rstrip().endswith("0.4294238158111697")
    (lab.folder / "X.csv").write_text("one," + ",".join(str(10 + k % 7) for k in range(60)) + "\n")
    (commands,) = re.findall(r"^```\n(fairtrial.*?)^```$", page, re.MULTILINE | re.DOTALL)
    for line in commands.splitlines():
        words = line.replace("runs/NAME", str(SAMPLE)).split()[1:]
        assert lab.run_fairtrial(*words).returncode == 0
