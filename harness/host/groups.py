"""Finds this process's own cgroup of version 2, and what may be done below it.

Source: Documentation/admin-guide/cgroup-v2.rst of Linux; systemd's "Control Group APIs and
Delegation" for what a delegated group is.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from .tree import Tree

_OWN = re.compile(r"^0::(/.*)$", re.MULTILINE)
_ESCAPED = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnGroup:
    """The cgroup of version 2 in which this process is.

    Attributes
    ----------
    path : str
        Its folder, as below ``/``.
    top : bool
        Whether it is the root of all groups, which alone may hold processes and hand down
        controllers at once.
    controllers : tuple of str
        Those that it may hand down to groups below it.
    handed_down : tuple of str
        Those that it does hand down.
    others : int or None
        How many other processes are in it; None when that cannot be read.
    writable : bool
        Whether this process may make groups below it and move itself there.
    """

    path: str
    top: bool
    controllers: tuple[str, ...]
    handed_down: tuple[str, ...]
    others: int | None
    writable: bool


def own_group(tree: Tree) -> OwnGroup | None:
    """Give the own cgroup; None where no version 2 is mounted, or where it cannot be seen from here."""
    own = _OWN.search(tree.text("/proc/self/cgroup") or "")
    if own is None:
        return None
    for root, place in _mounts(tree):
        inside = _below(own.group(1), root)
        if inside is None:
            continue
        path = (place + inside).rstrip("/") or "/"
        if not tree.exists(f"{path}/cgroup.procs"):
            continue
        return _described(tree, path)
    return None


def _described(tree: Tree, path: str) -> OwnGroup:
    processes = tree.text(f"{path}/cgroup.procs")
    needed = (path, f"{path}/cgroup.procs", f"{path}/cgroup.subtree_control")
    return OwnGroup(
        path=path,
        top=not tree.exists(f"{path}/cgroup.type"),  # every other group has one
        controllers=tuple((tree.text(f"{path}/cgroup.controllers") or "").split()),
        handed_down=tuple((tree.text(f"{path}/cgroup.subtree_control") or "").split()),
        others=None if processes is None else max(0, len(processes.split()) - 1),
        writable=all(os.access(tree.path(one), os.W_OK) for one in needed),
    )


def _mounts(tree: Tree) -> list[tuple[str, str]]:
    """List the mounts of cgroup version 2: (the group that is mounted, where)."""
    found = []
    for line in (tree.text("/proc/self/mountinfo") or "").splitlines():
        # such as: 36 35 0:30 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate
        before, _, after = line.partition(" - ")
        words = before.split()
        if len(words) > 4 and after.split(" ", 1)[0] == "cgroup2":
            found.append((_plain(words[3]), _plain(words[4]).rstrip("/")))
    return found


def _plain(name: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 8)), name)


def _below(group: str, root: str) -> str | None:
    """Give the place of a group within a mount that begins at `root`; None outside of it."""
    if ".." in group.split("/"):
        return None
    if root == "/":
        return group
    return group[len(root) :] if f"{group}/".startswith(f"{root}/") else None
