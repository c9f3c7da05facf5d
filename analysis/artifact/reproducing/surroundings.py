"""What computes here, beside what computed when a bundle was packed: told as surroundings, not as a result.

A page says under which Python and with which libraries it was made. Under others it says others; that is
no number of the trial which came out differently.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...version import VERSION
from ..contents import Contents

__all__ = ["OtherVersion", "Surroundings", "other_versions"]

_FACTS = {"Python": ("judged under", "Python {}")}  # how a page calls it and writes it
_GAP = rb"(?:<[^<>]*>|[|&{}\s])+"  # between a fact's name and its text
# a gap between two cells of a table; one blank is none: "numpy 2.4.6" is part of a text
_CELLS = re.compile(rb"[<|&]|\s\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherVersion:
    """A program or a library whose version here is another one; None where there is none."""

    name: str
    packed: str | None
    here: str | None


def other_versions(contents: Contents) -> tuple[OtherVersion, ...]:
    """Give what the bundle was packed with and is of another version here, or not there."""
    from importlib.metadata import PackageNotFoundError, version

    found = []
    if contents.tool_version != VERSION:
        found.append(OtherVersion(name="fairtrial", packed=contents.tool_version, here=VERSION))
    if contents.python != platform.python_version():
        here = platform.python_version()
        found.append(OtherVersion(name="Python", packed=contents.python, here=here))
    for name, packed in sorted(contents.libraries.items()):
        try:
            installed: str | None = version(name)
        except (PackageNotFoundError, ValueError):
            installed = None
        if installed != packed:
            found.append(OtherVersion(name=name, packed=packed, here=installed))
    return tuple(found)


class Surroundings:
    """The versions that a page may state otherwise.

    Parameters
    ----------
    others : sequence of OtherVersion
        Those that differ.
    """

    def __init__(self, others: Sequence[OtherVersion]) -> None:
        self._stated: dict[str, tuple[str, str]] = {}  # fact -> as it was packed, as it is here
        for one in others:
            if one.name != "fairtrial" and one.packed is not None and one.here is not None:
                fact, text = _FACTS.get(one.name, (one.name, "{}"))
                self._stated[fact] = text.format(one.packed), text.format(one.here)

    def explain(self, stored: Any, fresh: Any) -> bool:  # noqa: ANN401 - JSON
        """Tell whether two objects of a document are the same fact, with the version of each side."""
        if not (isinstance(stored, dict) and isinstance(fresh, dict)):
            return False
        name = stored.get("name")
        stated = self._stated.get(name) if isinstance(name, str) else None
        return stated is not None and (
            stored == {"name": name, "text": stated[0]}
            and fresh == {"name": name, "text": stated[1]}
        )

    def as_packed(self, fresh: bytes) -> tuple[bytes, list[tuple[str, str]]]:
        """Give a page as it would state these facts where the bundle was packed, and what was changed."""
        changed: list[tuple[str, str]] = []
        for fact, (packed, here) in self._stated.items():
            name, text = (re.escape(one.encode()) for one in (fact, here))

            def state(
                found: re.Match[bytes], told: tuple[str, str, str] = (fact, packed, here)
            ) -> bytes:
                fact, packed, here = told
                if not _CELLS.search(found[2]):
                    return found[0]
                changed.append((f"{fact}: {packed}", f"{fact}: {here}"))
                return found[1] + found[2] + packed.encode()

            pattern = rb"(?<![\w.-])(" + name + rb")(" + _GAP + rb")" + text + rb"(?![\w.-])"
            fresh = re.sub(pattern, state, fresh)
        return fresh, changed
