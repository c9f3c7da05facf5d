"""The suite's own machinery: what decides whether tests are executed, and whether that is told."""

from __future__ import annotations

import gc
import json
import os
import runpy
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from xdist.remote import Producer

from tests import scheduling
from tests.hosts import trees

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


def test_what_is_loaded_before_the_tests_is_no_garbage() -> None:
    assert gc.isenabled()
    assert gc.get_freeze_count() > 50_000


# --- the machine's chance

CHANCE = """
import pytest
from pathlib import Path

def first(name):
    path = Path(name)
    made = path.exists()
    path.touch()
    return not made

@pytest.mark.host
def test_busy(): assert not first("busy")

@pytest.mark.host
def test_wrong(): assert 2 + 2 == 5

def test_sum(): assert not first("sum")
"""


def test_what_measures_the_machine_is_executed_twice_before_it_fails_and_that_is_told(
    tmp_path: Path,
) -> None:
    (tmp_path / "conftest.py").write_bytes((TESTS / "conftest.py").read_bytes())
    (tmp_path / "test_chance.py").write_text(CHANCE)
    done = execute(*PYTEST, "-n", "1", cwd=tmp_path)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "2 failed, 1 passed" in done.stdout
    assert "2 asked again" in done.stdout
    assert "test_chance.py::test_busy: AssertionError: assert not True" in done.stdout
    assert "FAILED test_chance.py::test_busy" not in done.stdout
    for name in ("wrong", "sum"):
        assert f"FAILED test_chance.py::test_{name}" in done.stdout


