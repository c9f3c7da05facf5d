"""What --json prints is documented, key by key, and stays what the first version printed.

`GONE` lists the keys that have gone since, with the reason.
"""

from __future__ import annotations

import ast
import io
import json
import math
import os
import re
import runpy
import shutil
import tomllib
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from analysis.history.judging import judge_nights
from analysis.record.fleet import Fleet, FleetHost, write_fleet
from harness.cli import main
from harness.fleet.slurm import Scheduler
from harness.fleet.status import Cancelled, read_standing
from harness.fleet.submission import Submission
from tests.forks import Forks
from tests.profiled import profile_beside
from tests.unit.analysis.history.judged.made_nights import nights_of, series, stepped

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "json.md").read_text()
FIRST = ROOT / "tests" / "golden" / "first_version_json"
HEAD = {"schema", "method", "tool_version"}

# section of the page, command line; the answers of the first version stand in FIRST/NUMBER.json
COMMANDS = json.loads((FIRST / "commands.json").read_text())


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    monkeypatch.chdir(ROOT)


def answer(command: str, codes: Collection[int] = (0,)) -> list[Any]:
    """Give what a command prints: one object, or several one after the other."""
    out, err = io.StringIO(), io.StringIO()
    code = main([*command.split(), "--json"], out, err)
    assert code in codes, err.getvalue()
    return objects(out.getvalue())


def answer_of(forks: Forks, command: str, code: int) -> list[Any]:
    """Give what a command prints that has others executed: they are forks, too."""
    words = [*command.split(), "--json"]
    done = forks.run(words, cwd=ROOT, environment=os.environ, seconds=300)
    assert done.returncode == code, done.stderr
    return objects(done.stdout)


def objects(text: str) -> list[Any]:
    found = []
    while text.strip():
        value, end = json.JSONDecoder().raw_decode(text.lstrip())
        found.append(value)
        text = text.lstrip()[end:]
    return found


def keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*(keys(item) for item in value.values())) if value else set()
    if isinstance(value, list):
        return set().union(*(keys(item) for item in value)) if value else set()
    return set()


@cache
def section(title: str, heading: str = "## ") -> str:
    parts = re.split(rf"(?m)^{heading}", PAGE)
    return next(part for part in parts if part.splitlines()[0] == title)


INSIDE = {
    "verdict": ("multilevel", "diagnose", "calibrate"),
    "report": ("sources",),
}  # answers that hold those of another section


@cache
def documented(title: str) -> frozenset[str]:
    shared = ("The head of every result", *INSIDE.get(title, ()))
    return frozenset(documented_in(section(title) + "".join(map(section, shared))))


def documented_in(text: str) -> set[str]:
    return {
        name.removesuffix("[]").partition(".<")[0]
        for name in re.findall(r"`([A-Za-z0-9_.<>-]+(?:\[\])?)`", text)
    }


@pytest.fixture(scope="module")
def printed_now():
    """Give what a command of the first version prints now; each is executed once for its tests."""
    known: dict[str, list[Any]] = {}

    def of(number: str) -> list[Any]:
        if number not in known:
            known[number] = answer(COMMANDS[number][1])
        return known[number]

    return of


@pytest.mark.parametrize("number", sorted(COMMANDS))
def test_every_key_is_documented(number, printed_now):
    title = COMMANDS[number][0].partition(" --")[0]
    for value in printed_now(number):
        assert set(value) >= HEAD
        missing = {
            key for key in keys(without_data(value, data_of(title))) if key not in documented(title)
        }
        assert not missing


def data_of(title: str) -> dict[str, int]:
    return data_in(section(title) + "".join(map(section, INSIDE.get(title, ()))))


def data_in(text: str) -> dict[str, int]:
    """Give the mappings whose keys are data, such as names, and how many levels of them.

    The section marks such a mapping as `key.<what>`, or `key.<what>.<what>`; `key.<anything>` is a
    value of any shape.
    """
    marks = re.findall(r"`(\w+)((?:\.<[a-z ]+>)+)`", text)
    return {key: 9 if "<anything>" in levels else levels.count("<") for key, levels in marks}


def without_data(value: Any, data: dict[str, int]) -> Any:
    """Leave out keys that are data."""
    if isinstance(value, dict):
        return {
            key: without_data(below(item, data.get(key, 0)), data) for key, item in value.items()
        }
    if isinstance(value, list):
        return [without_data(item, data) for item in value]
    return value


