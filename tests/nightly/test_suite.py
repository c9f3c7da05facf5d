"""The suite's own machinery: what decides whether tests are executed, and whether that is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
KNOWN = os.environ | {"PYTHONPATH": str(ROOT)}  # elsewhere a copy of the conftest finds the rest
PROBE = """
import pytest

@pytest.mark.skip(reason="no such tool")
def test_a(): pass

@pytest.mark.skip(reason="the kernel is too old: 5.1")
def test_b(): pass
"""


# --- skips


def test_skips_are_counted_shown_and_held_to_a_number(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_bytes((TESTS / "conftest.py").read_bytes())
    (tmp_path / "test_probe.py").write_text(PROBE)
    (tmp_path / "skips.toml").write_text('"no such *" = 0')
    words = [*PYTEST, "-n", "1", "--skips-at-most", "skips.toml"]
    done = subprocess.run(
        words, cwd=tmp_path, env=KNOWN, capture_output=True, text=True, check=False
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    for line in (
        "2 skipped",
        "    1  no such tool\n       test_probe.py::test_a",
        "    1  the kernel is too old: 5.1\n       test_probe.py::test_b",
        "ERROR  1 skipped, 0 expected at most: no such *",
        "ERROR  no skip for this reason is expected: the kernel is too old: 5.1",
    ):
        assert line in done.stdout


# --- a network of its own


SHARES_ITS_NETWORK = """
import time, pytest, tests.scheduling
tests.scheduling.has_left = lambda: False

@pytest.mark.host
def test_alone():
    with open("said", "a") as file:
        file.write("begin ")
        file.flush()
        time.sleep(0.3)
        file.write("end ")
"""


def test_suites_that_share_a_network_take_turns_on_the_host(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(SHARES_ITS_NETWORK)
    words = [*PYTEST, "-p", "tests.scheduling", "test_it.py"]
    suites = [subprocess.Popen(words, cwd=tmp_path, env=KNOWN) for _ in range(2)]
    assert [one.wait(300) for one in suites] == [0, 0]
    assert (tmp_path / "said").read_text() == "begin end " * 2
