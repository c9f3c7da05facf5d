"""The documentation holds what it promises: every key, every link, every example."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import get_args, get_type_hints

import pytest
import yaml

from analysis.record.run_numbers import BUILTIN_METRICS, FIRST, NUMBERS, Measurement, Outcome
from analysis.record.trial_files import (
    SCHEMA,
    BuildRecord,
    CheckStatus,
    Finding,
    Manifest,
    PlannedRun,
    TrialStatus,
)
from harness.campaign.resolve import load_campaign
from harness.host.checks import CHECK_NAMES, CHECKS

ROOT = Path(__file__).resolve().parents[2]
generate = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("generate.py"))))
MADE = generate.generated()
FORMAT = ROOT / "docs" / "trial-format.md"
PAGES = sorted(
    [
        *ROOT.glob("docs/**/*.md"),
        *(ROOT / n for n in ("README.md", "CHANGELOG.md", "runs/README.md")),
    ]
)
# Checks that the runner makes itself: no campaign can name them.
OWN_CHECKS = {"threads"}
# Each of these has an advice of its own; a check that comes later has at least its line in the list.
ADVISED = frozenset(
    [
        *("governor", "turbo", "smt", "frequency", "aslr", "thp", "numa", "swap", "load"),
        *("steal", "throttle", "temperature", "irq", "isolation", "perf_rate", "virtual"),
        *("clock", "kernel_log", "disk", "battery", "energy", "rt_throttle"),
    ]
)


def section(title):
    """Give the text of trial-format.md below a heading, up to the next one of any level."""
    _, found, rest = FORMAT.read_text(encoding="utf-8").partition(f"# {title}\n")
    assert found, f"trial-format.md has no heading '{title}'"
    return re.split(r"^#", rest, maxsplit=1, flags=re.MULTILINE)[0]


def documented(title):
    """Give what stands in backticks in the first column of the section's table."""
    return [
        key
        for line in section(title).splitlines()
        if line.startswith("| `")
        for key in re.findall(r"`([^`]+)`", line.split("|")[1])
    ]


def names(record):
    return [field.name for field in fields(record)]


def blocks(text, language):
    pattern = rf"^```{language}\n(.*?)^```$"
    return re.findall(pattern, text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("title", "keys"),
    [
        ("manifest.json", [name for name in names(Manifest) if name != "further"]),
        ("plan.jsonl", names(PlannedRun)),
        ("measurements.jsonl", [*names(Measurement), "crc32"]),
        ("findings.jsonl", ["at", "session", "when", *names(Finding)]),
        ("builds.jsonl", [*names(BuildRecord), "crc32"]),
        ("environment.jsonl", ["session", "segment", "at", "sessions", "containment"]),
    ],
)
def test_every_key_of_a_file_is_documented_in_its_order(title, keys):
    assert documented(title) == keys


TYPES = {int: "integer", float: "number", type(None): "null"}


def test_each_number_of_a_run_is_documented_as_the_table_has_it():
    lines = section("measurements.jsonl").splitlines()
    for name, about in NUMBERS.items():
        kind = get_type_hints(Measurement)[name]
        types = ", ".join(TYPES[part] for part in get_args(kind) or (kind,))
        (told,) = (line for line in lines if line.startswith(f"| `{name}` | {types} | "))
        assert about.metric is None or f": the metric `{about.metric}`" in told
        assert about.since == FIRST or told.endswith(f"; since version {about.since} |")


def test_each_outcome_and_status_is_documented():
    assert sorted(documented("Outcomes")) == sorted(get_args(Outcome))
    for status in get_args(TrialStatus):
        assert f"`{status}`" in section("manifest.json")
    for status in get_args(CheckStatus):
        assert f"`{status}`" in section("findings.jsonl")


def test_each_variable_of_a_hook_is_documented():
    # first use: the variables that a hook sees stood in no page
    sources = (path.read_text() for path in (ROOT / "harness").rglob("*.py"))
    told = {name for text in sources for name in re.findall(r'"(FAIRTRIAL_[A-Z]+)"', text)}
    told.discard("FAIRTRIAL_PADDING")  # of targets (launcher.md)
    assert len(told) == 6
    page = (ROOT / "docs" / "campaign.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(FAIRTRIAL_[A-Z]+)` \|", page, re.MULTILINE)
    assert sorted(listed) == sorted(told)


def test_the_documented_schema_is_the_current_one():
    assert FORMAT.read_text(encoding="utf-8").startswith(
        f"# The trial directory, schema {SCHEMA}\n"
    )


