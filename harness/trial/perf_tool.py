"""Linux's perf: whether it is there, and what it may sample on this host for this user.

Sources: perf_event_open(2), Documentation/admin-guide/sysctl/kernel.rst (perf_event_paranoid), capabilities(7).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from analysis.record.profiles import SEEN

from ..errors import HostError
from ..host.state import PARANOID
from ..host.tree import Tree

MOST_RATE = "/proc/sys/kernel/perf_event_max_sample_rate"
_STATUS = "/proc/self/status"
_PERFMON, _SYS_ADMIN = 1 << 38, 1 << 21
# the largest perf_event_paranoid that lets an ordinary user sample so
_USER_LEVEL, _KERNEL_LEVEL = 2, 1
_TRIED_HZ = 99
_REFUSED = "not-seen: the kernel lets perf sample the user's side alone, as in a container"
_PATIENCE_S = 30.0
_INSTALL = (
    "install it: apt install linux-perf (Debian), apt install linux-tools-$(uname -r) (Ubuntu), "
    "dnf install perf (Fedora, RHEL)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """What the kernel lets this user sample: `kernel` is ``seen``, or ``not-seen: WHY``; `most_hz` the highest frequency."""

    kernel: str
    most_hz: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Perf:
    """A perf that was tried on this host.

    `event` is what it samples: ``cycles`` where a counter is there, else ``cpu-clock``. `kernel` is ``seen``, or
    ``not-seen: WHY``. `most_hz` is the highest frequency that the kernel takes, None where it does not say.
    """

    path: str
    version: str
    event: str
    kernel: str
    most_hz: int | None

    @property
    def selector(self) -> str:
        """The event as perf is asked for it: the user's side alone where the kernel's may not be seen."""
        return self.event if self.kernel == SEEN else f"{self.event}:u"

    def recording(self, data: Path, frequency_hz: int, chains: str | None) -> tuple[str, ...]:
        """Give the command that samples a program, which follows it, and all that it starts.

        It reads no settings of the user's, nothing goes to the cache of build ids, and nothing is waited for: without ``--no-bpf-event`` perf ends up to
        a second late. Times are those of CLOCK_MONOTONIC, as a launcher's.
        """
        graph = () if chains is None else ("--call-graph", _CHAINS[chains])
        asked = ("-e", self.selector, "-F", str(frequency_hz), "-k", "CLOCK_MONOTONIC", *graph)
        perf = ("env", f"PERF_CONFIG={os.devnull}", self.path, "record", *_PLAIN)
        return (*perf, *asked, "-o", str(data.absolute()), "--")

    def script(self, data: Path) -> tuple[str, ...]:
        """Give the command that writes what was sampled as lines, with what was lost and which processes began.

        No name is taken from the user's cache of build ids, so that an earlier record changes nothing.
        """
        fields = ("-F", "pid,tid,time,ip,sym,dso")
        shown = ("--ns", "--show-lost-events", "--show-task-events")
        cache = ("--buildid-dir", str(data.absolute().parent / "no-build-ids"))
        perf = (self.path, *cache, "script", "--no-inline")
        return (*perf, *shown, *fields, "-i", str(data.absolute()))


_PLAIN = ("-N", "-B", "--no-bpf-event")
_CHAINS = {"fp": "fp", "dwarf": "dwarf,16384"}


def plain_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Give variables with which perf reads no settings of the user's, and asks no server for symbols."""
    given = os.environ if environment is None else environment
    plain = {"LC_ALL": "C", "PERF_CONFIG": os.devnull, "DEBUGINFOD_URLS": "", "PAGER": "cat"}
    return {**given, **plain}


