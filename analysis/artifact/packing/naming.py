"""The files that a campaign names: by its resolved form, which every trial stores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

__all__ = ["Named", "named_files"]

Role = Literal["program", "word", "input"]
_BEHIND_OPTION = re.compile(r"-[A-Za-z](.+)")
_MAKERS = {  # programs that read a file which they are not told
    "make": ("GNUmakefile", "makefile", "Makefile"),
    "gmake": ("GNUmakefile", "makefile", "Makefile"),
    "cmake": ("CMakeLists.txt",),
    "ninja": ("build.ninja",),
    "meson": ("meson.build", "meson_options.txt"),
    "cargo": ("Cargo.toml", "Cargo.lock"),
    "go": ("go.mod", "go.sum"),
    "mvn": ("pom.xml",),
    "npm": ("package.json", "package-lock.json"),
}


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Named:
    """A path that a campaign names.

    Attributes
    ----------
    path : str
        As it is written; relative to `cwd`.
    cwd : str
        The folder that it starts at, relative to the campaign's, or absolute.
    role : {"program", "word", "input"}
        A program that is executed; a word of a command line, which need not be a path at all; a
        file that is read (standard input, an expected output, an input).
    """

    path: str
    cwd: str = "."
    role: Role


def named_files(campaign: Mapping[str, Any]) -> set[Named]:
    """List what a resolved campaign names, once each.

    Parameters
    ----------
    campaign : mapping
        ``campaign`` of ``resolved.json``. Parts of another shape name nothing.
    """
    return set(_all(campaign))


def _all(campaign: Mapping[str, Any]) -> Iterator[Named]:
    for cell in _objects(campaign.get("cells")):
        cwd = _text(cell.get("cwd"))
        yield from _of_command(cell.get("command"), cwd)
        for hook in (*_objects(cell.get("before")), *_objects(cell.get("after"))):
            yield from _of_command(hook, cwd)
        expected = cell.get("expect")
        wanted = expected.get("stdout_file") if isinstance(expected, dict) else None
        inputs = cell.get("inputs")
        for path in (cell.get("stdin"), wanted, *(inputs if isinstance(inputs, list) else ())):
            if isinstance(path, str):
                yield Named(path=path, role="input")
    for build in _objects(campaign.get("builds")):
        for step in _objects(build.get("steps")):
            yield from _of_command(step, _text(build.get("cwd")))
    hooks = campaign.get("hooks")
    if isinstance(hooks, dict):
        for kind in ("setup", "cleanup", "finish"):
            for hook in _objects(hooks.get(kind)):
                yield from _of_command(hook, ".")


def _of_command(command: object, cwd: str) -> Iterator[Named]:
    argv = command.get("argv") if isinstance(command, dict) else None
    words = [word for word in argv if isinstance(word, str)] if isinstance(argv, list) else []
    if not words:
        return
    if "/" in words[0]:
        yield Named(path=words[0], cwd=cwd, role="program")
    for told in _MAKERS.get(PurePosixPath(words[0]).name, ()):
        yield Named(path=told, cwd=cwd, role="word")
    for word in words[1:]:
        for part in _parts(word):
            yield Named(path=part, cwd=cwd, role="word")


def _parts(word: str) -> Iterator[str]:
    """Give what of an argument may be a path: all of it, what stands behind ``=``, ``-I`` or ``@``."""
    yield word
    if "=" in word:
        yield word.partition("=")[2]
    behind = _BEHIND_OPTION.fullmatch(word)
    if behind is not None:
        yield behind.group(1)
    if word.startswith("@"):
        yield word[1:]


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else "."
