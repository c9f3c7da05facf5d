"""What a new host check costs: three files by hand, its test, and `make generated`."""

from __future__ import annotations

import pytest

from tests.contract.copies import copied, edited, python

NEEDED = (
    *(
        "analysis",
        "configs",
        "distribution",
        "docs",
        "harness",
        "tests/data",
        "runs/sample",
        "runs/README.md",
    ),
    *("pyproject.toml", "README.md", "CHANGELOG.md"),
)
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


EXECUTED = """
import runpy, sys, pytest
words, sys.argv[1:] = sys.argv[1:], []
runpy.run_path("tests/contract/generate.py", run_name="__main__")
from harness.host import checks
print(checks.__file__, "nmi_watchdog" in checks.CHECK_NAMES)
sys.exit(pytest.main(["-q", "-p", "no:randomly", "-p", "no:cacheprovider", *words]))
"""


@pytest.fixture
def tree(tmp_path):
    """Give a copy of the tree, as far as checks reach."""
    left_out = ("golden", "calibration", "analysis", "e2e", "property", "data", "browser")
    return copied(copied(tmp_path, NEEDED), ("tests",), *left_out)


def test_a_check_is_a_function_with_its_row_a_fact_and_a_section(tree):
    edited(tree, BY_HAND | ITS_TEST)
    assert len(BY_HAND) == 3
    # all that goes through the checks, whichever there are; no link to the rest of the tree
    about = "not relative_link and (test_checks or test_checkup or test_schema or check or where_it_is_said)"
    told = python(
        tree,
        *("-c", EXECUTED, "-k", about),
        "tests/unit/harness/host/test_checks.py",
        "tests/unit/harness/host/test_reader.py",
        "tests/unit/harness/campaign/test_schema.py",
        "tests/unit/harness/commands/test_checkup_text.py",
        "tests/contract/test_docs.py",
    )
    assert told.startswith(f"{tree / 'harness/host/checks.py'} True\n")
    for name in ("configs/campaign.schema.json", "docs/measuring-well.md"):
        assert "nmi_watchdog" in (tree / name).read_text(encoding="utf-8")
