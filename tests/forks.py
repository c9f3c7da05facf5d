"""The command `fairtrial` without its start: each command line in a fork of one warm process.

Streams, exit code, working directory and environment are those of a process of its own, which it is,
and nothing that one command line did is there for the next. What only a new interpreter shows (a
broken import, what is read from the environment at its start) needs a start of its own.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from tests.json_schemas import held
from tests.processes import wait_until

SERVER = Path(__file__).with_name("fork_server.py")
LISTENS = "FAIRTRIAL_TESTS_WARM_PROCESS"  # where the one of all workers of xdist listens
# read by the interpreter, the C library or the numeric libraries as they start
_EARLY = ("PYTHON", "LD_", "LC_", "LANG", "OMP_", "OPENBLAS_", "NUMBA_", "MPL", "MKL_", "MALLOC_")


AT_START = dict(os.environ)  # what a test sets and leaves there is nothing for later commands


def early(environment: Mapping[str, str]) -> dict[str, str]:
    """Give what of an environment is read before the command begins."""
    return {name: value for name, value in environment.items() if name.startswith(_EARLY)}


class Started:
    """A command under way in a fork: what of `subprocess.Popen` tests use, `pid` first of all.

    It is a process like any other, in a session of its own; only its command line is the warm process's.
    """

    def __init__(self, forks: Forks, pid: int, words: Sequence[str]) -> None:
        self._forks = forks
        self.pid = pid
        # readable at its end, without a question to the warm process
        self._end = os.pidfd_open(pid)
        self.args = ["fairtrial", *words]
        self.returncode: int | None = None
        self.out_path = self.err_path = Path()  # where it writes

    def poll(self) -> int | None:
        """Give the exit code once it has ended, -N after the signal N."""
        return self._code(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; `subprocess.TimeoutExpired` after so many seconds."""
        code = self._code(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        return code

    def _code(self, seconds: float | None) -> int | None:
        if self.returncode is None:
            waits = select.poll()
            waits.register(self._end, select.POLLIN)
            if waits.poll(None if seconds is None else 1000 * seconds):
                self.returncode = self._forks.ended(self.pid)
                os.close(self._end)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:  # until it is asked for its code, its number is nobody else's
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Forks:
    """A warm process that is started when it is first needed; `close` ends it.

    `product` false: it has loaded only what other people wrote, so that each command imports the
    product as a new interpreter would.
    """

    spent = 0.0  # CPU seconds of commands, which the system tells only when the warm process ends

    def __init__(self, *, product: bool = True) -> None:
        self._loads = ["--product"] if product else []
        self._shared = os.environ.get(LISTENS, "") if product else ""
        self._spent = 0.0
        self._process: subprocess.Popen[str] | None = None
        self._asks: IO[str] | None = None
        self._answers: IO[str] | None = None
        self.stage: Callable[[], dict[str, Mapping[str, object]]] = dict  # of commands of scripts
        self._early = early(AT_START)

    def can(self, environment: Mapping[str, str]) -> bool:
        """Tell whether a command with this environment would find what a new process finds."""
        return early(environment) == self._early

    def run(
        self,
        words: list[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        seconds: float,
        umask: int | None = None,
        largest_file: int | None = None,
        virtual: Mapping[str, object] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Execute a command line (without its first word) and wait for it.

        `umask` is the process's own where it is given; no file of it can grow beyond `largest_file`; its runs
        take the times of `virtual.asked`.

        Raises
        ------
        subprocess.TimeoutExpired
            If it took longer than `seconds`; it was killed then.
        """
        with tempfile.TemporaryDirectory(prefix="streams-") as folder:
            out, err = Path(folder, "out"), Path(folder, "err")
            own = {"umask": umask, "largest_file": largest_file, "virtual": virtual}
            answer = self._begin(words, cwd, environment, out, err, seconds, **own)
            if answer["late"]:
                raise subprocess.TimeoutExpired(words, seconds)
            return held(
                words,
                subprocess.CompletedProcess(
                    ["fairtrial", *words], int(answer["code"]), out.read_text(), err.read_text()
                ),
            )

    def start(
        self,
        words: list[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        out: Path,
        err: Path,
        virtual: Mapping[str, object] | None = None,
    ) -> Started:
        """Start a command line, with its output in files; nobody ends it but who started it."""
        begun = self._begin(words, cwd, environment, out, err, None, virtual=virtual)
        return Started(self, int(begun["pid"]), words)

    def ended(self, pid: int) -> int | None:
        """Give the exit code of a started command, once; None as long as it lives."""
        code = self._ask({"ended": pid})["code"]
        return None if code is None else int(code)

    def _begin(
        self,
        words: list[str],
        cwd: Path,
        environment: Mapping[str, str],
        out: Path,
        err: Path,
        seconds: float | None,
        **own: object,
    ) -> dict[str, float]:
        return self._ask(
            {
                "words": words, "cwd": str(cwd), "environment": dict(environment), "stdin": None,
                "out": str(out), "err": str(err), "seconds": seconds, "host": None, "ends": False,
            }
            | own
        )  # fmt: skip

    def _ask(self, asked: dict[str, object]) -> dict[str, float]:
        if self._asks is None or self._answers is None:
            self._asks, self._answers = self._connect() if self._shared else self._start()
            assert self._answers.readline(), "the warm process did not start"
        self._asks.write(json.dumps(asked) + "\n")
        self._asks.flush()
        found: dict[str, float] = json.loads(self._answers.readline())
        self._spent += found["cpu"]
        Forks.spent += found["cpu"]
        return found

    def _start(self) -> tuple[IO[str], IO[str]]:
        self._process = start_server(*self._loads)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        return self._process.stdin, self._process.stdout

    def _connect(self) -> tuple[IO[str], IO[str]]:
        """Connect to the one of all workers, which listens once it is warm."""
        connection = socket.socket(socket.AF_UNIX)
        wait_until(Path(self._shared).exists, "the warm process listens")
        connection.connect(self._shared)
        with connection:
            return connection.makefile("w", encoding="utf-8"), connection.makefile(
                "r", encoding="utf-8"
            )

    def close(self) -> None:
        """End the warm process, or the connection to it."""
        for stream in (self._asks, self._answers):
            if stream is not None:
                stream.close()
        self._asks = self._answers = None
        if self._process is not None:
            self._process.wait()
            self._process = None
            Forks.spent -= self._spent  # it counts as a child's from now on
        self._spent = 0.0


def start_server(*loads: str) -> subprocess.Popen[str]:
    """Start a warm process; it ends with its standard input."""
    return subprocess.Popen(
        [sys.executable, "-P", str(SERVER), *loads],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=AT_START,
    )  # fmt: skip
