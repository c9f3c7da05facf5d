"""The metric that is the question, by the installed command: exit codes, first lines, JSON.

Authority: `wrk` for one second against nginx, whose throughput fell to 0.35x: "as fast as", "equivalent", and a
gate with exit 0. The program here prints its throughput, and takes as long whatever that is.
"""

from __future__ import annotations

import json
import unicodedata
import zipfile

import pytest

from tests.virtual import Times

GATE = "slower>2%"


@pytest.fixture(autouse=True)
def _load(lab):
    """Have runs print what they reached in the same time: the second a tenth of the first."""
    said = "rps {{seconds}}e{power}\nms {{seconds}}\n"
    runs = {
        word: {"stdout": said.format(power=power)}
        for word, power in (("true 10", 3), ("true 3", 2))
    }
    lab.virtual = Times(runs=runs, spread=0.001, sessions=0.0002)


def fixed(lab, names=("load", "more"), **sections):
    """Write the campaign of a load generator of fixed duration; its throughput falls to 0.1."""
    regex = {"rps": ("rps", "1/s", "higher"), "p50": ("ms", "s", "lower")}
    benchmark = {
        "command": ["true", "{n}"],
        "metrics": {
            name: {"regex": rf"{word} (\S+)", "unit": unit, "better": better}
            for name, (word, unit, better) in regex.items()
        },
    }
    return lab.write_campaign(
        **{
            "name": "fixed",
            "variants": {"fast": {"n": "10"}, "slow": {"n": "3"}},
            "baseline": "fast",
            "benchmarks": dict.fromkeys(names, benchmark),
            "protocol": {"sessions": 3, "runs": 3, "warmup": 0},
            **sections,
        }
    )


def measured(lab, **sections):
    path = fixed(lab, **sections)
    done = lab.run_fairtrial("run", path, "-q")
    assert done.returncode == 0, done.stderr
    return path, lab.trial()


def test_without_a_question_the_gate_refuses_and_the_others_say_so(lab):
    _, trial = measured(lab)
    for gate in (
        ("gate", GATE, trial, "--json"),
        ("gate", GATE, f"{trial}:slow", f"{trial}:fast"),
        ("verdict", trial, "--gate", GATE),
    ):
        done = lab.run_fairtrial(*gate)
        assert done.returncode == 2, gate
        assert "declares rps, p50" in done.stderr
        assert "judge: rps" in done.stderr
        assert not done.stdout
    assert lab.run_fairtrial("gate", GATE, trial, "--metric", "rps").returncode == 1
    assert lab.run_fairtrial("gate", GATE, trial, "--metric", "wall").returncode == 0
    verdict = lab.run_fairtrial("verdict", trial)
    assert "note  judged is wall, although rps is declared: --metric rps\n" in verdict.stdout
    told = json.loads(lab.run_fairtrial("verdict", trial, "--json").stdout)
    assert told["metric"] == "wall"
    assert told["caution_codes"][0] == "metric-not-asked"
    for words in (("report", trial, "--format", "md"), ("diff", trial, trial), ("hpt", trial)):
        assert "declares rps, p50; judged is wall: --metric rps" in " ".join(
            lab.run_fairtrial(*words).stdout.split()
        ), words
    named = lab.run_fairtrial("verdict", trial, "--metric", "wall", "--json")
    assert "metric-not-asked" not in json.loads(named.stdout)["caution_codes"]


