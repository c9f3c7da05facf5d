"""What a campaign may limit for all processes of a run together: ``isolation.limits.memory``, ``.pids``."""

from __future__ import annotations

from collections.abc import Collection, Mapping

# What to do where there is no group to be had.
DELEGATED = (
    "execute it in a group of its own: systemd-run --user --scope -p Delegate=yes fairtrial run ... "
    "(as root without --user)"
)
# The names that a campaign has for them, each that of the controller that holds it.
GROUP_LIMITS = ("memory", "pids")


def settings(limits: Mapping[str, int]) -> tuple[tuple[str, bytes], ...]:
    """Give what is written into a group at once: (file, text). It limits nobody."""
    if "memory" not in limits:
        return ()
    # Without the second the run would go on from the disk, and without the first the kernel would
    # kill one of its processes, and leave others that wait for it.
    return ("memory.oom.group", b"1"), ("memory.swap.max", b"0")


def limiting(limits: Mapping[str, int]) -> tuple[tuple[str, bytes], ...]:
    """Give what limits a group: (file, text)."""
    return tuple((f"{name}.max", b"%d" % limits[name]) for name in GROUP_LIMITS if name in limits)


def missing_for(limits: Mapping[str, int], controllers: Collection[str]) -> str | None:
    """Give the first limit that nothing here can hold; None if there is none."""
    return next((name for name in GROUP_LIMITS if name in limits and name not in controllers), None)
