"""Names of files in a bundle: which may stand in one, and which cannot be unpacked beside each other."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

LONGEST = 1024  # bytes of a path
_LONGEST_PART = 255  # bytes of a part of it, on every common file system
# and what turns the direction of the letters behind it, so that another name is seen
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_HALF = re.compile("[\ud800-\udfff]")  # of a pair: bytes that were no UTF-8
_DRIVE = re.compile("[A-Za-z]:")


def fault_of_name(name: str) -> str | None:
    """Say why a path must not stand in a bundle; None where it may."""
    parts = name.split("/")
    if not name:
        return "a name is empty"
    if name.startswith("/") or _DRIVE.match(name):
        return "a name is an absolute path"
    if ".." in parts:
        return "a name leads out of its folder (..)"
    if name.endswith("/"):
        return "an entry is a folder; a bundle holds files only"
    if "" in parts or "." in parts:
        return "a name has an empty part, or a single dot"
    if "\\" in name:
        return "a name holds a backslash, which some systems take for a separator"
    if _HALF.search(name):
        return "a name is not UTF-8"
    if _CONTROL.search(name):
        return "a name holds a control character"
    if len(name.encode()) > LONGEST or any(len(part.encode()) > _LONGEST_PART for part in parts):
        return "a name is too long to be unpacked"
    return None


def folded(name: str) -> str:
    """Give what two names share that some file systems take for one: letters' case, and accents' form."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


class TakenNames:
    """The names that are taken already, as file systems see them that fold letters' case."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}  # folded name -> as it is written
        self._folders: dict[str, tuple[str, str]] = {}  # folded -> as it is written, a file in it
        self._parents: set[str] = set()  # folders with a file, as they are written

    def clash(self, name: str) -> str | None:
        """Take a name; where it cannot be unpacked beside an earlier one, give that instead.

        Two names, or two folders of them, that differ in case only, and a file where another has a
        folder.
        """
        key = folded(name)
        other = self._files.get(key)
        if key in self._folders:
            other = self._folders[key][1]
        parent = name.rpartition("/")[0]
        new = [] if parent in self._parents else list(_folders(name))
        for folder in new:
            folder_key = folded(folder)
            other = other or self._files.get(folder_key)
            written, inside = self._folders.get(folder_key, (folder, ""))
            if written != folder:
                other = other or inside
        if other is None:
            self._files[key] = name
            self._parents.add(parent)
            for folder in new:
                self._folders.setdefault(folded(folder), (folder, name))
        return other


def _folders(name: str) -> Iterator[str]:
    place = name.find("/")
    while place > 0:
        yield name[:place]
        place = name.find("/", place + 1)