def below(value: Any, levels: int) -> Any:
    if levels and isinstance(value, dict):
        return [below(item, levels - 1) for item in value.values()]
    if levels > 1 and isinstance(value, list):
        return [below(item, levels) for item in value]
    return value


@pytest.mark.parametrize(
    "source",
    ["tests/data/sample-0.2.0:gzip-1 --metric wall,user", "tests/data/sample-0.2.0 --sources"],
)
def test_every_key_of_the_report_is_documented(source):
    out, err = io.StringIO(), io.StringIO()
    assert main(["report", *source.split(), "--format", "json"], out, err) == 0, err.getvalue()
    (value,) = objects(out.getvalue())
    assert set(value) >= HEAD
    assert keys(without_data(value, data_of("report"))) - documented("report") == set()


def test_every_key_of_the_reports_part_on_why_is_documented(tmp_path):
    trial = Path(shutil.copytree(ROOT / "tests" / "data" / "sample-0.2.0", tmp_path / "sample"))
    build = runpy.run_path(str(ROOT / "tests" / "unit" / "analysis" / "conftest.py"))["build"]
    profile_beside(trial, build, variant="gzip-1", benchmarks=("text",))
    out, err = io.StringIO(), io.StringIO()
    assert main(["report", str(trial), "--format", "json"], out, err) == 0, err.getvalue()
    ((value, *_),) = ([*one["why"]] for one in objects(out.getvalue()))
    assert value["profiles"][0]["answers"][0]["calls"]
    marks = data_of("report") | data_of("why")
    known = documented("report") | documented("why")
    assert keys(without_data(value, marks)) - known == set()


def test_every_key_of_a_bundle_is_documented(tmp_path, forks):
    (tmp_path / "claims.yaml").write_text(
        "claims: [{text: t, command: verdict tests/data/sample-0.2.0, value: /runs, is: equals, expected: 120}]"
    )
    words = f"bundle tests/data/sample-0.2.0 -o {tmp_path}/a.zip --claims {tmp_path}/claims.yaml"
    (value,) = answer_of(forks, words, 0)
    assert set(value) >= HEAD
    page = (ROOT / "docs" / "artifacts.md").read_text("utf-8").partition("\n### bundle.json\n")[2]
    said = section("plot, init, completion, bundle", heading="### ") + page.split("\n### ")[0]
    told = documented_in(said + section("The head of every result"))
    assert keys(without_data(value, data_in(said))) - told == set()


@pytest.mark.parametrize(
    ("title", "command"),
    [
        ("hpt", "hpt {x} {y} --better higher --others --alternative two-sided"),
        ("resample", "resample {x} {y} --better higher --compare --resamples 20"),
        ("resample", "resample {x} --resamples 20"),
    ],
)
def test_every_key_of_a_pair_is_documented(title, command):
    folder = ROOT / "tests" / "golden" / "hpt_splash2"
    x, y = folder / "scores_x_over_1.76.csv", folder / "scores_y.csv"
    (data,) = answer(command.format(x=x, y=y))
    assert keys(data) - documented(title) - HEAD <= set()


def test_every_key_of_a_history_is_documented():
    x = stepped()
    own = stepped(0.06, seed=7)
    made = series(x, own=own, commits=[f"{k:040x}" for k in range(60)], facts={30: {"kernel": {}}})
    value = json.loads(json.dumps(judge_nights(nights_of(made), gate="slower>2%").to_dict()))
    assert value["series"][0]["intervals"]
    assert value["host_intervals"]
    assert keys(value) - documented("history") == set()


def test_every_key_of_sources_is_documented():
    (value,) = answer("sources tests/data/sample-0.2.0 --resamples 99")
    assert set(value) >= HEAD
    assert keys(without_data(value, data_of("sources"))) - documented("sources") == set()


