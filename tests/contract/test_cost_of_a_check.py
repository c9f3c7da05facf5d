"""What a new host check costs: three files by hand, its test, and `make generated`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = (
    "analysis",
    "configs",
    "docs",
    "harness",
    "tests",
    "tests/data",
    "runs/sample",
    "runs/README.md",
)
NEEDED += ("pyproject.toml", "README.md", "CHANGELOG.md")
TABLE, END = "\n\nCHECKS = (\n", ")\n"

FUNCTION = '''

def nmi_watchdog(situation: Situation) -> Finding:
    """Check that the kernel's watchdog does not interrupt every CPU and hold a counter."""
    value = situation.state.nmi_watchdog
    if value is None:
        return found("unknown", "not shown", f"no {path_of('nmi_watchdog')}")
    where = read(path_of("nmi_watchdog"), value)
    if value == 0:
        return found("ok", "the watchdog is off", where)
    what = "the watchdog interrupts each CPU and holds a hardware counter"
    return found("warn", what, where, "sudo sysctl kernel.nmi_watchdog=0")
'''
ROW = """    Check(
        nmi_watchdog, "its interrupt comes several times a minute, and perf has one counter less"
    ),
"""
FACT = """\
    nmi_watchdog: int | None = _in_file("/proc/sys/kernel/nmi_watchdog", "number")
"""
PAGE = """
### nmi_watchdog

The watchdog interrupts every CPU. *Read:* `kernel.nmi_watchdog`. *Before:* warns unless it is 0.
*Fix:* `sudo sysctl kernel.nmi_watchdog=0`.
"""
TEST = """BEFORE = [
    ("nmi_watchdog", "amd", {"proc/sys/kernel/nmi_watchdog": "0"}, "ok", "is off"),
    ("nmi_watchdog", "amd", {"proc/sys/kernel/nmi_watchdog": "1"}, "warn", "interrupts each CPU"),
    ("nmi_watchdog", "bare", {}, "unknown", "not shown"),
"""


def before_table(text: str) -> str:
    head, found, rows = text.partition(TABLE)
    assert found
    assert rows.endswith(END)
    return head + FUNCTION + TABLE + rows.removesuffix(END) + ROW + END


def before_first(mark: str, line: str):
    def edit(text: str) -> str:
        assert mark in text
        return text.replace(mark, line + mark, 1)

    return edit


BY_HAND = {
    "harness/host/kernel_checks.py": before_table,
    "harness/host/state.py": before_first("    perf_rate: ", FACT),
    "docs/checks.md": lambda text: text + PAGE,  # the registry ends with those of kernel.py
}
ITS_TEST = {
    "tests/unit/harness/host/test_checks.py": lambda text: text.replace("BEFORE = [\n", TEST, 1),
}


@pytest.fixture
def tree(tmp_path):
    """Give a copy of the tree, as far as checks reach."""
    skipped = shutil.ignore_patterns(
        "__pycache__", "golden", "calibration", "analysis", "e2e", "property", "data"
    )
    for name in NEEDED:
        source, place = ROOT / name, tmp_path / name
        place.parent.mkdir(exist_ok=True)
        if source.is_file():
            shutil.copy(source, place)
        else:
            # what is compiled comes along, but not what another process is writing just now
            ignore = skipped if name == "tests" else shutil.ignore_patterns("*.pyc.*")
            shutil.copytree(source, place, ignore=ignore)
    return tmp_path


def execute(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *words], cwd=tree, env=env, capture_output=True, text=True, check=False
    )


def test_a_check_is_a_function_with_its_row_a_fact_and_a_section(tree):
    for name, edit in (BY_HAND | ITS_TEST).items():
        path = tree / name
        path.write_text(edit(path.read_text(encoding="utf-8")), encoding="utf-8")
    assert len(BY_HAND) == 3
    asked = "import harness.host.checks as c; print(c.__file__, 'nmi_watchdog' in c.CHECK_NAMES)"
    place = tree / "harness/host/checks.py"
    assert execute(tree, "-c", asked).stdout == f"{place} True\n"
    made = execute(tree, "tests/contract/generate.py")
    assert made.returncode == 0, made.stderr
    for name in ("configs/campaign.schema.json", "docs/measuring-well.md"):
        assert "nmi_watchdog" in (tree / name).read_text(encoding="utf-8")
    done = execute(
        tree,
        *("-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"),
        *("-k", "not relative_link"),  # that needs the rest of the tree
        "tests/unit/harness/host",
        "tests/unit/harness/campaign/test_schema.py",
        "tests/unit/harness/commands/test_checkup_text.py",
        "tests/contract/test_docs.py",
    )
    assert done.returncode == 0, done.stdout
