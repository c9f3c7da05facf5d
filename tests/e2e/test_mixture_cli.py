"""`fairtrial mixture` as people call it: files, trials, pictures, and faults."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from numba.core import event

from analysis.methods.mixture import metrics_page as plane, report
from analysis.stats import compiled  # noqa: F401 - it listens to the compiler
from harness.cli import main
from tests.unit.harness.commands.conftest import Terminal

ROOT = Path(__file__).parents[2]
FAIRTRIAL = Path(sys.executable).parent / "fairtrial"
AMMP = ROOT / "tests" / "golden" / "varcore_ammp" / "times.csv"
SAMPLE = ROOT / "tests" / "data" / "sample-0.2.0"


@pytest.fixture(scope="module")
def bench(make_lab, tmp_path_factory):
    """Give one lab for all commands that change nothing."""
    made = make_lab(tmp_path_factory.mktemp("mixture") / "lab")
    times = [row.split(",")[0] for row in AMMP.read_text().splitlines()[1:]]
    (made.folder / "ammp.dat").write_text("\n".join(times) + "\n")
    slower = [f"{float(t) + 0.5:.2f}" for t in times]
    (made.folder / "slower.dat").write_text("\n".join(slower) + "\n")
    (made.folder / "flat.dat").write_text("5\n" * 10)
    rows = "\n".join(f"b{k},{','.join(times[k : k + 12])}" for k in range(12))
    (made.folder / "many.csv").write_text(rows + "\n")
    return made


def test_example_of_the_paper(bench):
    done = bench.run_fairtrial("mixture", "ammp.dat", "--digits", "9", "--resamples", "1")
    assert done.returncode == 0, done.stderr
    for printed in (
        "modes at 92.2133, 93.4159, 94.218, 94.9961",
        "0.096773589  92.21333371    0.163372026     3",
        "0.152806197  93.26964313    0.146702827     5",
        "0.458303392  93.54552405    0.227167773    14",
        "0.160592826  94.21801852  0.00398604647     5",
        "0.131523995  94.99606640    0.392762363     4",
        "distance 0.0923259",
    ):
        assert printed in done.stdout


def test_example_of_the_documentation(bench):
    page = (ROOT / "docs" / "methods" / "mixtures.md").read_text(encoding="utf-8")
    command, *shown = page.partition("```\n$ fairtrial ")[2].partition("```")[0].splitlines()
    assert len(shown) >= 20
    done = bench.run_fairtrial(*command.split(), "--resamples", "200")
    printed = done.stdout.splitlines()
    assert len(printed) == len(shown)
    for ours, theirs in zip(printed, shown, strict=True):
        if "p = " not in theirs and "%" not in theirs:  # what is drawn at random may move a little
            assert ours == theirs
    assert printed[2].partition(";")[0] == shown[2].partition(";")[0]


def test_two_variants_with_everything(bench):
    words = ("mixture", "ammp.dat", "slower.dat", "--resamples", "5", "--below", "93.5")
    more = ("--quantile", "0.9", "--shift", "-0.2", "--seed", "3", "--workers", "1")
    done = bench.run_fairtrial(*words, *more, "--plot", "both.svg")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[2].startswith("in a single run ammp is the best of 2")
    assert "P[X < 93.5]" in done.stdout
    assert "only when smaller by more than 0.2" in done.stdout
    first = (bench.folder / "both.svg").read_bytes()
    assert b"<svg" in first
    as_json = bench.run_fairtrial(*words, *more, "--plot", "both.svg", "--json", "--workers", "2")
    assert (bench.folder / "both.svg").read_bytes() == first  # however many threads
    data = json.loads(as_json.stdout)
    contest = data["benchmarks"][0]["contest"]
    assert contest["best"] == "ammp"
    assert sum(c["estimate"] for c in contest["best_in_a_single_run"].values()) == pytest.approx(1)


def test_many_benchmarks_and_one(bench):
    done = bench.run_fairtrial("mixture", "many.csv", "--resamples", "5")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("12 benchmarks, 12 samples: ")
    assert "/12" not in done.stderr  # a bar is for terminals only
    one = bench.run_fairtrial("mixture", "many.csv", "--benchmark", "b3", "--resamples", "5")
    assert one.stdout.startswith("b3 · many · smaller is better")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["missing.dat"], 2, "not a trial, a variant of a trial or a file"),
        (["flat.dat"], 6, "all 10 values are equal"),
        (["ammp.dat", "--benchmark", "nix"], 2, "no benchmark 'nix'"),
        (["ammp.dat", "--plot", "no/where.svg"], 2, "no/where.svg: there is no folder"),
        (["ammp.dat", "--plot", "x.gif"], 2, "a picture ends in"),
        (["many.csv", "--clusters"], 2, "--clusters lists one"),
        (["ammp.dat", "--resamples", "-1"], 2, "resamples must lie between"),
        (["ammp.dat", "--digits", "0"], 2, "--digits must lie"),
        (["ammp.dat", "--quantile", "1.5"], 2, "must lie between 0 and 1"),
        (["ammp.dat", "--seed", "-1"], 2, "the seed must not be negative"),
        (["ammp.dat", "--and", "max_rss"], 2, "in trials only"),
        ([str(SAMPLE), "--and", "user", "--jitter"], 2, "--jitter is for one metric"),
        ([str(SAMPLE), "--and", "user", "--clusters"], 2, "--clusters is for one metric"),
        ([str(SAMPLE), "--and", "user", "--shift", "1"], 2, "--shift is for one metric"),
        ([], 2, "SOURCE"),
    ],
)
def test_mistakes(bench, words, code, said):
    done = bench.run_fairtrial("mixture", *words)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not list(bench.folder.glob("x.*"))


def test_interrupted_while_a_line_is_on_the_terminal(bench):
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(
        [FAIRTRIAL, *["mixture", "many.csv", "--resamples", "500000"]],
        cwd=bench.folder,
        env={**bench.environment, "TERM": "xterm", "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # which Linux gives when nobody has the other end any more
        while part := os.read(terminal, 4096):
            shown += part
            if b"of 12 cells" in shown and b"of 12 cells" not in shown[: -len(part)]:
                process.send_signal(signal.SIGINT)
    os.close(terminal)
    out, _ = process.communicate()
    assert process.returncode == 130, shown
    assert b"Traceback" not in shown
    assert out == b""


@pytest.mark.parametrize(
    "words",
    [["ammp.dat", "--resamples", "0"], [str(SAMPLE), "--and", "user", "--max-components", "1"]],
)
def test_a_compilation_is_announced(bench, monkeypatch, words):
    def compiling(fit, *of, **how):  # the compiler's event, without the seconds of compiling
        with event.trigger_event("numba:compile"):
            return fit(*of, **how)

    monkeypatch.setattr(report, "mixture_report", partial(compiling, report.mixture_report))
    monkeypatch.setattr(plane, "plane_report", partial(compiling, plane.plane_report))
    monkeypatch.chdir(bench.folder)
    out, err = io.StringIO(), Terminal()
    assert main(["mixture", *words], out, err) == 0
    assert "compiling the statistics" in err.getvalue()


def test_other_commands_do_not_pay_for_kernels():
    commands = ["--help"], ["mixture", "--help"], ["hpt", f"{SAMPLE}:gzip-1", f"{SAMPLE}:gzip-6"]
    program = (
        "import sys\nfrom harness.cli import main\n"
        f"code = max(main(words, sys.stderr, sys.stderr) for words in {commands!r})\n"
        "print(code, 'numba' in sys.modules, 'matplotlib' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "0 False False"
