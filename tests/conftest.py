"""What holds for every test: default signals, one test at a time on the host, skips that count."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

import harness.cli
from tests.examples import MOST, SHARE, draw_of_no_module
from tests.json_schemas import holding
from tests.own_network import (
    can_leave,
    has_left,
    leave_the_network,
    only_marked_tests_lock,
)

if TYPE_CHECKING:
    from harness.host.state import OwnGroup
    from tests.forks import Forks

pytest_plugins = ("tests.scheduling", "tests.costs", "tests.lab")

# How long a machine takes is no property of what is tested.
# `make test` says the same of the same tree each time, of few examples; `make search` draws many
# others, also where the environment variable CI lets Hypothesis begin with a profile that does not.
settings.register_profile(
    "search",
    deadline=None,
    derandomize=False,
    max_examples=MOST,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "same",
    settings.get_profile("search"),
    derandomize=True,
    database=None,
    max_examples=MOST // SHARE,
)
settings.load_profile("same")
draw_of_no_module()

# Thousands of small trials are written, synced and removed, which a disk makes a third of the wall.
_MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and os.access(_MEMORY, os.W_OK | os.X_OK):
    _room = os.statvfs(_MEMORY)
    if not _room.f_flag & os.ST_NOEXEC and _room.f_bavail * _room.f_frsize > 2**31:
        os.environ["TMPDIR"] = str(_MEMORY)
        tempfile.tempdir = None  # which somebody may have looked up before

if "PYTEST_XDIST_WORKER" not in os.environ and not has_left() and can_leave():
    with suppress(OSError):  # an ordinary user's process that has threads cannot
        leave_the_network()

harness.cli.main = holding(harness.cli.main)  # before any test module takes it

# Started in the background or under nohup, this process ignores signals, and so would commands
# under test: Ctrl-C and a hang-up would not end them.
for _number, _default in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
    (signal.SIGQUIT, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _default)


# Threads of the linear algebra wait for each other by turning, which on a machine that is in use took
# four times the CPU of small matrices: what tests start has one. A plugin may have loaded numpy into
# this process before, which `one_thread_of_linear_algebra` is for.
_ONE_FROM_THE_START = os.environ.get("OPENBLAS_NUM_THREADS") == "1"  # whoever started it said so
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Trials keep a key there, and tests leave nothing in the home of who executes them.
_STATE = tempfile.TemporaryDirectory(prefix="fairtrial-state-")
os.environ["XDG_STATE_HOME"] = _STATE.name
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
os.environ.setdefault("FAIRTRIAL_CACHE", str(_CACHE / "fairtrial" / "kernels"))
os.environ["XDG_CACHE_HOME"] = f"{_STATE.name}/cache"
# each trial asks the compilers for their versions, and a virtual machine of Java is half of that trial
Path(_STATE.name, "bin").mkdir()
_JAVA = Path(_STATE.name, "bin", "javac")
_JAVA.write_text("#!/bin/sh\necho javac 1.8\n")
_JAVA.chmod(0o755)
os.environ["PATH"] = f"{_JAVA.parent}:{os.environ.get('PATH', os.defpath)}"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Look for no garbage while tests are collected: a third of the CPU of a first collection."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--skips-at-most",
        metavar="FILE",
        type=Path,
        help="a TOML table from reasons (patterns) to numbers: more tests skipped is a failure",
    )


@pytest.fixture(scope="session", autouse=True)
def one_thread_of_linear_algebra() -> Iterator[None]:
    """Take one thread for matrices as small as those of tests: a second one waits, and at full speed.

    What must not depend on the threads asks for two itself.
    """
    if _ONE_FROM_THE_START:
        yield
        return
    import scipy.linalg  # noqa: F401 - what is loaded later would not be limited
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.fixture(scope="session", autouse=True)
def no_time_passes_for_a_line_about_work() -> None:
    """Keep what is said after some seconds out of what tests compare, on a busy machine too."""
    from analysis import announcing

    announcing.clock = lambda: 0.0
    only_marked_tests_lock()


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """Give what executes command lines without the cost of their start."""
    from tests.forks import Forks

    found = Forks()
    yield found
    found.close()


@pytest.fixture(scope="session")
def path_of_forks(forks: Forks) -> Iterator[str]:
    """Give a PATH on which `fairtrial` is executed by `forks`, for scripts that stand in a page."""
    from tests.forks_on_path import forks_on_path

    with (
        tempfile.TemporaryDirectory(prefix="path-") as folder,
        forks_on_path(forks, Path(folder)) as place,
    ):
        yield f"{place}:{os.environ['PATH']}"


@pytest.fixture(scope="session")
def leaks() -> Callable[[Path | str], set[tuple[str, str]]]:
    """List the descriptors of this process, with their numbers, that lie below a folder of the test.

    Those of other tests are closed whenever their garbage is collected: count none of them.
    """

    def held(below: Path | str) -> set[tuple[str, str]]:
        found = set()
        for link in Path("/proc/self/fd").iterdir():
            with suppress(FileNotFoundError):  # that of the listing itself
                found.add((link.name, str(link.readlink())))
        return {(number, file) for number, file in found if file.startswith(str(below))}

    return held


@pytest.fixture(scope="session")
def shared() -> Callable[[Path], AbstractContextManager[None]]:
    """Hold at the end of a fixture of several tests that its folder is as it was.

    Its rights stay: tests write to copies, which have the same.
    """

    def digests(folder: Path) -> dict[str, str]:
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        return {str(path): sha256(path.read_bytes()).hexdigest() for path in files}

    @contextmanager
    def held(folder: Path) -> Iterator[None]:
        before = digests(folder)
        yield
        assert digests(folder) == before, "a test has changed what others look at"

    return held


@pytest.fixture
def own_group() -> OwnGroup:
    """Give the cgroup of this process; skip where no groups can be made below it."""
    from harness.host.activity import Host

    with Host() as host:
        found = host.own_group()
    if found is None or not found.writable:
        pytest.skip("no cgroup of version 2 can be had here")
    return found


@pytest.fixture
def unreadable_files(tmp_path: Path) -> None:
    """Skip where a file's mode keeps nobody out."""
    probe = tmp_path / "unreadable"
    probe.touch(0)
    if os.access(probe, os.R_OK, effective_ids=True):
        pytest.skip("root may read everything")
    probe.unlink()


