"""Execute command lines of one installation, each in a fork of this process.

Start-up is most of a short command. What other people wrote is imported here once; nothing of the
product is, so that each command line imports it as a new process would, but with ``--product``, which
imports all of it, too, and its machine code. Executed by the Python of an installation: a JSON object
a line comes in (words, cwd, environment, stdin, out, err, seconds, host, ends), a JSON object with the
exit code goes out. `ends` tells whether what a command leaves behind ends with it. With `seconds` null
the command is only started, and its process told; ``{"ended": PID}`` asks whether it has ended.
A process may have its own `umask`, a size that no file of it exceeds (`largest_file`), and `virtual` times.
With ``--listen PATH`` it serves whoever connects there, each by a fork, until its standard input ends.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import gc
import importlib
import importlib.metadata
import json
import os
import pkgutil
import resource
import runpy
import select
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
import types
from pathlib import Path
from typing import Any, TextIO

THIRD_PARTY = (
    *("numpy", "scipy.stats", "scipy.special", "scipy.optimize", "scipy.linalg", "scipy.signal"),
    *("numba", "numba.core.caching", "yaml", "jinja2", "rich.console", "joblib", "threadpoolctl"),
    *("matplotlib.figure", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg"),
    *("matplotlib.backends.backend_pdf", "multiprocessing.pool", "xml.etree.ElementTree"),
    *("argparse", "sqlite3", "zipfile", "tarfile", "csv", "statistics", "subprocess", "tempfile"),
)
PRODUCT = ("harness", "analysis")
TIMED_OUT = 124
NEW_MOUNTS = 0x20000
BIND, RECURSIVE, PRIVATE, AGAIN, READ_ONLY = 0x1000, 0x4000, 0x40000, 0x20, 0x1
_FORKED: dict[str, Any] = {}  # fork_answers.py, with the product alone
_VIRTUAL: list[types.ModuleType] = []  # virtual.py, likewise


def main() -> None:
    commands, answers = _own_streams()
    for name in THIRD_PARTY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="fairtrial")
    for early in [name for name in sys.modules if name.partition(".")[0] in PRODUCT]:
        raise SystemExit(f"{early} is imported before a command runs")
    if "--product" in sys.argv[1:]:
        _import_the_product()
    gc.collect()
    gc.freeze()
    if "--listen" in sys.argv[1:]:
        commands, answers = _connected(sys.argv[-1], commands)
    answers.write(json.dumps({"ready": True}) + "\n")
    answers.flush()
    for line in commands:
        answers.write(json.dumps(_answer(entry, json.loads(line))) + "\n")
        answers.flush()


def _connected(path: str, commands: TextIO) -> tuple[TextIO, TextIO]:
    """Give the streams of a connection in a fork for it; the process that listens ends here."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(f"{path}~")
    listening.listen(64)
    Path(f"{path}~").rename(path)  # from here on who finds it can connect
    while True:
        ready, _, _ = select.select([listening, commands], [], [])
        if listening not in ready:
            while True:  # what the forks used counts for this process
                with contextlib.suppress(ChildProcessError):
                    os.wait()
                    continue
                raise SystemExit(0)
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            commands.close()
            return connection.makefile("r", encoding="utf-8"), connection.makefile(
                "w", encoding="utf-8"
            )
        connection.close()


def _import_the_product() -> None:
    for half in PRODUCT:
        package = importlib.import_module(half)
        for found in pkgutil.walk_packages(package.__path__, f"{half}."):
            if not found.name.endswith("__main__"):
                with contextlib.suppress(ImportError):  # of what an option needs
                    importlib.import_module(found.name)
    runpy.run_path(str(Path(__file__).with_name("compile_kernels.py")), run_name="__main__")
    _ask_the_tools()
    _FORKED.update(runpy.run_path(str(Path(__file__).with_name("fork_answers.py"))))
    sys.path.append(str(Path(__file__).parents[1]))
    _VIRTUAL.append(importlib.import_module("tests.virtual"))
    importlib.import_module("tests.own_network").only_marked_tests_lock()
    sys.path.pop()


def _ask_the_tools() -> None:
    """Have what a process asks once: which compilers there are, the libraries of a shell and of Python."""
    from harness.host.activity import Host
    from harness.host.snapshot import capture

    programs = {"sh": Path("/bin/sh"), "python": Path(sys.executable)}
    with Host() as host:
        capture(host, targets=programs, variables=dict(os.environ), tool_version="")


def _own_streams() -> tuple[TextIO, TextIO]:
    """Move the pipes of the driver out of the way: 0, 1 and 2 belong to the commands."""
    commands = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(nothing, number)
    return commands, answers


def _answer(entry: importlib.metadata.EntryPoint, asked: dict[str, Any]) -> dict[str, Any]:
    if "ended" in asked:
        ended, status, usage = os.wait4(asked["ended"], os.WNOHANG)
        if not ended:
            return {"code": None, "cpu": 0.0}
        used = usage.ru_utime + usage.ru_stime
        return {"code": os.waitstatus_to_exitcode(status), "cpu": used}
    if asked["seconds"] is None:
        return {"pid": _start(entry, asked), "cpu": 0.0}
    return _execute(entry, asked)