CAMPAIGN = """\
name: c
variants: {a: {}, b: {}}
benchmarks: {x: {command: ["true"]}}
protocol: {sessions: 2, warmup: 1, STOP}
isolation: {cpus: none}
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory, shared):
    """Measure a campaign under a stopping rule, and give what `run --json` printed."""
    place = tmp_path_factory.mktemp("measured")
    stop = "stop: {width: 0.5, min_runs: 3, max_runs: 4}"
    (place / "c.yaml").write_text(CAMPAIGN.replace("STOP", stop))
    out = io.StringIO()
    words = ["run", str(place / "c.yaml"), "--dir", str(place / "runs"), "--json", "--quiet"]
    assert main(words, out, io.StringIO()) == 0
    with shared(place / "runs"):
        yield place, objects(out.getvalue())


def test_every_key_of_diff_is_documented(measured):
    trial = next((measured[0] / "runs").iterdir())
    for other in ("tests/data/sample-0.2.0", str(trial)):
        (value,) = answer(f"diff {other} {trial}")
        assert set(value) >= HEAD
        # what differs is of any shape; elsewhere these two are the trials, whose keys are ours
        for change in [*value["campaign"], *value["plan"], *value["pairs"][0]["changes"]]:
            assert {"old", "new"} <= set(change)
            change["old"] = change["new"] = None
        assert keys(value) - documented("diff") == set()


@pytest.mark.parametrize(
    "title", ["run", "run --dry-run", "doctor", "tune", "status", "merge, status --diff"]
)
def test_every_key_of_the_runner_is_documented(title, measured):
    place, printed = measured
    campaign, runs = place / "c.yaml", place / "runs"
    commands = {
        "run --dry-run": f"run {campaign} --dry-run --dir {runs}",
        "doctor": "doctor",
        "tune": "tune --dry-run",
        "status": f"status --dir {runs}",
        "merge, status --diff": "status --diff tests/data/sample-0.2.0",
    }
    values = printed if title == "run" else answer(commands[title], codes={0, 3})
    said = section(title, heading="### ")
    shared = section("run", heading="### ") + section("run --dry-run", heading="### ")
    told = documented_in(said) | (documented_in(shared) if "as above" in said else set())
    data = data_in(said)
    for value in values:
        assert keys(without_data(value, data)) - told == set()
    assert keys(values)


def test_every_key_of_a_fleet_is_documented(tmp_path):
    host = FleetHost(host="lab1", jobs=("7",), trial="lab1")
    slurm = {"fleet": "f", "time": "10", "partition": "p", "exported": [], "arguments": []}
    fleet = Fleet(
        campaign="c",
        identity="0",
        submitted_at="2026-01-01T00:00:00Z",
        script="job.sh",
        hosts=(host,),
        further={"slurm": slurm},
    )
    write_fleet(tmp_path, fleet)
    submission = Submission(
        folder=tmp_path,
        fleet=fleet,
        hosts=("lab1",),
        script="",
        fresh=False,
        scheduler=Scheduler(),
        notes=("n",),
    )
    cancelled = Cancelled(path=tmp_path, cancelled=("1",), ending=("2",), others=("3",))
    told = documented_in(section("status FLEET, submit, cancel", heading="### "))
    for one in (read_standing(tmp_path, None), submission, cancelled):
        assert set() < keys(one.to_dict()) <= told


@pytest.mark.parametrize(
    "command",
    [
        "import PLACE/x.txt --dry-run",
        "import PLACE/x.txt -o PLACE/trial",
        "export tests/data/sample-0.2.0:gzip-1 -o PLACE/x.json --to pyperf",
    ],
)
def test_every_key_of_import_and_export_is_documented(command, tmp_path):
    (tmp_path / "x.txt").write_text("goos: linux\nBenchmarkA 1 5 ns/op\nBenchmarkA 1 6 ns/op\n")
    (value,) = answer(command.replace("PLACE", str(tmp_path)))
    head = section("The head of every result") if "--dry-run" in command else ""
    assert keys(value) - documented_in(section("import, export", heading="### ") + head) == set()
    if command.startswith("export"):
        assert value["cannot_hold_codes"]


@pytest.fixture
def artifact(tmp_path):
    """Pack the sample trial by hand, with whatever an artifact may say."""
    handmade = runpy.run_path(str(ROOT / "tests" / "handmade_bundle.py"))
    claim = {"text": "t", "command": ["verdict", "trials/sample", "--json"], "is": "equals"}
    claim |= {"value": "/these", "expected": 1, "digits": None, "found": 1, "holds": True}
    claims = {"schema": 1, "claims": [claim | {"result": "analyses/verdict.json"}]}
    stored = {"analyses/verdict.json": b'{"schema": 2}', "analyses/hpt.json": b"{}"}
    stored["claims.json"] = json.dumps(claims).encode()
    script = (ROOT / "configs" / "quickstart_data.py").read_bytes()
    stored["campaigns/sample/quickstart_data.py"] = script
    missing = {"what": "a", "why": "b", "sha256": None, "bytes": 1}
    redacted = {"what": ["user"], "replaced": {"user": 2}, "files": {"x": "0"}, "left": []}
    files = handmade["sealed"](
        handmade["files_of"](handmade["SAMPLE"]) | stored,
        claims="claims.json",
        missing=[missing],
        redacted=redacted,
        python="3.8.0",
    )
    return handmade["write_bundle"](tmp_path / "artifact.zip", files)


def test_every_key_of_reproduce_is_documented(artifact, forks):
    (value,) = answer_of(forks, f"reproduce {artifact}", 1)
    assert set(value) >= HEAD
    assert keys(without_data(value, data_of("reproduce"))) - documented("reproduce") == set()
    assert set(value["caution_codes"]) >= {"bundle-redacted", "bundle-incomplete"}


@pytest.mark.host
def test_every_key_of_a_rerun_is_documented(artifact, tmp_path):
    title = "reproduce --rerun"
    handmade = runpy.run_path(str(ROOT / "tests" / "handmade_bundle.py"))
    files = handmade["files_of"](handmade["SAMPLE"])
    files["campaigns/sample/quickstart_data.py"] = (
        ROOT / "configs/quickstart_data.py"
    ).read_bytes()
    whole = handmade["write_bundle"](tmp_path / "whole.zip", handmade["sealed"](files, analyses=[]))
    (plan,) = answer(f"reproduce --rerun {whole}", codes={2})
    assert set(plan) >= HEAD
    assert keys(without_data(plan, data_of(title))) - documented(title) == set()
    into = f"-C {tmp_path / 'new'} --sessions 1 --yes-execute"
    (value,) = answer(f"reproduce --rerun {whole} {into}", codes={7})
    assert set(value) >= HEAD
    assert "rerun-shortened" in value["caution_codes"]
    inside = value["trials"][0].pop("comparison")
    assert keys(value) - documented(title) == set()
    assert set(inside) <= documented("diff")


# what of the first version's JSON has gone: command, where, what took its place, and why
FLAG = "a flag for a word read like an answer; `word` is the answer"
NAME = "a hypothesis bore the name of the estimate beside it"
SESSIONS = (
    "two truths on one screen: medians of pooled runs; `multilevel` is the only one (schema 2)"
)
ALONE = "quartiles of pooled runs; `alone` has each benchmark's session interval (schema 2)"
SAID = "those of the pooled runs went with them; the key is there, with what sessions leave to say"
KEPT = ("cautions", "enough")  # keys that are still there with another content
GONE: tuple[tuple[str, str, str | None, str], ...] = (
    ("hpt", r"\$(\.r_speedup)?\.faster", None, FLAG),
    ("resample", r"\$(\.interval)?\.faster", None, FLAG),
    ("hpt", r"\$(\.context)?\.speedup", "speedup_under_test", NAME),
    ("verdict", r"\$\.candidates\[\d+\]\.(benchmarks|speedup|hpt)", None, SESSIONS),
    ("verdict", r"\$\.spreads", None, ALONE),
    ("verdict", r"\$\.cautions", None, SAID),
    (
        "diagnose",
        r"\$\.enough",
        None,
        "one draw at 5 % said another size with each seed; now of eleven",
    ),
)
# sentences for a person, which may be reworded; these could not be explained, or hold no longer
REWORDED = (
    ("hpt", r"\$(\.\w+)?\.cautions\[\d\]", "'A verdict by sessions is not part of this version'"),
    ("hpt", r"\$\.conclusions\[\d\]", "'there or just below'"),
    ("hpt", r"\$(\.r_speedup)?\.cautions\[\d\]", "'with its scores divided by less than'"),
    ("biplot", r"\$\.cautions\[\d\]", "'one value stands for each system and benchmark'"),
    ("speedup-test", r"\$\.cautions\[\d\]", "'mean something only beside'"),
)


def taken(where: str, title: str) -> tuple[bool, str | None]:
    """Tell whether a key has gone, and which took its place."""
    for command, pattern, now, _why in GONE:
        if command == title and re.fullmatch(pattern, where):
            return True, now
    return False, None


def reworded(where: str, title: str) -> bool:
    return any(
        command == title and re.fullmatch(pattern, where) for command, pattern, _why in REWORDED
    )


def same(ours: Any, first: Any, title: str, where: str = "$") -> None:
    """Compare with the first version's answer: its keys and numbers must all be there."""
    if isinstance(first, dict):
        assert isinstance(ours, dict), where
        for key, value in first.items():
            gone, now = taken(f"{where}.{key}", title)
            if gone:
                assert (key in KEPT) == (key in ours), f"{where}.{key}"
                if now is not None:
                    same(ours[now], value, title, f"{where}.{now}")
            elif key != "tool_version":
                assert key in ours, f"{where}.{key}"
                same(ours[key], value, title, f"{where}.{key}")
    elif isinstance(first, list):
        assert isinstance(ours, list), where
        assert len(ours) == len(first), where
        for k, (a, b) in enumerate(zip(ours, first, strict=True)):
            same(a, b, title, f"{where}[{k}]")
    elif isinstance(first, float):
        # the last digits belong to the processor and the versions of the libraries
        assert math.isclose(ours, first, rel_tol=1e-7, abs_tol=1e-12), f"{where}: {ours} {first}"
    elif reworded(where, title):
        assert isinstance(ours, str), where
    else:
        assert ours == first, where


