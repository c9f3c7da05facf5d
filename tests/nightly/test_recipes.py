"""Three recipes of docs/contributing.md: their steps are taken in a copy of the tree, which is then used.

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
PARTS = ("analysis", "harness", "configs", "docs", "tests/contract", "tests/golden/sources")

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


def before(line: str, new: str) -> tuple[str, str]:
    return line, new + line


def after(line: str, new: str) -> tuple[str, str]:
    return line, line + new


NEW = {"analysis/importers/tools/tally.py": TALLY_READ}
# recipe -> the files that it edits by hand: the line found there, and what becomes of it
STEPS = {
    "a tool's files": {
        "analysis/importers/registry.py": after(
            "TOOLS: tuple[Tool, ...] = (\n",
            '    Tool(name="tally", kind="tally", module="analysis.importers.tools.tally"),\n',
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
words, sys.argv[1:] = sys.argv[1:], []
runpy.run_path("tests/contract/generate.py", run_name="__main__")
from harness.campaign.schema import identity_of
from harness.campaign.resolve import load_campaign
from harness.cli import main
told = {"identities": [identity_of(load_campaign(Path(name))) for name in words[1:]]}
for command in json.loads(words[0]):
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


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Copy the product, and take all steps in it."""
    place = tmp_path_factory.mktemp("tree")
    for name in PARTS:  # what is compiled comes along, but not what others are writing just now
        ignored = shutil.ignore_patterns("*.pyc.*")
        shutil.copytree(ROOT / name, place / name, ignore=ignored)
    for name in ("README.md", "CHANGELOG.md", "runs/README.md", "runs/sample", "pyproject.toml"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).symlink_to(ROOT / name)
    for edits in STEPS.values():
        for where, (line, new) in edits.items():
            name = where.partition("#")[0]
            text = (place / name).read_text("utf-8")
            assert text.count(line) == 1, (name, line)
            (place / name).write_text(text.replace(line, new), "utf-8")
    for name, text in NEW.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text, "utf-8")
    (place / "x.tally").write_text("tally:1;1.5;2")
    (place / "old.tally").write_text("tally:2;2.1;2.2;2.3;2.4")
    (place / "new.tally").write_text("tally:1;1.1;1.2;1.3;1.4")
    shutil.copy("/bin/true", place / "unknown")
    (place / "c.json").write_text(json.dumps(CAMPAIGN))
    (place / "plain.json").write_text(json.dumps(CAMPAIGN | {"isolation": {"cpus": "none"}}))
    return place


@pytest.fixture(scope="module")
def told(tree):
    """Make what is generated, and execute the command lines, with the copy's product."""
    env = {**os.environ, "PYTHONPATH": str(tree), "PYTHONSAFEPATH": "1"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    commands = [line.replace("SAMPLE", str(SAMPLE)).split() for line in COMMANDS]
    words = [sys.executable, "-c", USED, json.dumps(commands), "c.json", "plain.json"]
    done = subprocess.run(words, cwd=tree, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout.rpartition("TOLD ")[2])
    return {name.replace(str(SAMPLE), "SAMPLE"): said for name, said in found.items()}


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


def test_the_calibrations_passed_with_this_code():
    passed = runpy.run_path(str(ROOT / "tests/calibration/passed.py"))
    stored = json.loads((ROOT / "tests/calibration/passed.json").read_text())
    changed = passed["differences"](stored, ROOT)
    assert changed == [], "make calibrate, commit passed.json"