def test_every_command_follows_the_question_that_is_added_to_a_complete_trial(lab):
    _, trial = measured(lab)
    before = {path.name: path.read_bytes() for path in trial.iterdir() if path.is_file()}
    path = fixed(lab, judge=["rps", "p50"])
    done = lab.run_fairtrial("run", path, "--resume", "--trial", trial)
    assert done.returncode == 0, done.stderr
    assert "judges rps, p50 from now on" in done.stderr + done.stdout
    manifest = json.loads((trial / "manifest.json").read_text())
    assert [one["metrics"] for one in manifest.pop("judge")] == [["rps", "p50"]]
    assert manifest == json.loads(before.pop("manifest.json"))
    assert before == {name: (trial / name).read_bytes() for name in before}
    again = lab.run_fairtrial("run", path, "--resume", "--trial", trial)
    assert "from now on" not in again.stderr + again.stdout

    assert lab.run_fairtrial("gate", GATE, trial).returncode == 1  # by the first alone
    assert json.loads(lab.run_fairtrial("gate", GATE, trial, "--json").stdout)["metric"] == "rps"
    screens = lab.run_fairtrial("verdict", trial).stdout
    heads = [line for line in screens.splitlines() if line.startswith("fixed ")]
    assert ["rps" in heads[0], "p50" in heads[1], len(heads)] == [True, True, 2]
    gated = lab.run_fairtrial("verdict", trial, "--gate", GATE)
    assert gated.returncode == 1
    assert gated.stdout.count("STOP  ") == 1
    one = f"{trial}:slow"
    for words in (
        ("verdict", trial),
        ("gate", GATE, one, f"{trial}:fast"),
        ("report", trial, "--format", "md"),
        ("plot", "forest", trial, "-o", "f.svg"),
        ("sources", trial, "--resamples", 99),
        ("diagnose", one, "--estimators"),
        ("plan", trial),
        ("diff", trial, trial),
        ("hpt", trial),
        ("speedup-test", trial),
        ("resample", trial, "--resamples", 99),
        ("mixture", one, "--benchmark", "load", "--resamples", 5),
        ("biplot", trial),
        ("study", "type1", one, "--simulations", 3, "--resamples", 19),
        ("calibrate", trial, "--pair", "fast,slow", "--methods", "welch", "--no-certificate"),
    ):
        done = lab.run_fairtrial(*words)
        assert done.returncode in (0, 1), (words, done.stderr)
        assert "rps" in done.stdout.splitlines()[0], words
        assert "declares" not in done.stdout, words
    document = json.loads(lab.run_fairtrial("report", trial, "--format", "json").stdout)
    assert document["metrics"] == ["rps", "p50"]
    assert lab.run_fairtrial("export", trial, "-o", "runs.csv").returncode == 0
    back = lab.run_fairtrial("verdict", "runs.csv", "--json")
    assert json.loads(back.stdout)["metric"] == "rps"


def test_a_trial_that_is_gone_on_with_keeps_when_which_question_held(lab):
    path, trial = measured(lab, judge="wall", protocol={"sessions": 1, "runs": 2, "warmup": 0})
    began = json.loads((trial / "manifest.json").read_text())
    assert began["judge"] == [{"at": began["started"], "metrics": ["wall"]}]
    path = fixed(lab, judge="rps", protocol={"sessions": 1, "runs": 2, "warmup": 0})
    done = lab.run_fairtrial("run", path, "--resume", "--sessions", "+1", "-q")
    assert done.returncode == 0, done.stderr
    now = json.loads((trial / "manifest.json").read_text())
    assert [one["metrics"] for one in now["judge"]] == [["wall"], ["rps"]]
    assert now["campaign_sha256"] == began["campaign_sha256"]
    assert json.loads(lab.run_fairtrial("verdict", trial, "--json").stdout)["metric"] == "rps"


def test_the_stopping_rule_asks_the_question(lab):
    stop = {"width": 0.5, "min_runs": 3, "max_runs": 8}
    protocol = {"sessions": 1, "warmup": 0, "stop": stop}
    _, trial = measured(lab, judge="rps", protocol=protocol)
    (end,) = json.loads((trial / "manifest.json").read_text())["session_ends"]
    assert (end["why"], end["runs"]) == ("width", 3)
    assert end["text"].startswith("rps: width ")


def test_a_bundle_holds_one_document_for_each_question_and_names_of_any_script(lab):
    _, trial = measured(
        lab,
        name="größe-日本",
        names=["текст"],
        variants={"é": {"n": "10"}, "हिन्दी": {"n": "3"}},
        baseline=unicodedata.normalize("NFD", "é"),
        judge=["rps", "p50"],
        protocol={"sessions": 2, "runs": 2, "warmup": 0},
    )
    done = lab.run_fairtrial("bundle", trial, "-o", "b.zip")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(lab.folder / "b.zip") as file:
        assert f"trials/{trial.name}/manifest.json" in file.namelist()
    done = lab.run_fairtrial("reproduce", "b.zip", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    names = [one["name"] for one in json.loads(done.stdout)["analyses"]]
    assert {"verdict", "verdict-p50", "explained"} <= {*names}
    shown = lab.run_fairtrial("reproduce", "--rerun", "b.zip")
    assert "run of текст" in shown.stdout