@pytest.mark.parametrize("number", sorted(COMMANDS))
def test_numbers_are_those_of_the_first_version(number, printed_now):
    first = objects((FIRST / f"{number}.json").read_text())
    found = printed_now(number)
    assert len(found) == len(first)
    for ours, theirs in zip(found, first, strict=True):
        same(ours, theirs, COMMANDS[number][0])


def test_every_key_of_a_series_of_variants_is_documented():
    from analysis import ordered_variants, read_trial

    trial = read_trial(ROOT / "tests" / "data" / "sample-0.2.0")
    value = ordered_variants(trial, variants=["gzip-6", "gzip-1"], margin=0.0).to_dict()
    assert value["suite"]["steps"]  # or its keys would not be seen
    assert set(keys(value)) - documented("ordered-variants") - HEAD == set()


def test_every_key_of_why_is_documented():
    from analysis.diagnose.why_result import WhyAnswer
    from tests.unit.analysis.why.whole_answer import whole_answer

    told = whole_answer()
    assert all(
        (told.rows, told.others, told.kernel_not_seen, told.asleep, told.cpu_wait, told.gone)
    )  # or their keys would not be seen
    assert all((told.opposite, told.counters, told.runtimes, told.renames, told.verdict_was))
    value = without_data(WhyAnswer(answers=(told,)).to_dict(), data_of("why"))
    assert keys(value) - documented("why") - HEAD == set()


