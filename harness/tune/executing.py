"""Executes a command for the one who called, not for root; a guardian puts the settings back if tuning dies.

It is forked before the first change, in a session of its own, and holds its parent's pidfd.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import select
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType

from analysis.errors import UsageError

from ..errors import LaunchError

_OF_SUDO = ("SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND", "SUDO_PS1", "SUDO_PROMPT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The user for whom something is executed; `name` is None for one without an account."""

    uid: int
    gid: int
    groups: tuple[int, ...]
    name: str | None = None
    home: str | None = None
    shell: str | None = None

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Give the variables of what is executed: those given, with the caller's own account."""
        kept = {
            key: value
            for key, value in given.items()
            if key not in (*_OF_SUDO, *("PKEXEC_UID", "DOAS_USER"))
        }
        if self.name is not None and self.home is not None:
            kept |= {"USER": self.name, "LOGNAME": self.name, "HOME": self.home}
            kept |= {"SHELL": self.shell or "/bin/sh"}
            kept.pop("MAIL", None)
        runtime = f"/run/user/{self.uid}"
        if "XDG_RUNTIME_DIR" not in kept and os.path.isdir(runtime):  # noqa: PTH112 - never raises
            kept["XDG_RUNTIME_DIR"] = runtime
        return kept


def caller_of(environment: Mapping[str, str]) -> Caller | None:
    """Tell for whom root acts; None when nobody else called: this process is the caller itself."""
    if os.geteuid() != 0:
        return None
    if "SUDO_UID" in environment:
        uid = _number(environment, "SUDO_UID")
        account = _account(uid)
        given = "SUDO_GID" in environment
        gid = _number(environment, "SUDO_GID") if given else _group(account, "SUDO_UID")
    elif "PKEXEC_UID" in environment:
        account = _account(_number(environment, "PKEXEC_UID"))
        uid, gid = _number(environment, "PKEXEC_UID"), _group(account, "PKEXEC_UID")
    elif "DOAS_USER" in environment:
        try:
            account = pwd.getpwnam(environment["DOAS_USER"])
        except (KeyError, ValueError):
            raise _nobody("DOAS_USER", environment) from None
        uid, gid = account.pw_uid, account.pw_gid
    else:
        return None
    if uid == 0:
        return None  # root called itself
    if account is None:
        return Caller(uid=uid, gid=gid, groups=(gid,))
    return Caller(
        uid=uid,
        gid=gid,
        groups=tuple(os.getgrouplist(account.pw_name, gid)),
        name=account.pw_name,
        home=account.pw_dir,
        shell=account.pw_shell,
    )


def _number(environment: Mapping[str, str], name: str) -> int:
    text = environment[name]
    if not (text.isascii() and text.isdigit() and int(text) < 2**32 - 1):
        raise _nobody(name, environment)
    return int(text)


def _account(uid: int) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwuid(uid)
    except KeyError:
        return None


def _group(account: pwd.struct_passwd | None, name: str) -> int:
    if account is None:
        raise UsageError(f"the user that {name} names has no account, so no group either", name)
    return account.pw_gid


def _nobody(name: str, environment: Mapping[str, str]) -> UsageError:
    what = f"{name} names nobody: {environment[name]!r}; nothing is executed as root in their place"
    return UsageError(what, name, "execute it with sudo, or as root without that variable")


_HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_HANDED_ON = (signal.SIGTERM, signal.SIGHUP)  # the terminal sends the others to both of us


class Signals:
    """Hears the signals that end a program, so that it can put everything back before it ends.

    `number` is the first that came, None without one. While a command is executed those that do not
    come from the terminal are handed on to it.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._before: dict[int, object] = {}

    def __enter__(self) -> Signals:
        for number in _HEARD:
            self._before[number] = signal.signal(number, self._hear)
        # ignored by whoever started us, it would take the command's exit code away
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        return self

    def __exit__(self, *_error: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)  # type: ignore[arg-type]  # as it was given

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        self.number = self.number or number
        if self._child is not None and number in _HANDED_ON:
            with contextlib.suppress(OSError):
                self._child.send_signal(number)

    def wait(self, child: subprocess.Popen[bytes]) -> int:
        """Wait for a command; give its exit code, 128 and the signal's number after a signal."""
        self._child = child
        try:
            code = child.wait()
        finally:
            self._child = None
        return code if code >= 0 else 128 - code


def spawn(
    argv: Sequence[str], environment: Mapping[str, str], caller: Caller | None
) -> subprocess.Popen[bytes]:
    """Start a command, as the caller where there is one."""
    env = dict(environment) if caller is None else caller.environment(environment)
    try:
        if caller is None:
            return subprocess.Popen(argv, env=env)
        return subprocess.Popen(
            argv, env=env, user=caller.uid, group=caller.gid, extra_groups=caller.groups
        )
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        fix = None
        if isinstance(error, FileNotFoundError) and os.sep not in argv[0]:
            fix = "give its whole path: sudo has its own PATH"
        raise LaunchError(f"it cannot be executed: {why}", argv[0], fix) from error


_DEAF = (*_HEARD, signal.SIGTSTP)


class Guardian:
    """Waits from now on."""

    def __init__(self, after_death: Callable[[], None]) -> None:
        parent = os.pidfd_open(os.getpid())  # before the fork: nobody can take the number meanwhile
        ours, theirs = os.pipe()
        listening, deaf = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            with contextlib.suppress(BaseException):
                os.close(theirs)
                os.close(listening)
                _watch(parent, ours, deaf, after_death)
            os._exit(0)
        for fd in (parent, ours, deaf):
            os.close(fd)
        os.read(listening, 1)  # nothing is changed before it can no longer be reached
        os.close(listening)
        self._word = theirs

    def dismiss(self) -> None:
        """Send it home, and wait until it has gone."""
        with contextlib.suppress(OSError):
            os.write(self._word, b"x")
        os.close(self._word)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def _watch(parent: int, word: int, deaf: int, after_death: Callable[[], None]) -> None:
    os.setsid()
    for number in _DEAF:
        signal.signal(number, signal.SIG_IGN)
    os.chdir("/")
    os.write(deaf, b"x")
    os.close(deaf)
    waiting = select.poll()
    for fd in (parent, word):
        waiting.register(fd, select.POLLIN)
    ready = {fd for fd, _ in waiting.poll()}
    if word in ready and os.read(word, 1):
        return  # all is well
    after_death()
