"""What the machine and the account that pack are called: programs may have printed it."""

from __future__ import annotations

import contextlib
import os
import platform
import pwd
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .scrubber import Scrubber, is_telling

__all__ = ["Known", "arguments_of", "known_here"]

_LONG_ARGUMENT = 16  # characters of a boot argument that is looked for by itself: root=UUID=...


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Names that a packer knows; what the files do not hold is of no account.

    Attributes
    ----------
    users, homes, hosts : tuple of str
        The account, its home folders, the machine's name.
    machines, boots : tuple of str
        Its machine id and the id of this boot.
    values : tuple of str
        Values of environment variables, and boot arguments.
    """

    users: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    boots: tuple[str, ...] = ()
    values: tuple[str, ...] = ()

    def tell(self, scrubber: Scrubber, texts: list[str]) -> None:
        """Let a scrubber learn those that some text holds: others must not change the bundle."""
        folded = [text.casefold() for text in texts]

        def held(names: tuple[str, ...]) -> Iterator[str]:
            for name in names:
                if name and any(name.casefold() in text for text in folded):
                    yield name

        for name in held(self.users):
            scrubber.learn("user", name)
        for path in held(self.homes):
            scrubber.learn_home(path)
        for name in held(self.hosts):
            scrubber.learn("host", name)
        for name in held(self.machines):
            scrubber.learn("host", name, sort="machine")
        for name in held(self.boots):
            scrubber.learn("host", name, sort="boot")
        for value in held(self.values):
            scrubber.learn("env", value, sort="value")


def arguments_of(boot: str) -> tuple[str, ...]:
    """Give the boot arguments as a whole, and those that are long enough to tell a machine."""
    return (boot, *(one for one in boot.split() if len(one) >= _LONG_ARGUMENT))


def known_here() -> Known:
    """Give what this machine, this account and this environment are called."""
    users = [os.environ.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER")]
    homes = [os.environ.get("HOME", "")]
    with contextlib.suppress(KeyError):
        account = pwd.getpwuid(os.getuid())
        users.append(account.pw_name)
        homes.append(account.pw_dir)
    values = [value for value in os.environ.values() if is_telling(value)]
    values += arguments_of(_read("/proc/cmdline"))
    machines = [_read(path) for path in ("/etc/machine-id", "/var/lib/dbus/machine-id")]
    return Known(
        users=_each(users),
        homes=_each(home for home in homes if home.strip("/")),
        hosts=_each([platform.node()]),
        machines=_each(one for one in machines if one != "uninitialized"),
        boots=_each([_read("/proc/sys/kernel/random/boot_id")]),
        values=tuple(sorted(_each(values), key=lambda value: (-len(value), value))),
    )


def _each(names: Iterator[str] | list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return ""
