"""The one way to a screen: every text is cleaned on its way out, whoever wrote it.

Build logs, hooks, manifests, names in files of others: a terminal obeys what stands in them. So the
command line hands its commands no stream but a `Printer`. What colours or moves a line itself
does that with `Printer.paint`, or
on the stream `beneath`, and cleans what it takes from elsewhere with `Printer.clean`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import TextIO, cast

from ..announcing import away
from ..errors import StoreError

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
            cleaned.encode(self.encoding)
        except UnicodeEncodeError:
            return cleaned.translate(_PLAIN)
        except LookupError:  # an encoding of another kind; it deals with texts by itself
            pass
        return cleaned

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

    @property
    def encoding(self) -> str:
        """How characters become bytes."""
        return getattr(self.beneath, "encoding", None) or "utf-8"

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
