"""The one way to a screen, and to a file that a command writes: every text for a screen is cleaned on its way out.

Build logs, hooks, manifests, names in files of others: a terminal obeys what stands in them. So the
command line hands its commands no stream but a `Printer`. What colours or moves a line itself
does that with `Printer.paint`, or
on the stream `beneath`, and cleans what it takes from elsewhere with `Printer.clean`.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TextIO, cast

from ..announcing import away
from ..errors import StoreError, UsageError

# Controls (all but line ends and tabs), marks that turn the direction of writing, halves of pairs.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
# What is written for our own signs where they cannot be: one column each, as they are.
_PLAIN = str.maketrans({"…": "~", "·": "-", "µ": "u", "±": "~", "×": "x"})


def clean(text: str) -> str:
    """Write out what a terminal would obey, such as an escape; lines end as they did."""
    return _OBEYED.sub(_written_out, text.replace("\r\n", "\n"))


def _written_out(found: re.Match[str]) -> str:
    number = ord(found.group())
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


class Printer:
    """A stream for text that cleans what is written to it."""

    def __init__(self, beneath: TextIO, *, must: bool = False) -> None:
        self.beneath = beneath
        self._must = must

    def write(self, text: str) -> int:
        """Clean a text and write it, in place of the line that says what is under way."""
        away()
        self.paint(self.clean(text))
        return len(text)

    def paint(self, text: str) -> None:
        """Write a text with codes of our own, in which nothing foreign is left to clean."""
        with self._writing():
            self.beneath.write(text)

    def clean(self, text: str) -> str:
        """Write out what a terminal would obey, and in plain signs what this stream cannot show."""
        cleaned = clean(text)
        try:
            cleaned.encode(getattr(self.beneath, "encoding", None) or "utf-8")
        except UnicodeEncodeError:
            return cleaned.translate(_PLAIN)
        except LookupError:  # an encoding of another kind; it deals with texts by itself
            pass
        return cleaned

    def writelines(self, lines: Iterable[str]) -> None:
        """Write lines that end by themselves; errors as for `write`."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Bring to its place what was written; errors as for `write`."""
        with self._writing():
            self.beneath.flush()

    def isatty(self) -> bool:
        """Tell whether a person is watching."""
        return self.beneath.isatty()

    def fileno(self) -> int:
        """Give the descriptor."""
        return self.beneath.fileno()

    @property
    def takes_bytes(self) -> bool:
        """Tell whether bytes may go through as they are: a terminal would obey them."""
        return not self.isatty() and hasattr(self.beneath, "buffer")

    def write_bytes(self, data: bytes) -> None:
        """Write bytes as they are, whole, where the stream takes them; errors as for `write`."""
        away()
        with self._writing():
            self.beneath.flush()
            self.beneath.buffer.write(data)
            self.beneath.buffer.flush()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            if self._must:
                raise
        except OSError as error:
            if self._must:
                what = f"the result cannot be written: {error.strerror}"
                fix = "send it where there is room; what was measured before is kept in its trial"
                raise StoreError(what, "standard output", fix) from error


def printer_on(stream: object) -> Printer:
    """Give the printer that a stream is, or one on it."""
    return stream if isinstance(stream, Printer) else Printer(cast("TextIO", stream))


def write_json(data: object, out: TextIO | Printer) -> None:
    """Write JSON types as a text that a person can read too."""
    import json

    chunks = json.JSONEncoder(indent=2, allow_nan=False).iterencode(data)
    while part := "".join(itertools.islice(chunks, 4096)):
        out.write(part)
    out.write("\n")


# --- Files that commands write.
#
# A text is written next to its place and takes it when it is complete, so that a full disk or a killed
# command leaves what was there. What is no regular file, such as ``/dev/stdout`` or a pipe, is written
# as it is.


STDOUT = ("-", "/dev/stdout")  # opened anew, a file behind the second would lose what it holds
_HALVES = "backslashreplace"  # of surrogate pairs, from file names that are no UTF-8
_MOST = 0o666  # what a new file may be at most; the umask says what it is
_ROWS = "measurements.jsonl"
_OF_A_TRIAL = {_ROWS, "manifest.json", "campaign.yaml", "resolved.json", "import.json"} | {
    f"{name}.jsonl" for name in ("environment", "plan", "findings", "builds")
}


def check_file(path: Path) -> None:
    """Refuse a file that cannot be written, before anything is computed."""
    try:
        place = _place(path)
        if place.is_dir():
            raise UsageError("this is a folder, not a file", str(path), "name a file in it")
        if place.exists() and not place.is_file():
            return
        check_folder(place.parent, named=path)
        if place.exists() and not os.access(place, os.W_OK):
            raise _refused(path, os.strerror(errno.EACCES))
    except OSError as error:  # such as a name too long
        raise _refused(path, error.strerror) from None


def check_files(*named: str | None, read: Iterable[str] = ()) -> None:
    """Refuse files that cannot be written, into which two texts would go, or that are `read` themselves."""
    paths = [Path(one) for one in named if one not in (None, *STDOUT)]
    for path in paths:
        check_file(path)
        if paths.count(path) > 1:
            raise UsageError("two files would be written here", str(path), "name one for each")
        if path.is_file() and any(os.path.exists(one) and path.samefile(one) for one in read):  # noqa: PTH110 - it raises nothing
            raise UsageError("this file is read: it would be replaced", str(path), "name another")


def check_folder(folder: Path, *, named: Path | None = None) -> None:
    """Refuse a folder that is none, or that no file can be made in."""
    if not os.path.isdir(folder):  # noqa: PTH112 - a name too long is none
        what = f"there is no folder {str(folder)!r}"
        fix = "make it, or name another place"
        raise UsageError(what, str(named or folder), fix)
    if not os.access(folder, os.W_OK | os.X_OK):
        what = f"nothing may be written in the folder {str(folder)!r}"
        fix = "name another place"
        raise UsageError(what, str(named or folder), fix)


def write_file(path: Path, content: str | bytes) -> None:
    """Write a text as UTF-8, or bytes, taking the place of a file that is there."""
    data = content.encode("utf-8", _HALVES) if isinstance(content, str) else content
    try:
        place = _place(path)
        if place.exists() and not place.is_file():
            place.write_bytes(data)
        else:
            _replace(place, data)
    except OSError as error:
        raise _refused(path, error.strerror) from None


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write several files into a folder, by their names."""
    for name, text in texts.items():
        write_file(folder / name, text)


def _place(path: Path) -> Path:
    """Follow links: the file that is meant is replaced, not the link; refuse one that a trial is made of."""
    place = Path(os.path.realpath(path))
    if place.name in _OF_A_TRIAL and (place.parent / _ROWS).exists():
        raise UsageError("this file is a part of a trial", str(path), "name another file")
    return place


def _replace(place: Path, data: bytes) -> None:
    import tempfile

    mask = os.umask(0)
    os.umask(mask)
    mode = stat.S_IMODE(place.stat().st_mode) if place.exists() else _MOST & ~mask
    file = tempfile.NamedTemporaryFile(  # noqa: SIM115 - it is closed before it takes its place
        dir=place.parent, prefix=".", suffix=".part", delete=False
    )
    try:
        with file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), mode)
        os.replace(file.name, place)  # noqa: PTH105 - both are plain names
    except BaseException:
        Path(file.name).unlink(missing_ok=True)
        raise


def _refused(path: Path, why: str | None) -> UsageError:
    return UsageError(f"the file cannot be written: {why}", str(path), "name another file")
