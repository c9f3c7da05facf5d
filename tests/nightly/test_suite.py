"""The suite's own machinery: what decides whether tests are executed, and whether that is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

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


def execute(*words: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    known = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
    }  # elsewhere a copy of the conftest finds the rest
    return subprocess.run(
        words, cwd=cwd, env=known, capture_output=True, text=True, timeout=300, check=False
    )


def test_a_suite_that_ignores_signals_hears_them_again() -> None:
    # as in the background of a script: tests that interrupt themselves would wait for ever
    tests = ROOT / "tests/unit/harness/launch/test_interrupts.py"
    done = execute("sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh", *PYTEST, tests)
    assert done.returncode == 0, done.stdout


# --- skips


def test_skips_are_counted_shown_and_held_to_a_number(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_bytes((TESTS / "conftest.py").read_bytes())
    (tmp_path / "test_probe.py").write_text(PROBE)
    (tmp_path / "skips.toml").write_text('"no such *" = 0')
    done = execute(*PYTEST, "-n", "1", "--skips-at-most", "skips.toml", cwd=tmp_path)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    for line in (
        "2 skipped",
        "    1  no such tool\n       test_probe.py::test_a",
        "    1  the kernel is too old: 5.1\n       test_probe.py::test_b",
        "ERROR  1 skipped, 0 expected at most: no such *",
        "ERROR  no skip for this reason is expected: the kernel is too old: 5.1",
    ):
        assert line in done.stdout


# --- workers

DEATHS = """
import os, pytest

@pytest.mark.parametrize("k", range(12))
def test_alone(k):
    if k == 7:
        os.kill(os.getpid(), 9)

@pytest.mark.xdist_group("together")
@pytest.mark.parametrize("k", range(5))
def test_together(k):
    if k == 3:
        os._exit(3)
"""


def test_a_worker_that_dies_is_named_with_its_test_and_the_others_are_executed(
    tmp_path: Path,
) -> None:
    (tmp_path / "conftest.py").write_bytes((TESTS / "conftest.py").read_bytes())
    (tmp_path / "test_probe.py").write_text(DEATHS)
    # -rN: the summary at the end repeats the line, cut where the screen ends, whole under CI
    done = execute(*PYTEST, "-rN", "-n", "2", "--dist", "loadgroup", cwd=tmp_path)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    for test in ("test_alone[7]", "test_together[3]@together"):
        assert done.stdout.count(f"crashed while running 'test_probe.py::{test}'") == 1
    assert "2 failed, 15 passed" in done.stdout


# --- what tests cost


def test_what_tests_cost_is_told_by_kind_with_what_they_started(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "unit" / "one"
    folder.mkdir(parents=True)
    (tmp_path / "conftest.py").write_bytes((TESTS / "conftest.py").read_bytes())
    (folder / "test_busy.py").write_text(
        "import subprocess, sys\n"
        "BUSY = 'import time\\nwhile time.process_time() < .3: pass'\n"
        "def test_own(): exec(BUSY.replace('< .3', '< .3 + begin').replace('import time', "
        "'import time; begin = time.process_time()'))\n"
        "def test_child(): subprocess.run([sys.executable, '-c', BUSY], check=True)\n"
    )
    kept = tmp_path / "costs.json"
    done = execute(*PYTEST, "-n", "1", f"--costs={kept}", "tests", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    found = json.loads(kept.read_text())
    costs = {name.rpartition("::")[2]: cost for name, cost in found["tests"].items()}
    assert costs["test_own"][1] >= 0.3 > costs["test_own"][2]
    assert costs["test_child"][2] >= 0.3 > costs["test_child"][1]
    assert len(found["collected"]) == 1
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("unit/one ")]
    assert row.split()[1] == "2"
    assert float(row.split()[2]) >= 0.6


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
    known = os.environ | {"PYTHONPATH": str(ROOT)}
    suites = [subprocess.Popen(words, cwd=tmp_path, env=known) for _ in range(2)]
    assert [one.wait(300) for one in suites] == [0, 0]
    assert (tmp_path / "said").read_text() == "begin end " * 2


# --- workers

SHARED = """
import os, pathlib, time, pytest

def made(what):
    with pathlib.Path("made").open("a") as file:
        file.write(f"{what} {os.environ['PYTEST_XDIST_WORKER']}\\n")

@pytest.fixture(scope="module")
def dear(): made("module")

@pytest.mark.parametrize("k", range(20))
def test_takes(dear, k): pass

@pytest.mark.parametrize("k", range(20))
def test_alone(k):
    made("alone")
    while "alone gw0" not in (told := pathlib.Path("made").read_text()) or "alone gw1" not in told:
        time.sleep(0.01)  # until both workers have one

@pytest.mark.host
@pytest.mark.parametrize("k", range(20))
def test_host(k): made("host")
"""


def test_what_belongs_together_is_executed_by_one_worker(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_bytes((TESTS / "conftest.py").read_bytes())
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  host: x\n")
    (tmp_path / "test_probe.py").write_text(SHARED)
    words = [*PYTEST, "-n", "2", "--dist", "loadgroup", "--rootdir", str(tmp_path)]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    counts = Counter((tmp_path / "made").read_text().splitlines())
    assert [n for line, n in counts.items() if line.startswith("module")] == [1]
    assert [n for line, n in counts.items() if line.startswith("host")] == [20]
    assert len([line for line in counts if line.startswith("alone")]) == 2  # the others are spread