def test_more_than_a_few_that_failed_once_are_no_chance(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_bytes((TESTS / "conftest.py").read_bytes())
    busy = CHANCE.partition("@pytest.mark.host\ndef test_wrong")[0].partition("@pytest")
    many = "".join(
        f'@pytest.mark.host\ndef test_{k}(): assert not first("{k}")\n' for k in range(4)
    )
    (tmp_path / "test_chance.py").write_text(busy[0] + many)
    done = execute(*PYTEST, cwd=tmp_path)
    assert "4 passed" in done.stdout
    assert "ERROR  4 asked again, 3 at most" in done.stdout
    assert done.returncode == pytest.ExitCode.TESTS_FAILED


# --- skips


def test_skips_are_counted_shown_and_held_to_a_number(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_bytes((TESTS / "conftest.py").read_bytes())
    (tmp_path / "test_probe.py").write_text(PROBE)
    (tmp_path / "skips.toml").write_text('"no such *" = 0')
    done = execute(*PYTEST, "-n", "1", "--skips-at-most", "skips.toml", cwd=tmp_path)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    for line in (
        "2 skipped",
        "    1  no such tool",
        "    1  the kernel is too old: 5.1",
        "ERROR  1 skipped, 0 expected at most: no such *",
        "ERROR  no skip for this reason is expected: the kernel is too old: 5.1",
    ):
        assert line in done.stdout


def test_reasons_of_one_kind_count_together() -> None:
    too_many = load("conftest.py").too_many
    found = Counter({"no R: a": 2, "no R: b": 1})
    assert too_many(found, {"no R*": 3, "no jq": 1}) == []
    assert too_many(found, {"no R*": 2}) == ["3 skipped, 2 expected at most: no R*"]


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


class Worker:
    """One that takes what it is given, and ends nothing."""

    shutting_down = False

    def __init__(self, sent: list[int]) -> None:
        self.send_runtest_some = sent.extend

    def shutdown(self) -> None:
        self.shutting_down = True


def test_what_has_ended_is_looked_at_no_more() -> None:
    """Each test that ends is looked for among all that are under way: 15,000 of them must not be."""
    config = SimpleNamespace(
        getvalue=lambda name: {"dist": "loadgroup", "tx": ["popen"]}[name],
        option=SimpleNamespace(loadscopereorder=True),
    )
    sent: list[int] = []
    worker = Worker(sent)
    tests = [f"t.py::test_{k}@together" for k in range(4)] + [f"t.py::test_{k}" for k in range(40)]
    found = scheduling.Scheduling(config, Producer("none", enabled=False))
    found.add_node(worker)
    found.add_node_collection(worker, tests)
    found.schedule()
    for ended, place in enumerate(sent, 1):  # it grows while tests end
        found.mark_test_complete(worker, place)
        assert sum(map(len, found.assigned_work[worker].values())) <= len(sent) - ended + 3
    assert sent[:4] == [0, 1, 2, 3]  # a group stays together
    assert sorted(sent) == list(range(len(tests)))
    assert found.assigned_work[worker] == {}


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


# --- model hosts that are used again


def there(root: Path) -> dict[str, str | None]:
    paths = {path.relative_to(root).as_posix(): path for path in root.rglob("*")}
    return {name: path.read_text() if path.is_file() else None for name, path in paths.items()}


def test_a_host_that_is_lent_is_the_one_that_is_planted(tmp_path: Path) -> None:
    asked = [make() for make in trees.TREES.values()]
    asked += [asked[0] | {"proc/stat": None}, asked[0] | {"run": "EMPTY FOLDER"}, {"x": "1"}]
    planted = [there(trees.plant(tmp_path / str(k), tree)) for k, tree in enumerate(asked)]
    for k in (*range(len(asked)), *range(0, len(asked), 2), 0):
        assert there(trees.lent(asked[k])) == planted[k]
        with trees.borrowed(asked[k]) as root:
            assert there(root) == planted[k]
            shutil.rmtree(root / "proc", ignore_errors=True)
            (root / "proc/stat").mkdir(parents=True)
            (root / "proc/more").symlink_to(tmp_path)
            (root / "etc").mkdir(exist_ok=True)
            (root / "etc/more").write_text("x")


# --- what the calibrations have passed with


FIRST_TEXT = '''"""What it is."""

import os

LIMIT = 3


def one(value: int) -> int:
    """Say one."""
    return value + LIMIT


class Two:
    """Two."""

    def say(self):
        return "two"
'''


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    """Give a file of a method, in a tree with nothing else."""
    path = tmp_path / "analysis/methods/hpt/kernel.py"
    path.parent.mkdir(parents=True)
    path.write_text(FIRST_TEXT)
    (tmp_path / "analysis/elsewhere").mkdir()
    return path


def test_a_changed_definition_or_library_asks_for_the_calibrations(
    tmp_path: Path, kernel: Path
) -> None:
    passed = load("calibration/passed.py")
    before = passed.state(tmp_path)
    assert passed.differences(before, tmp_path) == []
    kernel.write_text(FIRST_TEXT.replace("LIMIT = 3", "LIMIT = 4").replace('"two"', '"three"'))
    kernel.with_name("new.py").write_text("def three(): pass\n")
    (tmp_path / "analysis/elsewhere/text.py").write_text("def four(): 'no number depends on it'\n")
    after = passed.state(tmp_path)
    changed = ["LIMIT has changed", "Two has changed", "three is new"]
    assert passed.differences(before, tmp_path) == changed
    assert "three is gone" in passed.changes(after, before)
    newer = {**before, "libraries": {**before["libraries"], "numpy": "9.9"}}
    was = before["libraries"]["numpy"]
    assert passed.changes(before, newer) == [f"numpy has changed: {was} -> 9.9"]


@pytest.mark.parametrize(
    ("found", "written"),
    [
        ('    """Say one."""\n', ""),
        ("import os\n", "from ..errors import why\n"),
        ("value: int) -> int", "value)"),
        ("return value + LIMIT", "return (value + LIMIT)  # as it was"),
    ],
)
def test_what_changes_no_number_asks_for_nothing(
    tmp_path: Path, kernel: Path, found: str, written: str
) -> None:
    passed = load("calibration/passed.py")
    before = passed.state(tmp_path)
    assert found in FIRST_TEXT
    kernel.write_text(FIRST_TEXT.replace(found, written))
    assert passed.differences(before, tmp_path) == []


def test_a_definition_that_moves_asks_for_nothing(tmp_path: Path, kernel: Path) -> None:
    passed = load("calibration/passed.py")
    before = passed.state(tmp_path)
    head, found, rest = FIRST_TEXT.partition("class Two:")
    kernel.write_text(head)
    inside, outside = (
        tmp_path / "analysis/methods/words.py",
        tmp_path / "analysis/elsewhere/words.py",
    )
    inside.write_text(found + rest)
    assert passed.differences(before, tmp_path) == []
    inside.rename(outside)
    assert passed.differences(before, tmp_path) == []
    kernel.write_text(FIRST_TEXT.replace(found + rest, "def further(): pass"))
    outside.write_text(found + rest.replace("two", "deux"))
    assert passed.differences(before, tmp_path) == ["Two is gone", "further is new"]


def test_every_calibration_is_one_and_has_spot_checks() -> None:
    files = sorted((TESTS / "calibration").glob("test_*.py"))
    assert len(files) >= 8
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert "\npytestmark = pytest.mark.calibration\n" in text, path.name
        assert "spot_check" in text, path.name


def test_what_passed_covers_every_kernel_method_and_rule() -> None:
    passed = load("calibration/passed.py")
    files = set(passed._files(ROOT, passed.SUBJECTS, ".py"))
    sources = (ROOT / "analysis").rglob("*.py")
    kernels = {path for path in sources if "\n@kernel\n" in path.read_text("utf-8")}
    assert len(kernels) > 5
    assert kernels <= files
    assert all((ROOT / subject).exists() for subject in passed.SUBJECTS)
    for rule, names in passed.RULES.items():
        told = {name for name, _ in passed.definitions((ROOT / rule).read_text("utf-8"))}
        assert set(names.split()) <= told, rule
    assert {"fit_mixture", "stream", "hpt"} <= set(passed.state()["definitions"])


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
