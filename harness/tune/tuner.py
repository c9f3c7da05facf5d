"""From a look at the host to settings that are changed, and back: what the command `tune` does."""

from __future__ import annotations

import contextlib
import os
import pwd
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Literal, NamedTuple

from analysis.errors import UsageError
from analysis.record.manifest import utc_now

from ..errors import HostError, LaunchError
from ..host.activity import Host
from ..host.cgroups import remove_left
from ..host.checks import check_before, check_between
from ..host.placement import choose_cpus
from ..host.state import Situation, Tree, format_cpus
from ..trial.folder import cpus_in_use
from .journal import FOLDER, Desk, Story
from .proposal import (
    BRANCHES,
    CGROUPS,
    PARTITION,
    CpusetPartition,
    Proposal,
    Scene,
    SettingChange,
    Wish,
    plain_value,
    propose,
    setting_of,
)

# --- Changes settings and puts them back: each is in the journal before it is written, and read back after.


class Knobs:
    """The settings of the host below `root`: the real one, or a planted tree."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root
        self.tree = Tree(root)

    def shown(self, path: str) -> str | None:
        """Give what a setting of the list shows, in its one spelling; None when it shows none."""
        return plain_value(path, self.tree.text(path))

    def write(self, path: str, value: str) -> None:
        """Write a value as one piece, as the kernel wants it."""
        fd = os.open(self.tree.path(path), os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.write(fd, f"{value}\n".encode())
        finally:
            os.close(fd)

    def make_folder(self, path: str) -> None:
        """Make a cgroup."""
        self.tree.path(path).mkdir(mode=0o755)

    def remove_folder(self, path: str) -> None:
        """Remove a cgroup: the kernel takes its files with it."""
        self.tree.path(path).rmdir()


Result = Literal["changed", "already", "did not take", "refused", "gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What became of one change; `shows` is what the kernel showed after it, None when nothing."""

    item: str
    path: str
    result: Result
    before: str | None = None
    after: str | None = None
    shows: str | None = None
    why: str | None = None

    def __str__(self) -> str:
        what = {
            "changed": f"{self.before} -> {self.after}",
            "already": f"is {self.after} by now",
            "gone": "is gone",
            "did not take": f"did not take {self.after}, shows {self.shows}",
            "refused": f"refused{f': {self.why}' if self.why else ''}",
        }
        return f"{self.item:<10} {self.path}: {what[self.result]}"


def apply_change(change: SettingChange, number: int, knobs: Knobs, desk: Desk) -> Applied:
    """Change one setting."""
    before = knobs.shown(change.path)
    made = partial(Applied, item=change.item, path=change.path, before=before, after=change.after)
    if before is None:
        return made(result="gone")
    if before == change.after:
        return made(result="already")
    journaled = {"item": change.item, "path": change.path, "before": before, "after": change.after}
    desk.add({"change": number, **journaled})
    why = None
    try:
        knobs.write(change.path, change.after)
    except OSError as error:
        why = error.strerror
    shows = knobs.shown(change.path)
    desk.add({"took": number, "shows": shows})
    if shows == change.after:  # whatever the write said
        return made(result="changed", shows=shows, why=why)
    return made(result="refused" if why else "did not take", shows=shows, why=why)


def apply_partition(partition: CpusetPartition, knobs: Knobs, desk: Desk) -> Applied:
    """Make the isolated partition; what of it was made and is of no use is taken back at once."""
    cpus = format_cpus(partition.cpus)
    desk.add({"partition": cpus, "home": partition.home, "branch": partition.branch})
    shows, why = None, None
    try:
        if partition.branch:
            knobs.write(BRANCHES, "+cpuset")
        knobs.make_folder(PARTITION)
        knobs.write(f"{PARTITION}/cpuset.cpus", cpus)
        knobs.write(f"{PARTITION}/cpuset.cpus.partition", "isolated")
    except OSError as error:
        why = error.strerror
    else:
        shows = knobs.tree.text(f"{PARTITION}/cpuset.cpus.partition")
    if shows == "isolated":
        result: Result = "changed"
    else:  # "isolated invalid (reason)": the kernel says why
        result = "refused" if why else "did not take"
        remove_partition(knobs, partition.home, branch=partition.branch)
    return Applied(
        item="partition",
        path=PARTITION,
        result=result,
        before="none",
        after=f"isolated, cpus {cpus}",
        shows=shows,
        why=why,
    )


