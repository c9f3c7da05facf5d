"""The suite's own machinery: what decides whether tests are executed, and whether that is told."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
PROBE = """
import pytest

@pytest.mark.skip(reason="no such tool")
def test_a(): pass

@pytest.mark.skip(reason="the kernel is too old: 5.1")
def test_b(): pass
"""


def load(path: str) -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(TESTS / path)))


def execute(*words: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


def test_a_suite_that_ignores_signals_hears_them_again() -> None:
    # as in the background of a script: tests that interrupt themselves would wait for ever
    tests = ROOT / "tests/unit/harness/launch/test_interrupts.py"
    done = execute("sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh", *PYTEST, tests)
    assert done.returncode == 0, done.stdout


# --- skips


@pytest.fixture
def probe(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_bytes((TESTS / "conftest.py").read_bytes())
    (tmp_path / "test_probe.py").write_text(PROBE)
    return tmp_path


@pytest.mark.parametrize("workers", ["0", "1"])
def test_skips_are_counted_and_shown(probe: Path, workers: str) -> None:
    done = execute(*PYTEST, "-n", workers, "test_probe.py", cwd=probe)
    assert done.returncode == 0
    for line in ("2 skipped", "    1  no such tool", "    1  the kernel is too old: 5.1"):
        assert line in done.stdout


@pytest.mark.parametrize(
    ("ceiling", "code", "says"),
    [
        ('"no such *" = 1\n"the kernel *" = 1', 0, ""),
        ('"no such *" = 0\n"the kernel *" = 1', 1, "1 skipped, 0 expected at most: no such *"),
        ('"no such *" = 1', 1, "no skip for this reason is expected: the kernel is too old: 5.1"),
    ],
)
def test_more_skips_than_expected_are_a_failure(
    probe: Path, ceiling: str, code: int, says: str
) -> None:
    (probe / "skips.toml").write_text(ceiling)
    done = execute(*PYTEST, "--skips-at-most", "skips.toml", "test_probe.py", cwd=probe)
    assert done.returncode == code
    assert says in done.stdout


def test_reasons_of_one_kind_count_together() -> None:
    too_many = load("conftest.py").too_many
    found = Counter({"no R: a": 2, "no R: b": 1})
    assert too_many(found, {"no R*": 3}) == []
    assert too_many(found, {"no R*": 2}) == ["3 skipped, 2 expected at most: no R*"]


# --- a network of its own


def test_the_suites_network_is_its_own_where_it_can_be_had() -> None:
    script = TESTS / "own_network.py"
    code = "import os, socket; s = socket.create_server(('127.0.0.1', 0)); "
    code += "socket.create_connection(s.getsockname()); print(os.readlink('/proc/self/ns/net'))"
    done = execute(sys.executable, script, sys.executable, "-c", code)
    assert done.returncode == 0, done.stderr
    ours = execute(sys.executable, "-c", code).stdout
    # either it is another one, in which the loopback works, or it is said that there is none
    assert (done.stdout != ours) != ("no network namespace is to be had" in done.stderr)


# --- what the calibrations have passed with


def test_a_changed_source_or_library_asks_for_the_calibrations(tmp_path: Path) -> None:
    passed = load("calibration/passed.py")
    kernel = tmp_path / "analysis/methods/hpt/kernel.py"
    kernel.parent.mkdir(parents=True)
    kernel.write_text("one")
    (tmp_path / "analysis/report").mkdir()
    before = passed.state(tmp_path)
    assert passed.changes(before, passed.state(tmp_path)) == []
    kernel.write_text("two")
    kernel.with_name("new.py").write_text("")
    (tmp_path / "analysis/report/text.py").write_text("no number depends on it")
    after = passed.state(tmp_path)
    new = "analysis/methods/hpt/new.py"
    assert passed.changes(before, after) == [
        "analysis/methods/hpt/kernel.py has changed",
        f"{new} is new",
    ]
    assert f"{new} is gone" in passed.changes(after, before)
    newer = {**before, "libraries": {**before["libraries"], "numpy": "9.9"}}
    assert passed.changes(before, newer) == [
        f"numpy has changed: {before['libraries']['numpy']} -> 9.9"
    ]


def test_what_passed_covers_every_kernel_and_method() -> None:
    sources = load("calibration/passed.py").state()["sources"]
    assert {name for name in sources if name.endswith("kernel.py")} == {
        path.relative_to(ROOT).as_posix() for path in (ROOT / "analysis").rglob("*kernel.py")
    }
    assert {"analysis/stats/streams.py", "tests/calibration/passed.py"} <= set(sources)