def skipped(config: pytest.Config) -> dict[str, Counter[str]]:
    """Count the tests that were skipped, by their reason and name, parameters left out."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for report in reporter.stats.get("skipped", ()) if reporter else ():
        reason = report.longrepr[2].removeprefix("Skipped: ")
        found[reason][report.nodeid.partition("[")[0].partition("@")[0]] += 1
    return found


def too_many(found: dict[str, int], ceilings: dict[str, int]) -> list[str]:
    """Say which reasons skip more tests than they may; each counts for the first that fits it."""
    counts: Counter[str | None] = Counter()
    for reason, count in found.items():
        counts[next((p for p in ceilings if fnmatchcase(reason, p)), None)] += count
    unknown = [reason for reason in found if not any(fnmatchcase(reason, p) for p in ceilings)]
    return [f"no skip for this reason is expected: {reason}" for reason in sorted(unknown)] + [
        f"{count} skipped, {ceilings[pattern]} expected at most: {pattern}"
        for pattern, count in sorted(counts.items(), key=str)
        if pattern is not None and count > ceilings[pattern]
    ]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    path = session.config.option.skips_at_most
    if path is None or hasattr(session.config, "workerinput"):
        return
    found = {reason: names.total() for reason, names in skipped(session.config).items()}
    problems = too_many(found, tomllib.loads(path.read_text()))
    if problems and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    session.config.stash[_PROBLEMS] = problems


_PROBLEMS = pytest.StashKey[list[str]]()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    found = skipped(config)
    if found:
        terminalreporter.section(f"{sum(names.total() for names in found.values())} skipped")
    for reason, names in sorted(found.items()):
        terminalreporter.line(f"{names.total():5}  {reason}")
        for name, count in sorted(names.items()):
            terminalreporter.line(f"       {name}" + (f" ({count})" if count > 1 else ""))
    for problem in config.stash.get(_PROBLEMS, ()):
        terminalreporter.line(f"ERROR  {problem}", red=True)