def named(text, name):
    """Give what is assigned to a name in a source."""
    parts = (one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Assign))
    return [one.value for one in parts if getattr(one.targets[0], "id", "") == name]


def test_every_caution_code_is_documented_and_used():
    cells = re.findall(r"(?m)^\| (`[^|]*`) \|", section("Cautions"))
    told = {code for cell in cells for code in re.findall(r"`([a-z0-9-]+)`", cell)}
    texts = {path: path.read_text() for path in (ROOT / "analysis").rglob("*.py")}
    code = "\n".join(texts.values())
    table = (ROOT / "analysis" / "importers" / "json_rows.toml").read_text()
    formats = tomllib.loads((ROOT / "analysis" / "importers" / "formats.toml").read_text())
    words = re.findall(r"(?m)^losses\.([a-z-]+)", table)
    words += [word for lost in formats["losses"].values() for word in lost]
    code += "".join(f'"{word}"' for word in words)
    # what a target cannot hold has codes of its own: those of `cannot_hold`
    given = [text for path, text in texts.items() if path.stem != "export"]
    used = set(re.findall(r'Caution\(\s*"([a-z0-9-]+)"', "\n".join(given)))
    used |= {
        key.value
        for text in given
        if "cautions_of(" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "cautions_of"
        for rows in (node.args[0], *named(text, getattr(node.args[0], "id", None)))
        for key in getattr(rows, "keys", ())
        if isinstance(key, ast.Constant)
    }
    assert used - told == set()
    assert {word for word in told if f'"{word}"' not in code} == set()
    assert 2 * len(told) == "".join(cells).count("`")  # each once