def remove_partition(knobs: Knobs, home: str, *, branch: bool) -> str | None:
    """Give the CPUs back and remove the cgroup; say what is left of it, None when nothing is."""
    problem = None
    if knobs.tree.exists(PARTITION):
        with contextlib.suppress(OSError):
            knobs.write(f"{PARTITION}/cpuset.cpus.partition", "member")
        for pid in (knobs.tree.text(f"{PARTITION}/cgroup.procs") or "").split():
            move(knobs, pid, home)
        remove_left(knobs.tree.path(PARTITION))  # of a fairtrial that was killed inside
        try:
            knobs.remove_folder(PARTITION)
        except OSError as error:
            problem = f"{PARTITION} cannot be removed: {error.strerror}"
    # a cgroup that has come to have CPUs of its own would lose them: then it stays, and does no harm
    names = knobs.tree.names(CGROUPS) or ()
    needed = any(knobs.tree.text(f"{CGROUPS}/{name}/cpuset.cpus") for name in names)
    if branch and problem is None and not needed:
        with contextlib.suppress(OSError):
            knobs.write(BRANCHES, "-cpuset")
    return problem


def move(knobs: Knobs, pid: str, home: str) -> None:
    """Move a process back home or, where that is gone, to the root."""
    steps = home.split("/")
    places = ["/sys/fs/cgroup/cgroup.procs"]
    if home.startswith("/") and ".." not in steps:
        places.insert(0, f"/sys/fs/cgroup{home.rstrip('/')}/cgroup.procs")
    for procs in places:
        with contextlib.suppress(OSError):
            knobs.write(procs, pid)
            return


Fate = Literal["restored", "as before", "left alone", "gone", "refused", "not believed"]


