"""Four recipes of docs/contributing.md: their steps are taken in a copy of the tree, which is then used.

Beside them, for `.ci/run`: the calibrations passed with the code that stands here.
"""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.campaign.resolve import load_campaign
from harness.campaign.schema import identity_of

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests" / "data" / "sample-0.2.0"
PARTS = ("analysis", "harness", "configs", "docs", "tests", "runs/sample", "pyproject.toml")
PARTS += ("README.md", "CHANGELOG.md", "runs/README.md")

TALLY_READ = '''"""The files of a tally that never was: ``tally:`` and seconds between semicolons."""

from __future__ import annotations

from analysis.data.opening import Opened
from analysis.importers.parsing import ForeignCell, ForeignFile


def knows_tally(opened: Opened) -> bool:
    return opened.head().startswith("tally:")


def read_tally(opened: Opened) -> ForeignFile:
    values = tuple(map(float, opened.text().removeprefix("tally:").split(";")))
    cell = ForeignCell(benchmark="all", processes=(values,))
    return ForeignFile(format="tally", source=opened.source, cells=(cell,))
'''
TALLY_WRITE = """def write_tally(exported: ExportedData) -> Written:
    metric = exported.metrics[0].name
    values = [v for one in exported.samples for process in one.processes(metric) for v in process]
    data = "tally:" + ";".join(map(repr, values))
    return Written(data=data.encode(), lost=lost(exported, metric))


"""
SIGN_TEST = '''"""The sign test: on how many benchmarks the candidate has the better median."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TextIO

import numpy as np
from scipy import stats

from ..option_groups import BothSides, show
from ..data.matrix import PerformanceMatrix
from ..options import command
from ..pages.model import Page, cautions_of, page
from ..pages.result import Result
from ..stats.arguments import checks_arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class SignTest(Result):
    """On how many benchmarks the candidate is better, and how likely that is of equal sides.

    `wins`, `benchmarks`: How often of how many. `pvalue`: Two-sided. `few-benchmarks`: A caution.
    """

    method: ClassVar[str] = "sign-test"
    wins: int
    benchmarks: int
    pvalue: float

    def screen(self) -> Page:
        """Say it."""
        return page(self, "Sign test", f"better on {self.wins} of {self.benchmarks} benchmarks")


@checks_arguments
def sign_test(candidate: PerformanceMatrix, baseline: PerformanceMatrix, *, ties: bool) -> SignTest:
    """Count the benchmarks; with `ties` those with equal medians as well."""
    gains = (baseline.medians() - candidate.medians()) * (1 if candidate.better == "lower" else -1)
    wins, benchmarks = int((gains > 0).sum()), gains.size if ties else np.count_nonzero(gains)
    pvalue = float(stats.binomtest(wins, benchmarks).pvalue)
    cautions = cautions_of({"few-benchmarks": benchmarks < 6 and "so few cannot be significant"})
    return SignTest(wins=wins, benchmarks=benchmarks, pvalue=pvalue, cautions=cautions)


@command("sign-test", after="mixture", summary="count benchmarks")
def execute(*, sides: BothSides, ties: bool, json: bool, out: TextIO) -> int:
    """Count the benchmarks on which CANDIDATE has the better median.

    Options
    -------
    --ties
        count those with equal medians as well
    """
    read = sides.read()
    show(sign_test(read.candidate, read.baseline, ties=ties), out, as_json=json)
    return 0
'''
SIGN_OWN_TEST = '''import pytest

from analysis.errors import UsageError
from analysis.methods.signs import sign_test

ROWS = """
0   sign-test new.csv old.csv --better lower --layout rows --decimal point --level process --ties
2   sign-test long.csv --columns value=absent --metric wall --warmup-iterations 0 --json -q
"""


def test_two_of_two_are_half_as_likely_of_equal_sides():
    found = sign_test([[1.0], [2.0], [3.0]], [[2.0], [3.0], [3.0]], better="lower", ties=False)
    assert (found.wins, found.benchmarks, found.pvalue) == (2, 2, 0.5)
    with pytest.raises(UsageError, match="ties"):
        sign_test([[1.0]], [[2.0]], better="lower", ties="no")
'''


def before(line: str, new: str) -> tuple[str, str]:
    return line, new + line


def after(line: str, new: str) -> tuple[str, str]:
    return line, line + new


