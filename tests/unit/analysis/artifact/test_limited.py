"""Commands end with their limits, and with whoever started them. The kernel's process table is the authority."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.artifact import recomputing as limited
from analysis.artifact.recomputing import Commands, LimitReachedError, Limits
from tests import processes

_SLEEPS = "import time; time.sleep(600)"


@contextlib.contextmanager
def _commands(place: Path, homes: Path, limits: Limits | None = None) -> Iterator[Commands]:
    with (place / "lock").open("wb") as lock, Commands(homes, lock.fileno(), limits) as commands:
        yield commands


@pytest.fixture
def program(monkeypatch):
    """Execute a text as Python where ``fairtrial`` would be executed."""
    monkeypatch.setattr(limited, "_START", "import sys; exec(sys.argv[2])")


@pytest.fixture
def under(tmp_path):
    """Execute a program under limits, and give how it ended."""
    homes = tmp_path / "homes"
    homes.mkdir()

    def make(text: str, limits: Limits | None = None):
        with _commands(tmp_path, homes, limits) as commands:
            return commands.run([text], tmp_path, lambda home: {"HOME": str(home)})

    return make


@pytest.mark.usefixtures("program")
def test_what_is_printed_and_how_it_ends_come_back(under, tmp_path):
    done = under("import os, sys; print(os.environ['HOME']); print('x', file=sys.stderr); exit(7)")
    home = Path(done.stdout.decode().strip())
    assert home.parent == tmp_path / "homes"
    assert not home.exists()
    assert (done.stderr, done.exit_code) == (b"x\n", 7)


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize(
    ("limits", "fix"),
    [
        (Limits(total_s=0.5), "--timeout"),
        (Limits(memory_bytes=1000), "--max-memory"),
    ],
)
@pytest.mark.parametrize("deaf", [False, True])
def test_a_limit_ends_a_command_and_all_that_it_started(under, limits, fix, deaf):
    marker = f"marker-{os.getpid()}-{deaf}-{fix}"
    child = f"{_SLEEPS}  # {marker}"
    if deaf:
        child = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {child}"
    text = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {child!r}])"
    with pytest.raises(LimitReachedError) as raised:
        under(text, limits)
    assert raised.value.fix.endswith(fix)
    processes.wait_until(lambda: not processes.processes_with(marker))


@pytest.mark.usefixtures("program")
def test_memory_is_counted_with_that_of_children_and_no_other_command_is_ended(tmp_path):
    fill = "x = b'1' * 150_000_000; import time; time.sleep(600)"
    large = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {fill!r}])"
    small = f"import pathlib, time\nwhile not pathlib.Path({str(tmp_path / 'go')!r}).exists(): time.sleep(.01)"
    limits = Limits(memory_bytes=150_000_000)
    ended = []

    def work(commands: Commands, text: str) -> object:
        try:
            return commands.run([text], tmp_path, lambda _: {})
        except LimitReachedError as error:
            (tmp_path / "go").touch()
            ended.append(error)
            return error

    with _commands(tmp_path, tmp_path, limits) as commands:
        threads = [threading.Thread(target=work, args=(commands, one)) for one in (large, small)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    (error,) = ended  # the small one came to its end
    assert "memory" in error.what


@pytest.mark.usefixtures("program")
def test_a_file_may_have_a_gigabyte(under):
    # authority: the table of limits in docs/artifacts.md
    done = under(
        "import resource, time\n"
        "told = lambda: resource.getrlimit(resource.RLIMIT_FSIZE)\n"
        "while told()[1] == resource.RLIM_INFINITY: time.sleep(.01)\n"
        "print(*told())"
    )
    assert done.stdout.split() == [b"1000000000"] * 2


@pytest.mark.usefixtures("program")
def test_a_file_cannot_grow_without_end(under, monkeypatch):
    monkeypatch.setattr(limited, "_MOST_WRITTEN", 10_000)
    done = under(
        "import resource, time\n"
        "while resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 10_000: time.sleep(.01)\n"
        "while True: print('x' * 1000, flush=True)"
    )
    assert done.exit_code
    assert b"too large" in done.stderr
    assert len(done.stdout) <= 10_000


@pytest.mark.usefixtures("program")
def test_what_goes_wrong_in_one_ends_the_others(tmp_path):
    marker = f"marker-{os.getpid()}-others"

    def work(text: str) -> None:
        if text:
            commands.run([f"{text}  # {marker}"], tmp_path, lambda _: {})
        else:
            processes.wait_until(lambda: processes.processes_with(marker))
            raise KeyError(marker)

    with _commands(tmp_path, tmp_path) as commands, pytest.raises(KeyError):
        commands.each(work, ["", _SLEEPS, _SLEEPS, _SLEEPS], most=2, what="results")
    assert processes.processes_with(marker) == []


def test_a_command_ends_with_a_parent_that_was_killed(tmp_path):
    """The real start, of a package that waits for ever."""
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "__main__.py").write_text(_SLEEPS)
    (tmp_path / "harness" / "__init__.py").touch()
    (tmp_path / "homes").mkdir()
    marker = f"marker-{os.getpid()}-orphan"
    text = (
        "import sys; from pathlib import Path; from analysis.artifact.recomputing import Commands\n"
        "place = Path(sys.argv[1]); lock = (place / 'lock').open('wb')\n"
        "with Commands(place / 'homes', lock.fileno()) as commands:\n"
        f"    commands.run([{marker!r}], place, lambda _: {{'PYTHONPATH': str(place)}})\n"
    )
    process = subprocess.Popen([sys.executable, "-c", text, str(tmp_path)])
    (child,) = processes.wait_until(lambda: processes.processes_with(marker))
    process.send_signal(signal.SIGKILL)
    process.wait()
    processes.wait_until(lambda: not processes.command_line(child))