class Restored(NamedTuple):
    """What became of one setting; `text` says it in words."""

    path: str
    fate: Fate
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What became of all of them.

    `rebooted`: the host was restarted since, which reset them all. `damaged` lines of the journal could
    not be read.
    """

    settings: tuple[Restored, ...] = ()
    rebooted: bool = False
    damaged: int = 0

    @property
    def settled(self) -> bool:
        """Whether nothing is left to be put back, so that the journal may go."""
        return not self.damaged and not any(
            one.fate in {"refused", "not believed"} for one in self.settings
        )

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return {
            "undone": [one._asdict() for one in self.settings],
            "rebooted": self.rebooted,
            "damaged": self.damaged,
            "settled": self.settled,
        }


def undo(story: Story, knobs: Knobs, desk: Desk) -> Undone:
    """Put everything back, and remove the journal when nothing is left to do."""
    boot = knobs.tree.text("/proc/sys/kernel/random/boot_id")
    then = story.head.get("boot")
    if boot is not None and then is not None and boot != then:
        desk.clear()
        return Undone(rebooted=True)
    shown = {f"{line['took']}": line.get("shows") for line in story.lines if "took" in line}
    done = []
    for line in reversed(story.lines):
        if "change" in line:
            done.append(_put_back_one(line, shown.get(f"{line['change']}"), knobs))
        elif "partition" in line:
            done.append(_partition(line, knobs))
    undone = Undone(settings=tuple(done), damaged=story.damaged + (not story.head))
    if undone.settled:
        desk.clear()
    elif story.kept:  # the doctor would take it for settings that are meant to stay
        desk.go_on()
        desk.add({"undo_failed": True})
    return undone


def _put_back_one(line: Mapping[str, Any], shown: object, knobs: Knobs) -> Restored:
    path, before, after = (line.get(key) for key in ("path", "before", "after"))
    if not (isinstance(path, str) and isinstance(before, str) and isinstance(after, str)):
        return Restored(f"{path}", "not believed", "the journal's line is none of ours")
    if setting_of(path) is None:
        text = f"{path} is not a setting that tune changes: it is left alone"
        return Restored(path, "not believed", text)
    if plain_value(path, before) != before:
        text = f"{path} does not take a value such as {before[:40]!r}: it is left alone"
        return Restored(path, "not believed", text)
    now = knobs.shown(path)
    if now is None and not knobs.tree.exists(path):
        return Restored(path, "gone", f"{path} is gone: there is nothing to put back")
    if now == before:
        return Restored(path, "as before", f"{path} is {before}, as before")
    if now not in (after, shown):
        text = f"{path} was changed by someone else to {now or 'what cannot be read'}: left alone"
        return Restored(path, "left alone", text)
    why = "it shows another value afterwards"
    try:
        knobs.write(path, before)
    except OSError as error:
        why = error.strerror or "the kernel refused"
    shows = knobs.shown(path)
    if shows == before:
        return Restored(path, "restored", f"{path}: {now} -> {before}")
    return Restored(path, "refused", f"{path} is still {shows}, and should be {before}: {why}")


def _partition(line: Mapping[str, Any], knobs: Knobs) -> Restored:
    home = line.get("home")
    there = knobs.tree.exists(PARTITION)
    problem = remove_partition(
        knobs, home if isinstance(home, str) else "/", branch=line.get("branch") is True
    )
    if problem is not None:
        return Restored(PARTITION, "refused", problem)
    if not there:
        return Restored(PARTITION, "as before", f"there is no {PARTITION}, as before")
    return Restored(PARTITION, "restored", f"{PARTITION}: its CPUs are given back")


# --- Executes a command for the one who called, not for root; a guardian puts the settings back if tuning dies. It is
# forked before the first change, in a session of its own, and holds its parent's pidfd.


_OTHERS = (
    *("SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND", "SUDO_PS1", "SUDO_PROMPT"),
    *("PKEXEC_UID", "DOAS_USER"),
)  # of who became root


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
        kept = {key: value for key, value in given.items() if key not in _OTHERS}
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
    named = [name for name in ("SUDO_UID", "PKEXEC_UID", "DOAS_USER") if name in environment]
    if os.geteuid() != 0 or not named:
        return None
    name, account = named[0], None
    if name == "DOAS_USER":
        try:
            account = pwd.getpwnam(environment[name])
        except (KeyError, ValueError):
            raise _nobody(name, environment) from None
        uid = account.pw_uid
    else:
        uid = _number(environment, name)
        with contextlib.suppress(KeyError):
            account = pwd.getpwuid(uid)
    if name == "SUDO_UID" and "SUDO_GID" in environment:
        gid = _number(environment, "SUDO_GID")
    elif account is None:
        raise UsageError(f"the user that {name} names has no account, so no group either", name)
    else:
        gid = account.pw_gid
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
            if signal.getsignal(number) is not signal.SIG_IGN:  # who ignored it (nohup) meant it
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


LOOK_S = 0.5
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """What was done. `code` is how the command ended, `undone` what was put back at the end.

    Both are None where there was none; `stopped` is the signal that ended it before its time.
    """

    applied: tuple[Applied, ...] = ()
    undone: Undone | None = None
    code: int | None = None
    stopped: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return {
            "applied": [asdict(one) for one in self.applied],
            "undone": None if self.undone is None else self.undone.to_dict(),
            "command_exit": self.code,
            "stopped": self.stopped,
        }


def survey(wish: Wish, root: Path = Path("/"), *, look_s: float | None = None) -> Proposal:
    """Look at the host, as the doctor does, and say what would be changed."""
    look_s = LOOK_S if look_s is None else look_s
    with Host(root) as host:
        first = host.read()
        usable, isolated = first.usable, first.isolated
        plan = choose_cpus(wish.setting, first.topology, usable=usable, isolated=isolated)
        measured = plan.targets or first.usable
        before = host.counters(measured)
        time.sleep(look_s)
        state, after = host.read(measured), host.counters(measured)
        situation = Situation(state=state, counters=after, cpus=measured)
        findings = {finding.check: finding for finding in check_before(situation)}
        if look_s:
            for moving in check_between(before, after, look_s, cpus=measured):
                if moving.status in {"warn", "fail"}:
                    findings[moving.check] = moving
    tree, busy = Knobs(root).tree, cpus_in_use()
    scene = Scene(state=state, tree=tree, findings=findings, plan=plan, wish=wish, busy=busy)
    return propose(scene)


def tune(
    proposal: Proposal,
    root: Path = Path("/"),
    *,
    argv: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    caller: Caller | None = None,
    tell: Tell = lambda _line: None,
    knobs: Knobs | None = None,
) -> Tuned:
    """Change what was proposed; with a command, execute it and put everything back."""
    given = os.environ if environment is None else environment

    def say(line: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # its terminal may be gone
            tell(line)

    if not proposal.count:
        with Signals() as signals:
            return Tuned(code=signals.wait(spawn(argv, given, caller)) if argv else None)
    if root == Path("/"):
        refuse_to_spoil(cpus_in_use())  # once more: somebody may have thought about it for long
    knobs = knobs or Knobs(root)
    with contextlib.closing(Desk(root)) as desk, Signals() as signals:
        boot = knobs.tree.text("/proc/sys/kernel/random/boot_id")
        started = {"pid": os.getpid(), "started": utc_now(), "kept": not argv}
        desk.begin({"boot": boot, **started})
        try:
            guardian = Guardian(lambda: _after_death(desk, knobs, say))
        except OSError as error:
            desk.clear()
            what = f"the guardian cannot be started, so nothing is changed: {error.strerror}"
            raise HostError(what) from error
        code = None
        keeps = False
        try:
            applied = tuple(_applied(proposal, knobs, desk, signals, say))
            if signals.number is None:
                desk.add({"finished": len(applied)})
                if argv:
                    made = [one.item for one in applied if one.result == "changed"]
                    inside = proposal.partition if "partition" in made else None
                    code = signals.wait(_spawned(argv, given, caller, knobs, inside))
            keeps = not argv and signals.number is None
        finally:
            undone = None if keeps else _put_back(desk, knobs, say)
            guardian.dismiss()
    stopped = signals.number if code is None else None
    return Tuned(applied=applied, undone=undone, code=code, stopped=stopped)


def refuse_to_spoil(busy: tuple[int, ...] | None) -> None:
    """Refuse to change anything while trials measure."""
    if busy:
        raise HostError(
            f"a trial measures on CPU {', '.join(map(str, busy))} of this host: a change of "
            "settings in the middle would spoil it",
            "/proc/net/unix",
            "wait until it ends: fairtrial status",
        )


def _applied(
    proposal: Proposal, knobs: Knobs, desk: Desk, signals: Signals, tell: Tell
) -> Iterator[Applied]:
    steps = [partial(apply_change, one, k) for k, one in enumerate(proposal.changes)]
    if proposal.partition is not None:
        steps.append(partial(apply_partition, proposal.partition))
    for step in steps:
        if signals.number is None:
            one = step(knobs, desk)
            tell(str(one))
            yield one


def _spawned(
    argv: Sequence[str],
    environment: Mapping[str, str],
    caller: Caller | None,
    knobs: Knobs,
    partition: CpusetPartition | None,
) -> subprocess.Popen[bytes]:
    if partition is None:
        return spawn(argv, environment, caller)
    procs, us = f"{PARTITION}/cgroup.procs", str(os.getpid())
    try:
        knobs.write(procs, us)
    except OSError as error:
        what = f"nothing may be moved into the isolated partition: {error.strerror}"
        raise HostError(what, procs) from error
    try:
        return spawn(argv, environment, caller)
    finally:
        move(knobs, us, partition.home)


def _put_back(desk: Desk, knobs: Knobs, tell: Tell) -> Undone | None:
    story = desk.read()
    if story is None:
        return None
    undone = undo(story, knobs, desk)
    for line in lines_of(undone):
        tell(line)
    return undone


def _after_death(desk: Desk, knobs: Knobs, tell: Tell) -> None:
    tell("tune died: its guardian puts the settings back")
    _put_back(desk, knobs, tell)
    desk.close()


def lines_of(undone: Undone) -> list[str]:
    """Say what was put back, and what not."""
    if undone.rebooted:
        return ["the host was restarted since then: all its settings are back"]
    lines = [f"{one.fate:<11} {one.text}" for one in undone.settings]
    if undone.damaged:
        lines.append("some lines of the journal cannot be read: what they name is not put back")
    return lines


def undo_tuning(root: Path = Path("/"), *, knobs: Knobs | None = None) -> Undone | None:
    """Put back what a tune changed that is kept, or that died; None where there is nothing."""
    if not os.path.lexists(root / FOLDER.lstrip("/")):
        return None
    with contextlib.closing(Desk(root, make=False)) as desk:
        story = desk.read()
        return None if story is None else undo(story, knobs or Knobs(root), desk)
