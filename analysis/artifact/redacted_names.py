"""Names to be taken out of a bundle: replaced by placeholders, the same name always by the same one."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import pwd
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from ..errors import UsageError
from ..words import PLACEHOLDER, placeholder_of

Kind = Literal["user", "host", "paths", "env"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_FIX = "write --redact user,host,paths,env, or name one: --redact user=jane,host=lab07"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redactions:
    """What is to be taken out.

    `kinds` in their own order; `named` holds names that were given with their kind, because nothing
    that is packed says that they are such.
    """

    kinds: tuple[Kind, ...]
    named: tuple[tuple[Kind, str], ...] = ()


def wanted_of(text: str) -> Redactions:
    """Read the argument of ``--redact``: kinds with commas between, each perhaps with ``=NAME``."""
    found: dict[Kind, None] = {}
    named: list[tuple[Kind, str]] = []
    for part in text.split(","):
        word, equals, name = part.strip().partition("=")
        kind = next((one for one in KINDS if one == word.strip()), None)
        if kind is None:
            what = f"--redact knows {', '.join(KINDS)}, and not {word.strip()!r}"
            raise UsageError(what, None, _FIX)
        found[kind] = None
        if equals:
            name = name.strip()
            if kind == "env":
                raise UsageError("env takes no name: all variables are meant", part, _FIX)
            if not name or (kind == "paths" and not (name.startswith("/") and name.strip("/"))):
                what = "is empty" if not name else "is no absolute path of a folder"
                raise UsageError(f"the name behind {kind}= {what}", part, _FIX)
            named.append((kind, name))
    return Redactions(kinds=tuple(kind for kind in KINDS if kind in found), named=tuple(named))


_MOST = 500  # names that are looked for; a program may write any number of paths
_TAGGED = ("machine", "boot")
_SHORTEST = 4  # characters of a name that is looked for in texts
# what machines and accounts are called everywhere: such a name is replaced in its own field only
_COMMON = frozenset(
    """admin administrator agent ansible bench benchmark benchmarks build builder centos ci circleci
    cloud cluster compute container control core data database debian default desktop developer docker
    ec2-user fedora github gitlab guest home host hosts image jenkins kernel laptop linux local
    localdomain localhost login machine master node nobody none null office performance podman postgres
    prod root runner runs sample server service session shared slurm student system target test tester
    testing tests time travis ubuntu unknown user users vagrant variant virtual virtualbox vm wall work
    worker workstation""".split()  # noqa: SIM905 - a table
)
_HOME = re.compile(  # begins with its slash, which is found fast; also as in -I/home/jane
    r"/(?:(?<![\w.~-]/)|(?<=(?<!\w)-[A-Za-z]/))"
    r"(?:(?:home|Users)/(?P<user>[^/\s:;,'\"()<>|\\]+)|root(?![\w.-]))"
)
_HOMES = ("/home/", "/users/", "/root")
_SHORTEST_VALUE = 6  # characters of a variable's value that is looked for in texts
_EVERYWHERE = re.compile(
    r"[\d.,:+-]+|[a-z_-]{1,19}|(?:[A-Za-z]{1,3}(?:_[A-Z]{2})?\.)(?:UTF-?8|utf-?8)|[a-z]{2}_[A-Z]{2}"
    r"|(?:x86|amd64|arm|aarch|i\d86|ppc|s390|riscv|mips)[\w-]*|xterm[\w-]*|(?i:true|false)"
)
_PART = r"[^/\s:;,'\"()<>|\\]+/"  # of a path, with the slash behind it
_HASH = 7  # characters of a commit that is found inside of words too
_LONG = 8  # characters of a value that is found inside of words too, as in -pSECRET
_SYSTEM = frozenset("bin boot dev etc lib lib32 lib64 libx32 proc run sbin sys usr".split())  # noqa: SIM905


@dataclass(frozen=True, slots=True, kw_only=True)
class _Name:
    """A name, what stands for it, and whether texts are searched for it."""

    kind: Kind
    text: str
    placeholder: str
    searched: bool


class Scrubber:
    """Knows names, and takes them out of fields and texts."""

    def __init__(self, kinds: Iterable[Kind], kept: Iterable[str], tag: str = "0" * 8) -> None:
        self._tag = tag
        self._kinds = frozenset(kinds)
        self._kept = frozenset(name for name in kept if name)
        self._words = {name.casefold() for name in self._kept}
        self._names: dict[tuple[Kind, str], _Name] = {}
        self._folders: dict[str, str] = {}
        self._users: dict[str, re.Pattern[str]] = {}  # -> a path that ends with it
        self._numbers: Counter[str] = Counter()
        self._pattern: re.Pattern[str] | None = None
        self._stands: dict[str, _Name] = {}
        self._needles: tuple[str, ...] = ()
        self._replaced: Counter[Kind] = Counter()
        self._left: Counter[tuple[str, str]] = Counter()

    # ---- what is known

    def learn(
        self, kind: Kind, text: str, *, sort: str | None = None, like: str | None = None
    ) -> None:
        """Take note of a name; `sort` is what its placeholder calls it, such as ``machine``.

        `like` is the placeholder of another name of the same thing.
        """
        text = unicodedata.normalize("NFC", text.strip())
        if kind == "user" and self._is_distinct(text):
            home = rf"(?<![\w.~-])/(?:{_PART})*?{re.escape(text)}(?![\w.-])"
            self._users[text] = re.compile(home)
        if kind not in self._kinds or not text or _is_placeholder(text):
            return
        key = (kind, _key(kind, text))
        if key not in self._names:
            self._names[key] = _Name(
                kind=kind,
                text=text,
                placeholder=like or self._next(sort or kind),
                searched=sort != "hash"
                and self._is_distinct(text)
                and (kind != "env" or is_telling(text)),
            )
            self._pattern = None
        if kind == "host" and sort is None and "." in text and not re.fullmatch(r"[\d.]+", text):
            # what the machine calls itself
            self.learn("host", text.partition(".")[0], like=self._names[key].placeholder)

    def learn_folder(self, path: str) -> None:
        """Take note of a folder of a person or a project; one that every system has is none."""
        plain = path.rstrip("/")
        first, *rest = plain.strip("/").split("/")
        if "paths" not in self._kinds or not plain.startswith("/") or first in _SYSTEM or not rest:
            return
        if _HOME.match(plain) is None and "redacted-" not in plain:
            self.learn_home(plain, "folder")

    def learn_home(self, path: str, sort: str = "home") -> None:
        """Take note of a home folder, wherever it lies, or of another `sort` of folder."""
        plain = path.rstrip("/")
        if "paths" in self._kinds and plain.startswith("/") and plain not in self._folders:
            self._folders[plain] = f"/{self._next(sort)}"
            self._pattern = None

    def learn_homes(self, text: str) -> None:
        """Take note of the home folders that a text names, and of whose they are."""
        if "paths" in self._kinds:
            for user, home in self._users.items():
                for match in home.finditer(text) if user in text else ():
                    if _HOME.match(match[0]) is None and "redacted-" not in match[0]:
                        self.learn_home(match[0])
        for match in _HOME.finditer(text):
            if len(self._names) + len(self._folders) >= _MOST and match[0] not in self._folders:
                self.leave("paths", f"more than {_MOST:,} names; further home folders are left")
                return
            if match["user"] is not None:
                self.learn("user", match["user"])
            self.learn_home(match[0])

    def _next(self, sort: str) -> str:
        self._numbers[sort] += 1
        return placeholder_of(sort, self._numbers[sort], self._tag if sort in _TAGGED else None)

    def _is_distinct(self, text: str) -> bool:
        """Tell whether a name is worth looking for outside of its own fields."""
        plain = text.casefold()
        return (
            len(text) >= _SHORTEST
            and plain not in _COMMON
            and plain not in self._words
            and not re.fullmatch(r"[\d.]+", text)
        )

    # ---- what is taken out

    def field(self, kind: Kind, value: str, *, sort: str | None = None) -> str:
        """Give what stands for the value of a field that holds nothing but such a name."""
        if kind not in self._kinds or not value.strip() or _is_placeholder(value):
            return value
        self.learn(kind, value, sort=sort)
        self._replaced[kind] += 1
        text = unicodedata.normalize("NFC", value.strip())
        return self._names[kind, _key(kind, text)].placeholder

    def text(self, text: str) -> str:
        """Take all names that are looked for out of a text."""
        if not text or text in self._kept or not self.touches(text):
            return text
        self.learn_homes(text)
        if "user" in self._kinds and "paths" not in self._kinds:
            text = _HOME.sub(self._own_home, text)
        return self._compiled().sub(self._stand_in, text)

    def takes(self, kind: Kind) -> bool:
        """Tell whether names of a kind are taken out."""
        return kind in self._kinds

    def inside(self, value: str) -> str:
        """Give a value with the values that stand anywhere in it replaced, longer ones first."""
        known = [one for one in self._names.values() if one.kind == "env" and self._is_sought(one)]
        for one in sorted(known, key=lambda one: (-len(one.text), one.text)):
            value = value.replace(one.text, one.placeholder)
        return value

    def touches(self, text: str) -> bool:
        """Tell whether `text` may change it: a quick look, without regard to words."""
        self._compiled()
        folded = text.casefold()
        return any(needle in folded for needle in self._needles)

    def _is_sought(self, one: _Name) -> bool:
        """Tell whether texts are searched for a name; a path in a known folder goes with its folder."""
        return one.searched and not (
            one.kind == "env"
            and any(f"{one.text}/".startswith(f"{folder}/") for folder in self._folders)
        )

    def _own_home(self, match: re.Match[str]) -> str:
        if match["user"] is None:
            return match[0]
        return f"{match[0].removesuffix(match['user'])}{self.field('user', match['user'])}"

    def _compiled(self) -> re.Pattern[str]:
        if self._pattern is None:
            self._stands = {}
            begin = r"(?:(?<![\w.~/-])|(?<=(?<!\w)-[A-Za-z]))"  # of a path
            words = [(len(one), rf"{begin}{re.escape(one)}(?![\w.-])") for one in self._folders]
            searched = [one for one in self._names.values() if self._is_sought(one)]
            for name in self._kept:  # what the data call something may hold a name, and stays whole
                if any(_count(one.text, name) for one in searched):
                    words.append((len(name), _whole(name)))
            for one in searched:
                for spelled in _spellings(one.text):
                    self._stands[_key(one.kind, spelled)] = one
                    # a long value, or commit, is found inside of words too
                    least = {"env": _LONG, "paths": _HASH}.get(one.kind)
                    inside = least is not None and len(spelled) >= least
                    whole = re.escape(spelled) if inside else _whole(spelled)
                    words.append((len(spelled), f"(?i:{whole})" if one.kind == "host" else whole))
            words.sort(key=lambda word: (-word[0], word[1]))
            self._pattern = re.compile("|".join(text for _, text in words) or r"(?!)")
            found = [*self._folders, *(one for name in searched for one in _spellings(name.text))]
            self._needles = (*_HOMES, *dict.fromkeys(one.casefold() for one in found))
        return self._pattern

    def _stand_in(self, match: re.Match[str]) -> str:
        text = match[0]
        if text in self._folders:
            self._replaced["paths"] += 1
            return self._folders[text]
        one = self._stands.get(text) or self._stands.get(text.casefold())
        if one is None or text in self._kept:
            return text
        self._replaced[one.kind] += 1
        return one.placeholder

    # ---- what is reported

    def look(self, text: str, where: str, *, ours: bool = False) -> None:
        """Count the names that are left in a text; in one that is `ours`, common words are no names."""
        folded = text.casefold()
        for one in self._names.values():
            if ((ours or one.kind == "env") and not self._is_sought(one)) or not any(
                spelled.casefold() in folded for spelled in _spellings(one.text)
            ):
                continue
            whole = _count(one.text, text)
            if whole:
                self._left[where, one.placeholder] += whole
            inside = _count(one.text, text, inside=True) - whole if one.searched else 0
            if inside:
                self._left[where, f"{one.placeholder} inside of longer words"] += inside
        for folder, placeholder in self._folders.items():
            if folder in text:
                self._left[where, placeholder.lstrip("/")] += text.count(folder)

    def leave(self, where: str, what: str) -> None:
        """List something that nobody looked into."""
        self._left[where, what] = 0

    @property
    def replaced(self) -> dict[str, int]:
        """How often names of each kind were replaced."""
        return {kind: self._replaced[kind] for kind in sorted(self._kinds)}

    @property
    def left(self) -> tuple[str, ...]:
        """Where names were left, without saying them."""
        return tuple(
            f"{where}: {what}" + (f", {count} time{'s' * (count != 1)}" if count else "")
            for (where, what), count in sorted(self._left.items())
        )


def _key(kind: Kind, text: str) -> str:
    return text.casefold() if kind == "host" else text


def _is_placeholder(text: str) -> bool:
    return PLACEHOLDER.fullmatch(text.strip().removeprefix("/")) is not None


def is_telling(value: str) -> bool:
    """Tell whether the value of a variable is worth looking for outside of its own field.

    Not what stands everywhere: less than six characters, numbers, locales, processors, one or two words of
    lower case (``production``), folders that every system has.
    """
    plain = value.strip()
    return (
        len(plain) >= _SHORTEST_VALUE
        and _EVERYWHERE.fullmatch(plain) is None
        and not all(part == "" or _is_system(part) for part in plain.split(":"))
    )


def _is_system(path: str) -> bool:
    return path.startswith("/") and path.strip("/").partition("/")[0] in {*_SYSTEM, "opt", ""}


def _whole(word: str) -> str:
    return rf"(?<!\w){re.escape(word)}(?!\w)"


def _spellings(text: str) -> Iterator[str]:
    """Give the ways in which a name is written: composed, decomposed, escaped as in JSON."""
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
    yield from dict.fromkeys((*forms, *(json.dumps(one)[1:-1] for one in forms)))


def _count(name: str, text: str, *, inside: bool = False) -> int:
    """Count a name in a text, in whatever case: as a whole word, or anywhere."""
    return sum(
        len(re.findall(re.escape(spelled) if inside else _whole(spelled), text, re.IGNORECASE))
        for spelled in _spellings(name)
    )


_LONG_ARGUMENT = 16  # characters of a boot argument that is looked for by itself: root=UUID=...


# a name that a packer knows, and what its placeholder calls it; of paths it is a home folder
KnownName = tuple[Kind, str, str | None]


def learn_known(scrubber: Scrubber, known: Iterable[KnownName], texts: Iterable[str]) -> None:
    """Let a scrubber learn those names that some text holds: others must not change the bundle."""
    folded = [text.casefold() for text in texts]
    for kind, name, sort in known:
        if name and any(name.casefold() in text for text in folded):
            if kind == "paths":
                scrubber.learn_home(name)
            else:
                scrubber.learn(kind, name, sort=sort)


def arguments_of(boot: str) -> tuple[str, ...]:
    """Give the boot arguments as a whole, and those that are long enough to tell a machine."""
    return (boot, *(one for one in boot.split() if len(one) >= _LONG_ARGUMENT))


def known_here() -> list[KnownName]:
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
    named: tuple[tuple[Kind, Iterable[str], str | None], ...] = (
        ("user", users, None),
        ("paths", (home for home in homes if home.strip("/")), None),
        ("host", [platform.node()], None),
        ("host", (one for one in machines if one != "uninitialized"), "machine"),
        ("host", [_read("/proc/sys/kernel/random/boot_id")], "boot"),
        ("env", sorted(values, key=lambda value: (-len(value), value)), "value"),
    )
    return [(kind, name, sort) for kind, names, sort in named for name in dict.fromkeys(names)]


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return ""