def permission_of(tree: Tree) -> Permission:
    """Read what the kernel lets this process sample.

    Raises
    ------
    HostError
        If that is nothing.
    """
    level = tree.number(PARANOID)
    if level is None:
        raise HostError(
            "this kernel shows no performance events: nothing can be sampled",
            PARANOID,
            "use a kernel with CONFIG_PERF_EVENTS, or name a machine that has one",
        )
    most = tree.number(MOST_RATE)
    if _is_capable(tree) or level <= _KERNEL_LEVEL:
        return Permission(kernel=SEEN, most_hz=most)
    if level > _USER_LEVEL:
        raise HostError(
            f"the kernel does not let you sample programs: perf_event_paranoid is {level}",
            PARANOID,
            f"sudo sysctl kernel.perf_event_paranoid={_USER_LEVEL}, or execute it as root",
        )
    why = f"perf_event_paranoid is {level}, and this process has no rights beyond it"
    return Permission(kernel=f"not-seen: {why}", most_hz=most)


def _is_capable(tree: Tree) -> bool:
    match = re.search(r"^CapEff:\s*([0-9a-f]+)", tree.text(_STATUS) or "", re.M)
    return match is not None and bool(int(match.group(1), 16) & (_PERFMON | _SYS_ADMIN))


def find_perf(tree: Tree | None = None) -> Perf:
    """Find perf and try what it samples: some 0.3 s. `tree` is the host's, asked for where it is not given.

    Raises
    ------
    HostError
        If there is no perf that works here; the fix says what to install, or to permit.
    """
    allowed = permission_of(tree or Tree(Path("/")))
    path = shutil.which("perf")
    if path is None:
        raise HostError("there is no perf, which 'why' needs", "PATH", _INSTALL)
    version = _version(path)
    with tempfile.TemporaryDirectory(prefix="fairtrial-perf-") as folder:
        data = Path(folder) / "perf.data"
        problem = ""
        for event in ("cycles", "cpu-clock"):
            perf = Perf(
                path=path,
                version=version,
                event=event,
                kernel=allowed.kernel,
                most_hz=allowed.most_hz,
            )
            failed, _ = _asked([*perf.recording(data, _TRIED_HZ, None), "true"])
            problem = failed or problem
            taken, sides = _sampled(path, data) if failed is None else ("", "")
            if taken == event:
                user_only = "u" in sides and perf.kernel == SEEN
                return replace(perf, kernel=_REFUSED) if user_only else perf
    raise HostError(
        f"perf does not sample a program here: {problem or 'it says nothing of why'}",
        path,
        "try it: perf record -e cpu-clock -- true; in a container: docker run --cap-add PERFMON, with a "
        "seccomp profile that allows perf_event_open",
    )


def _version(path: str) -> str:
    failed, said = _asked([path, "version"])
    found = re.search(r"perf version (\S+)", said)
    if failed is not None or found is None:
        what = f"the perf that is there does not start: {failed or 'it names no version'}"
        raise HostError(what, path, _INSTALL)
    return found.group(1)


def _sampled(path: str, data: Path) -> tuple[str, str]:
    """Give the event of a file, which may be one that perf fell back to, and its modifiers."""
    _, said = _asked([path, "evlist", "-i", str(data)])
    names = [line.strip() for line in said.splitlines() if not line.startswith(("#", "dummy"))]
    event, _, sides = (names[0] if names else "").partition(":")
    return event, sides


def _asked(command: Sequence[str]) -> tuple[str | None, str]:
    """Execute perf; give why it failed, None where it did not, and what it wrote."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
            env=plain_environment(),
            cwd="/",
        )
    except OSError as error:
        return error.strerror or str(error), ""
    except subprocess.TimeoutExpired:
        return f"it did not end within {_PATIENCE_S:g} s", ""
    said = done.stdout.decode("utf-8", "replace")
    if done.returncode == 0:
        return None, said
    return complaint(done.stderr) or f"exit code {done.returncode}", said


def complaint(errors: bytes) -> str:
    """Give the first line that says something of what perf wrote about a failure."""
    lines = (line.strip() for line in errors.decode("utf-8", "replace").splitlines())
    return next((line.rstrip(".:") for line in lines if line.strip("- ") not in {"", "Error:"}), "")