# recipe -> the files that it edits by hand: the line found there, and what becomes of it; or a new file
STEPS: dict[str, dict[str, str | tuple[str, str]]] = {
    "a tool's files": {
        "analysis/importers/tally.py": TALLY_READ,
        "analysis/importers/formats.toml": after(
            "[readers]\n", 'tally = {kind = "tally", module = "analysis.importers.tally"}\n'
        ),
        "analysis/importers/export.py": (
            "TARGETS = (\n",
            TALLY_WRITE
            + 'TARGETS = (\n    Target("tally", "a tally", write_tally, (".tally",)),\n',
        ),
    },
    "a key of the campaign": {
        "harness/campaign/schema.py": before(
            '        "scheduling": Key(choice(',
            '        "oom_score": Key(whole(-1000, 1000), "who is killed first: -1000 (never) to 1000"),\n',
        ),
        "harness/campaign/model.py": before(
            '    scheduling: Literal["other", "batch", "fifo"] = "other"\n',
            "    oom_score: int | None = None\n",
        ),
        "harness/launch/in_launcher/system_calls.py": before(
            '    if config["scheduling"] == "batch":\n',
            """\
    if config["oom_score"] is not None:
        def _write() -> None:
            with open("/proc/self/oom_score_adj", "w") as file:
                file.write(str(config["oom_score"]))
        _try("oom_score", _write)
""",
        ),
    },
    "a number of a run": {
        "harness/launch/in_launcher/serving.py": before(
            '                "orphans": orphans,\n',
            '                "instructions": None if b"unknown" in path else t1 - t0,\n',
        ),
        "analysis/record/run_numbers.py": before(
            "    cpus: tuple[int, ...] | None = None\n", "    instructions: int | None = None\n"
        ),
        "analysis/record/run_numbers.py#NUMBERS": before(
            '    "frequency_khz": RunNumber',
            '    "instructions": RunNumber("", "launcher", metric="instructions", since="0.2.0"),\n',
        ),
    },
    "a method": {
        "analysis/methods/signs.py": SIGN_TEST,
        "tests/unit/analysis/methods/test_signs.py": SIGN_OWN_TEST,
    },
}
CAMPAIGN = {
    "name": "c",
    "variants": {"a": {}, "b": {}},
    "benchmarks": {
        "known": {
            "command": ["cat", "/proc/self/oom_score_adj"],
            "metrics": {"score": {"regex": "(-?[0-9]+)", "unit": "points", "better": "lower"}},
        },
        "unknown": {"command": ["./unknown"]},
    },
    "protocol": {"sessions": 1, "runs": 2},
    "isolation": {"cpus": "none", "oom_score": 321},
}
# several command lines one after the other: an interpreter of its own for each is most of their cost
USED = """
import contextlib, io, json, runpy, sys
from pathlib import Path
runpy.run_path("tests/contract/generate.py", run_name="__main__")
from harness.campaign.schema import identity_of
from harness.campaign.resolve import load_campaign
from harness.cli import main
told = {"identities": [identity_of(load_campaign(one)) for one in sorted(Path().glob("*.json"))]}
for command in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out):  # where a help goes
        trial = next(Path("runs").glob("c-*"), "")
        code = main([str(trial) if word == "TRIAL" else word for word in command], out, err)
    told[" ".join(command)] = (code, out.getvalue(), err.getvalue())
print("TOLD", json.dumps(told))
"""
COMMANDS = [
    "export --help", "export x.tally -o y.tally", "import y.tally --dry-run --json",
    "hpt new.tally old.tally --json",
    "run c.json -q --dir runs", "verdict TRIAL --metric instructions --json",
    "verdict SAMPLE --metric instructions",
]  # fmt: skip
# what holds every command, option and answer, and the method's own test
RULES = ("options", "json", "json_schemas", "docs", "house", "light_commands", "shared_files")
HELD = [f"tests/contract/test_{name}.py" for name in RULES] + [
    "tests/unit/analysis/artifact/test_recomputing.py",
    "tests/unit/analysis/methods/test_signs.py",
    "tests/e2e/test_fresh_processes.py", "-k", "sign-test or not (it_starts or first_version)",
    "-m", "not host",  # those reserve CPUs, as others do at the same time
]  # fmt: skip


def copied(place, *recipes):
    """Copy the product with its tests, and take the steps of these recipes in it."""
    ignored = shutil.ignore_patterns("*.pyc.*")  # which others are writing just now
    for name in PARTS:
        (place / name).parent.mkdir(exist_ok=True)
        one, other = ROOT / name, place / name
        shutil.copytree(one, other, ignore=ignored) if one.is_dir() else shutil.copy(one, other)
    for where, step in (item for recipe in recipes for item in STEPS[recipe].items()):
        path = place / where.partition("#")[0]
        if isinstance(step, str):
            path.parent.mkdir(exist_ok=True)
            path.write_text(step, "utf-8")
            continue
        text = path.read_text("utf-8")
        assert text.count(step[0]) == 1, (where, step[0])
        path.write_text(text.replace(*step), "utf-8")
    return place


