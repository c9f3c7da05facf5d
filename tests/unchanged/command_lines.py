"""How the table of sources and options becomes the list of command lines."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

# What is written for a room of the product: the commands in which it acts.
ROOMS = {
    "artifact": ("bundle", "reproduce"),
    "campaign": ("init", "run", "submit"),
    "cli": ("help", "errors"),
    "data": ("verdict", "merge"),
    "fleet": ("submit", "cancel", "status"),
    "host": ("doctor", "tune"),
    "importers": ("import", "export", "hpt", "resample"),
    "launch": ("run", "compare"),
    "plan": ("plan", "calibrate", "study"),
    "plots": ("plot", "report"),
    "trial": ("run", "compare"),
}
ALWAYS_MEASURE = ("doctor", "tune")  # whatever is asked of them, they look at the host
QUIET_HOST = "hosts/vm_no_cpufreq"  # where the load of this machine is not found and told


@dataclass(frozen=True, kw_only=True)
class Line:
    """One command line, or several in one folder with ``&&`` between them.

    `inputs` are copied into its folder before; `measured` says that its numbers differ each time;
    `host` is the input with the files of a model host, of tests/hosts.
    """

    text: str
    words: tuple[str, ...]
    inputs: tuple[str, ...]
    room: str
    stdin: str | None = None
    measured: bool = False
    environment: tuple[tuple[str, str], ...] = ()
    host: str | None = None

    @property
    def key(self) -> str:
        """A short name that no other line has, and that stays when others are added."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:10]


def line(text: str) -> Line:
    """Read one line of the list.

    ``@NAME`` is an input, ``+NAME`` one that is copied and not named to the command, ``<NAME`` is the
    standard input, ``NAME=VALUE`` before the command a variable, ``HOST=NAME`` a model host; ``~`` in front: its numbers are measured.
    """
    words: list[str] = []
    inputs: list[str] = []
    stdin: str | None = None
    environment: list[tuple[str, str]] = []
    host: str | None = None
    for word in shlex.split(text.removeprefix("~")):
        if not words and re.match(r"[A-Z_]+=", word):
            name, _, value = word.partition("=")
            if name == "HOST":
                host = f"hosts/{value}"
                inputs.append(host)
            else:
                environment.append((name, value))
        elif word[:1] in {"@", "+"} and word[1:2].isalpha():
            inputs.append(word[1:].partition(":")[0])
            words += [word[1:]] if word[0] == "@" else []
        elif word[:1] == "<":
            inputs.append(word[1:])
            stdin = word[1:]
        else:
            words.append(word)
    command = words[0] if words else ""
    room = command if command.isidentifier() or command == "speedup-test" else "help"
    if "--help" in words:
        room = "help"
    measured = text.startswith("~") or (host is None and command in ALWAYS_MEASURE)
    if measured and room != "help":
        host = host or QUIET_HOST
        inputs.append(host)
    return Line(
        text=text,
        words=tuple(words),
        inputs=tuple(dict.fromkeys(inputs)),
        room=room,
        stdin=stdin,
        measured=measured,
        environment=tuple(environment),
        host=host,
    )


def expanded(pattern: str, *choices: Iterable[str]) -> Iterator[str]:
    """Put each combination of choices, one of each, into the places ``{}`` of the pattern."""
    for chosen in product(*choices):
        yield " ".join(pattern.format(*chosen).split())


def of_room(lines: Iterable[Line], only: str) -> list[Line]:
    """Take the lines of a command, of a room of the product, or whose text matches a pattern."""
    wanted = {name for part in only.split(",") for name in ROOMS.get(part, (part,))}
    found = [one for one in lines if one.room in wanted]
    return found or [one for one in lines if re.search(only, one.text)]
