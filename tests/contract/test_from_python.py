"""What the command prints can be had from Python, number by number, by the calls of docs/python.md.

Authority: first use of the first version, B: the command said "by chance 0.9191 to 1.092" where Python
with the same seed said "0.9159 to 1.087", and no page led from a trial to a verdict.
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

import analysis
from analysis.data.trial import read_trial
from analysis.methods.mixture.fit import fit_mixture
from analysis.stats.arguments import stream
from harness.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
SIDES = "tests/data/sample-0.2.0:gzip-1 tests/data/sample-0.2.0:gzip-6"


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    monkeypatch.chdir(ROOT)


def printed(command):
    out, err = io.StringIO(), io.StringIO()
    assert main([*command.split(), "--json", "--seed", "7"], out, err) == 0, err.getvalue()
    return json.loads(out.getvalue())


def call(start, extra):
    """Give what a call of the page returns, with seed 7 and `extra` arguments."""
    text = next(
        c for c in re.findall(r"`(\w+\(.*?\))`", PAGE) if c.startswith(f"{start}(") and "rng=" in c
    )
    text = text.replace("stream(0,", "stream(7,").replace(
        "rng=", f"{extra}, rng=" if extra else "rng="
    )
    trial = read_trial("tests/data/sample-0.2.0")
    a, b = trial.matrix("gzip-1"), trial.matrix("gzip-6")
    names = {"a": a, "b": b, "values": a.values("text"), "stream": stream}
    names |= {name: getattr(analysis, name) for name in analysis.__all__}
    return eval(
        text.replace('"x"', '"text"').replace("runs/NAME", "tests/data/sample-0.2.0"), names
    ).to_dict()


@pytest.mark.parametrize(
    ("command", "place", "start", "extra", "keys"),
    [
        (
            f"resample {SIDES} --resamples 300 --unit run",
            (),
            "randomization_test",
            "resamples=300, unit='run'",
            ("pvalue", "null"),
        ),
        (
            f"resample {SIDES} --resamples 300",
            ("interval",),
            "bootstrap_speedup",
            "resamples=300",
            ("low", "high", "replicates"),
        ),
        (
            f"resample {SIDES} --resamples 300",
            ("distributions",),
            "compare_distributions",
            "resamples=300",
            ("wins", "systems"),
        ),
        (
            f"plan {SIDES} --within-session --effect 1.05 --simulations 100",
            (),
            "plan_runs",
            "effect=1.05, simulations=100",
            ("table", "runs_for_effect"),
        ),
        (
            "mixture tests/data/sample-0.2.0:gzip-1 --benchmark text --resamples 60",
            ("benchmarks", 0, "variants", 0, "fit_test"),
            "ks_fit",
            "resamples=60",
            ("statistic", "pvalue", "critical"),
        ),
        (
            "diagnose tests/data/sample-0.2.0:gzip-1 --normality",
            (),
            "normality",
            "",
            ("mean_trials", "enough"),
        ),
        (
            "diagnose tests/data/sample-0.2.0:gzip-1 --estimators",
            (),
            "estimator_spread",
            "",
            ("benchmarks", "seed"),
        ),
        (
            "diagnose tests/data/sample-0.2.0:gzip-1 --clt",
            (),
            "central_limit_study",
            "",
            ("benchmarks", "counts"),
        ),
        (
            "sources tests/data/sample-0.2.0 --resamples 120",
            (),
            "sources",
            "permutations=120",
            ("components", "factors", "modes"),
        ),
        (
            "study type1 tests/data/sample-0.2.0:gzip-1 --simulations 5 --resamples 99",
            (),
            "type1_study",
            "simulations=5, resamples=99",
            ("cells",),
        ),
        (
            f"study draw {SIDES} --simulations 5 --resamples 99",
            (),
            "draw_study",
            "simulations=5, resamples=99",
            ("tests", "intervals", "each"),
        ),
    ],
)
def test_the_documented_call_gives_the_printed_numbers(command, place, start, extra, keys):
    told = printed(command)
    for key in place:
        told = told[key]
    if start == "type1_study":  # the page shows power, and says that the others are called likewise
        matrix = read_trial("tests/data/sample-0.2.0").matrix("gzip-1")
        rng = stream(7, "study", "type1")
        ours = analysis.type1_study(matrix, simulations=5, resamples=99, rng=rng).to_dict()
    else:
        ours = call(start, extra)
    for key in keys:
        assert ours[key] == told[key], key


def test_another_seed_gives_other_numbers():
    draws = [stream(seed, "plan").random(4).tolist() for seed in (0, 1)]
    assert draws[0] != draws[1]
    nested = [stream(stream(0, "resample"), part).random() for part in ("test", "interval", "test")]
    assert nested[0] == nested[2] != nested[1]


@pytest.mark.filterwarnings("error")
def test_the_page_about_python_goes_from_a_trial_to_a_verdict(capsys):
    (block,) = re.findall(r"(?ms)^```python\n(.*?)^```$", PAGE)
    assert len([line for line in block.splitlines() if line]) <= 6
    exec(block, {})
    printed = capsys.readouterr().out
    assert re.search(r"these 5 .* faster", printed)
    assert "95 % interval" in printed


def test_the_package_shows_its_public_names():
    # first use: dir(analysis) was ['Any', 'annotations', 'importlib']
    assert dir(analysis) == sorted(analysis.__all__)
    assert {"judge", "read_trial", "hpt", "stream"} <= set(dir(analysis))


def test_a_fit_needs_no_random_numbers():
    values = read_trial("tests/data/sample-0.2.0").matrix("gzip-1").values("text")
    assert fit_mixture(values).to_dict() == fit_mixture(values).to_dict()