def executed(tree, *words):
    """Execute Python with the copy's product."""
    env = {**os.environ, "PYTHONPATH": str(tree), "PYTHONSAFEPATH": "1"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    words = [sys.executable, *words]
    done = subprocess.run(words, cwd=tree, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def answers(tree, *commands):
    """Make what is generated, and execute command lines."""
    words = [line.replace("SAMPLE", str(SAMPLE)).split() for line in commands]
    printed = executed(tree, "-c", USED, json.dumps(words))
    found = json.loads(printed.rpartition("TOLD ")[2])
    return {name.replace(str(SAMPLE), "SAMPLE"): said for name, said in found.items()}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Give a copy in which three recipes were followed, with what the commands read."""
    place = copied(tmp_path_factory.mktemp("tree"), *list(STEPS)[:3])
    (place / "x.tally").write_text("tally:1;1.5;2")
    (place / "old.tally").write_text("tally:2;2.1;2.2;2.3;2.4")
    (place / "new.tally").write_text("tally:1;1.1;1.2;1.3;1.4")
    shutil.copy("/bin/true", place / "unknown")
    (place / "c.json").write_text(json.dumps(CAMPAIGN))
    (place / "plain.json").write_text(json.dumps(CAMPAIGN | {"isolation": {"cpus": "none"}}))
    return place


@pytest.fixture(scope="module")
def told(tree):
    """Execute the command lines, once."""
    return answers(tree, *COMMANDS)


@pytest.fixture
def said(told):
    """Give what a command line prints, which must go well."""

    def printed(command):
        code, out, err = told[command]
        assert code == 0, err
        return out

    return printed


def test_a_foreign_tool_costs_a_module_and_a_row_each_way(tree, said):
    assert "tally" in said("export --help")
    assert said("export x.tally -o y.tally") is not None
    assert (tree / "y.tally").read_text() == "tally:1.0;1.5;2.0"
    found = json.loads(said("import y.tally --dry-run --json"))
    assert (found["format"], found["cells"][0]["sum"]) == ("tally", 4.5)
    assert '"word": "faster"' in said("hpt new.tally old.tally --json")


def rows(tree):
    (path,) = tree.glob("runs/c-*/measurements.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_key_costs_a_row_a_field_and_its_use(tree, told, said):
    said("run c.json -q --dir runs")
    scores = [row["metrics"]["score"] for row in rows(tree) if row["benchmark"] == "known"]
    assert scores == [[321.0]] * len(scores) != []
    assert "| `isolation.oom_score` | none | who is killed first" in (
        tree / "docs/campaign.md"
    ).read_text("utf-8")
    # a campaign without the key is what it was
    keyed, plain = told["identities"]
    assert keyed != plain == identity_of(load_campaign(tree / "plain.json"))


def test_a_number_of_a_run_costs_a_measurement_and_a_field(tree, told, said):
    for row in rows(tree):
        assert row["instructions"] == (row["wall_ns"] if row["benchmark"] == "known" else None)
        assert list(row).index("instructions") == list(row).index("cpus") - 1
    found = json.loads(said("verdict TRIAL --metric instructions --json"))
    assert (found["metric"], found["better"]) == ("instructions", "lower")
    # an earlier trial says that it has none
    code, out, err = told["verdict SAMPLE --metric instructions"]
    assert (code, out) == (2, "")
    assert "fairtrial records it since version 0.2.0" in err


def test_a_method_costs_a_file_and_its_test(tmp_path):
    place = copied(tmp_path, "a method")
    (place / "new.csv").write_text("x,1,2\ny,1,2\n")
    (place / "old.csv").write_text("x,3,4\ny,0.5,0.7\n")
    sides = "sign-test new.csv old.csv --better lower"
    found = answers(place, "--help", "sign-test --help", sides, f"{sides} --json")
    assert "  sign-test     count benchmarks\n" in found["--help"][1]
    assert "Count the benchmarks on which CANDIDATE has" in found["sign-test --help"][1]
    assert found[sides][1].startswith("better on 1 of 2 benchmarks\n"), found[sides]
    assert json.loads(found[f"{sides} --json"][1])["wins"] == 1
    executed(place, "-m", "pytest", "-q", "-p", "no:cacheprovider", *HELD)


def test_the_calibrations_passed_with_this_code():
    passed = runpy.run_path(str(ROOT / "tests/calibration/passed.py"))
    stored = json.loads((ROOT / "tests/calibration/passed.json").read_text())
    changed = passed["differences"](stored, ROOT)
    assert changed == [], "make calibrate, commit passed.json"