def _start(entry: importlib.metadata.EntryPoint, asked: dict[str, Any]) -> int:
    virtual = asked.get("virtual")
    stage = virtual and _VIRTUAL[0].stage_of(virtual)  # before it is forked: a host is planted once
    child = os.fork()
    if child == 0:
        code = 70
        try:
            os.setsid()
            if stage:
                stage.stand_in()
            code = _be_the_command(entry, asked)
        except BaseException:  # noqa: BLE001 - nobody else would tell it
            Path(f"{asked['out']}.why").write_text(traceback.format_exc())
        finally:
            os._exit(code)
    return child


def _execute(entry: importlib.metadata.EntryPoint, asked: dict[str, Any]) -> dict[str, Any]:
    begun = time.time()
    child = _start(entry, asked)
    code, used, late = _wait(child, begun + asked["seconds"])
    if asked["ends"]:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
    ended = time.time()
    return {
        "code": code, "late": late, "begun": begun, "ended": ended, "cpu": used,
    }  # fmt: skip


def _wait(child: int, until: float) -> tuple[int, float, bool]:
    """Give the exit code, the CPU time of it and its children in seconds, and whether it took too long."""
    pause = 0.002
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, False
        if time.time() > until:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return TIMED_OUT, 0.0, True
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)


def _answers(
    entry: importlib.metadata.EntryPoint, asked: dict[str, Any]
) -> contextlib.AbstractContextManager[None]:
    """Have what a command that is waited for asks other commands answered by forks, too.

    One that is only started, for somebody who watches or ends it, starts new interpreters.
    """
    waited_for = asked.get("seconds") is not None
    if not (_FORKED and waited_for and asked["words"][:1] in _FORKED["COMMANDS"]):
        return contextlib.nullcontext()
    found: contextlib.AbstractContextManager[None] = _FORKED["forked_answers"](
        functools.partial(_be_the_command, entry)
    )
    return found


def _plant_host(tree: Path) -> None:
    """Show this process the files of a model host in place of those of the kernel; as root alone.

    /sys is wholly the model's; of /proc, /etc and /dev those files that are in both.
    """
    libc = ctypes.CDLL(None, use_errno=True)

    def mount(source: Path, target: Path, flags: int) -> None:
        if libc.mount(bytes(source), bytes(target), None, flags, None):
            raise OSError(ctypes.get_errno(), f"{target}: {os.strerror(ctypes.get_errno())}")

    if libc.unshare(NEW_MOUNTS):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    mount(Path("none"), Path("/"), RECURSIVE | PRIVATE)
    for name in ("proc", "etc", "dev"):
        for file in sorted((tree / name).rglob("*")):
            target = Path("/") / file.relative_to(tree)
            if file.is_file() and target.exists() and "self" not in file.parts:
                mount(file, target, BIND)
    mount(tree / "sys", Path("/sys"), BIND)
    mount(Path("none"), Path("/sys"), BIND | AGAIN | READ_ONLY)


def _be_the_command(entry: importlib.metadata.EntryPoint, asked: dict[str, Any]) -> int:
    if asked["host"]:
        _plant_host(Path(asked["host"]))
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    tempfile.tempdir = None  # what compiled the kernels may have asked for it
    time.tzset()
    for number, path, flags in (
        (0, asked["stdin"] or os.devnull, os.O_RDONLY),
        (1, asked["out"], os.O_WRONLY | os.O_CREAT | os.O_APPEND),
        (2, asked["err"], os.O_WRONLY | os.O_CREAT | os.O_APPEND),
    ):
        file = os.open(path, flags, 0o644)
        os.dup2(file, number)
        os.close(file)
    for number, name in ((1, "stdout"), (2, "stderr")):
        if os.isatty(number):  # the streams of this process are made for files, which have a place
            stream = open(number, "w", 1, "utf-8", "backslashreplace", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
    if asked.get("umask") is not None:
        os.umask(asked["umask"])
    if asked.get("largest_file") is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked["largest_file"],) * 2)
    os.closerange(3, 200)
    with contextlib.suppress(ImportError):  # not in older versions
        # on a busy machine a command may take the seconds after which it says how far it is
        importlib.import_module("analysis.announcing").clock = lambda: 0.0
    script = str(Path(sys.executable).with_name("fairtrial"))
    sys.argv = [script, *asked["words"]]
    sys.modules["__main__"] = main_module = types.ModuleType("__main__")
    main_module.__file__ = script
    try:
        with _answers(entry, asked):
            entry.load()()
        code: object = 0
    except SystemExit as stop:
        code = stop.code
    except BaseException:  # noqa: BLE001 - as the interpreter does it
        sys.excepthook(*sys.exc_info())
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    if code is None or isinstance(code, int):
        return code or 0
    os.write(2, f"{code}\n".encode())
    return 1


if __name__ == "__main__":
    main()