def anchors(path):
    """Give the anchors that a page's headings make."""
    prose = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(page):
    prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        there = target.is_relative_to(ROOT) and target.exists()
        if not there or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_relative_link_is_dead(page):
    assert list(dead_links(page)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_metric_that_a_command_names_is_one_of_runs_or_declared_on_the_page(page):
    text = page.read_text()
    for name in re.findall(r"--metric ([a-z_0-9,]+)", text):
        for one in name.split(","):
            there = re.search(rf"(?<!--metric )\b{one}\b", text)
            assert one in {*BUILTIN_METRICS, "chooses"} or there, one


def test_a_dead_link_would_be_found(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "# A page\n[a](page.md) [b](gone.md) [c](#a-page) [d](#gone) [e](https://x.org)\n"
    )
    assert list(dead_links(page)) == ["gone.md", "#gone"]


def full_campaigns():
    for page in PAGES:
        for number, block in enumerate(blocks(page.read_text(encoding="utf-8"), "yaml")):
            content = yaml.load(block, Loader=yaml.BaseLoader)
            if isinstance(content, dict) and {"name", "variants", "benchmarks"} <= content.keys():
                yield pytest.param(block, id=f"{page.relative_to(ROOT)}-{number}")


@pytest.mark.parametrize("block", list(full_campaigns()))
def test_each_campaign_in_the_documentation_loads(block, tmp_path):
    path = tmp_path / "campaign.yaml"
    path.write_text(block, encoding="utf-8")
    campaign = load_campaign(path)
    assert len(campaign.cells) == len(campaign.variants) * len(campaign.benchmarks)


def test_there_are_campaigns_in_the_page_about_campaigns():
    pages = [param.id for param in full_campaigns()]
    assert sum(name.startswith("docs/campaign.md") for name in pages) >= 2


def test_advice_names_the_checks_that_exist_and_leaves_none_out():
    page = (ROOT / "docs" / "measuring-well.md").read_text(encoding="utf-8")
    text = generate.prose(page)
    lists = re.findall(r"\(((?:`[a-z_]+`(?:, )?)+(?:, \.\.\.)?)\)", text)
    named = {name for part in lists for name in re.findall(r"`([a-z_]+)`", part)}
    assert named <= {*CHECK_NAMES, *OWN_CHECKS}
    assert {name for name in ADVISED if f"`{name}`" not in text} == set()


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.name)
def test_what_is_made_from_the_code_is_current(path):
    assert path.read_text(encoding="utf-8") == MADE[path], "make generated"


def test_the_list_of_checks_leaves_none_out():
    table = generate.checks_table()
    for check in CHECKS:
        assert f"| [`{check.name}`](#{check.name}) | {check.reason} |" in table


def test_every_check_is_documented_in_the_order_of_the_registry():
    page = (ROOT / "docs" / "checks.md").read_text(encoding="utf-8")
    sections = re.split(r"^### (\w+)\n", page.partition("\n## The checks\n")[2], flags=re.M)[1:]
    assert tuple(sections[::2]) == CHECK_NAMES
    for name, text in zip(sections[::2], sections[1::2], strict=True):
        assert "*Read:*" in text, name
        assert "*Before" in text or name == "energy", name


def test_the_documented_reader_reads_the_sample():
    reader = blocks(section("The checksum"), "python")[0]
    done = subprocess.run(
        [sys.executable, "-I", "-W", "ignore", "-c", reader + "print(len(rows))"],
        cwd=ROOT / "runs" / "sample",
        capture_output=True,
        text=True,
        check=True,
    )
    assert (
        int(done.stdout) == json.loads((ROOT / "runs/sample/manifest.json").read_text())["planned"]
    )


def test_the_documented_reader_finds_damage(tmp_path):
    reader = blocks(section("The checksum"), "python")[0]
    data = (ROOT / "runs" / "sample" / "measurements.jsonl").read_bytes()
    (tmp_path / "measurements.jsonl").write_bytes(data.replace(b'"wall_ns":', b'"wall_ns":1', 1))
    done = subprocess.run(
        [sys.executable, "-I", "-W", "ignore", "-c", reader],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "AssertionError" in done.stderr


def test_the_documented_jq_line_works():
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    (script,) = [
        block for block in blocks(FORMAT.read_text("utf-8"), "sh") if block.startswith("jq")
    ]
    done = subprocess.run(
        ["/bin/sh", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    manifest = json.loads((ROOT / "runs" / "sample" / "manifest.json").read_text())
    cells = json.loads(done.stdout)
    assert len(cells) == len(manifest["variants"]) * len(manifest["benchmarks"])
    rows = map(json.loads, (ROOT / "runs/sample/measurements.jsonl").read_text().splitlines())
    failed = sum(row["outcome"] != "ok" and not row["warmup"] for row in rows)
    planned = len(cells) * manifest["sessions"] * manifest["runs"]
    assert sum(cell["runs"] for cell in cells) == planned - failed
