"""What the kernel refused, in words: what, where, how to fix."""

from __future__ import annotations

import errno
import os

from ..campaign import Isolation
from ..errors import HostError, LaunchError
from .exchange import Request

_LIMITED = (errno.ENOMEM, errno.EAGAIN, errno.EBADF, errno.EMFILE)
_LINKED = (errno.ELOOP, errno.ENOTDIR)  # of a file, of its folder
_SPAWN_FIXES = {
    errno.ENOENT: ("not found, or the interpreter in its first line is missing", "check the path"),
    errno.EACCES: ("not executable by you", "chmod +x it, or check the folders' permissions"),
    errno.ENOEXEC: (
        "no program that the kernel can execute",
        "give a script a '#!' line, or ask for a shell by name: {shell: ...}",
    ),
    errno.E2BIG: ("called with arguments and environment that are too long", "shorten them"),
}


def spawn_failure(argv0: str, path: str, number: int) -> LaunchError:
    """Say why a program could not be started."""
    what, fix = _SPAWN_FIXES.get(number, (f"not started: {os.strerror(number)}", None))
    return LaunchError(f"'{argv0}' is {what}", path, fix)


def not_started(request: Request, stage: str, number: int) -> LaunchError:
    """Say why a launcher did not execute a program: what it was doing then."""
    if stage == "spawn" and request.limits and number in _LIMITED:
        return LaunchError(
            f"'{request.argv[0]}' is not started: {os.strerror(number)}",
            "isolation.limits",
            "raise the limits: they hold for the first steps of the new process too",
        )
    if stage == "spawn":
        return spawn_failure(request.argv[0], request.path, number)
    if stage in {"stdout", "stderr"} and number in _LINKED:
        place = request.stdout if stage == "stdout" else request.stderr
        return LaunchError(
            f"the {stage} of '{request.argv[0]}' would be written through a symbolic link",
            str(place),
            "look who put it into the trial's folder (perhaps the program that is measured), "
            "remove it, then continue with --resume",
        )
    places = {
        "stdin": request.stdin,
        "stdout": request.stdout,
        "stderr": request.stderr,
        "cwd": request.cwd,
        "limits": "isolation.limits",
        "cgroup": "isolation.containment",
    }
    return LaunchError(
        f"the {stage} of '{request.argv[0]}' could not be set: {os.strerror(number)}",
        str(places[stage]),
    )


def not_permitted(
    setting: str, number: int, isolation: Isolation, cpus: tuple[int, ...] | None
) -> HostError:
    """Say which setting was refused, and how to have it permitted."""
    reason = os.strerror(number)
    if setting == "scheduling":
        return HostError(
            f"scheduling class '{isolation.scheduling}' is not permitted: {reason}",
            "isolation.scheduling",
            "execute as root, or raise 'rtprio' in /etc/security/limits.conf, or use 'other'",
        )
    if setting == "nice":
        return HostError(
            f"nice {isolation.nice} is not permitted: {reason}",
            "isolation.nice",
            "execute as root, or raise 'nice' in /etc/security/limits.conf, or drop the setting",
        )
    if setting == "cpus":
        return HostError(
            f"the CPUs {cpus} cannot be used: {reason}",
            "isolation.cpus",
            "choose CPUs that are online and that this process may use (taskset -p $$ shows them)",
        )
    if setting == "cgroup":
        return HostError(
            f"the cgroup of a run cannot be used: {reason}",
            "isolation.containment",
            "see 'fairtrial doctor' (check cgroup), or use 'containment: none', without limits of "
            "memory and pids",
        )
    return HostError(f"the setting '{setting}' is not permitted: {reason}", f"isolation.{setting}")
