"""Foreign bytes and texts: unpacked within limits, decoded, cleaned of what terminals and logs add."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from ..data import Decimal, Layout
from ..errors import AnalysisError, UsageError

__all__ = ["MOST_BYTES", "STDIN", "Opened", "most_of", "open_foreign", "readable"]

STDIN = "-"
MOST_BYTES = 2 * 1024**3  # unpacked
_RATIO = 200  # unpacked to packed; above _SMALL only
_SMALL = 16 * 1024**2
_CHUNK = 1024**2
_SIP = 512  # bytes of a .zst file at a time: at most some 16 MiB unpacked
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe without a writer must not wait
_HEAD = 65536
_SHOWN = 400  # characters of a path in a message
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gz"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zst"),
)
_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Opened:
    """A foreign file, unpacked.

    Attributes
    ----------
    source : str
        As it was given; ``-`` for the standard input.
    name : str
        The file's name without the ending of a packer; "" for the standard input.
    path : Path or None
        Where it lies; None for the standard input. A folder has no bytes.
    data : bytes
        The unpacked content.
    encoding, layout, decimal : str or None
        As ``--encoding``, ``--layout`` and ``--decimal`` said.
    memo : dict
        What was parsed of it already: several formats ask for the same.
    """

    source: str
    name: str
    path: Path | None
    data: bytes
    encoding: str | None = None
    layout: Layout | None = None
    decimal: Decimal | None = None
    memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def is_folder(self) -> bool:
        """Whether a folder was named."""
        return self.path is not None and self.path.is_dir()

    @property
    def stem(self) -> str:
        """The file's name without its ending, by which a variant is called."""
        return readable(self.name.rpartition(".")[0] or self.name) or "standard input"

    def head(self) -> str:
        """Give the beginning as text, for who asks whether it knows the format; never an error."""
        start = self.data[:_HEAD]
        encoding = self.encoding or _marked(start) or "utf-8"
        try:
            return _clean(start.decode(encoding, errors="replace"))
        except LookupError:
            return ""

    def text(self) -> str:
        """Give the whole content as text, without colour codes, one newline a line.

        A mark at the beginning decides between UTF-8, UTF-16 and UTF-32; without one it is UTF-8,
        else cp1252, unless ``--encoding`` says otherwise.

        Raises
        ------
        AnalysisError
            If it is no text.
        UsageError
            If the encoding is not known.
        """
        chosen = self.encoding or _marked(self.data)
        for encoding in (chosen,) if chosen else ("utf-8", "cp1252"):
            try:
                return _clean(self.data.decode(encoding))
            except UnicodeDecodeError as error:
                failed = error
            except LookupError:
                raise UsageError(
                    f"there is no encoding {encoding!r}",
                    self.source,
                    "name one such as utf-8, utf-16, cp1252 or latin-1",
                ) from None
        raise AnalysisError(
            f"the file is no text: byte {failed.start} does not fit {failed.encoding}",
            self.source,
            "save a text as UTF-8, or import it with its encoding: fairtrial import --encoding E",
        )


def open_foreign(
    source: str,
    *,
    encoding: str | None = None,
    layout: Layout | None = None,
    decimal: Decimal | None = None,
) -> Opened:
    """Open a file, a folder, or ``-``, and unpack it.

    .gz, .bz2, .xz and .zst are known by their first bytes, not by their names.

    Parameters
    ----------
    source : str
        The path, or ``-``.
    encoding, layout, decimal : str, optional
        What the person said of a text: its encoding, what one benchmark is in a bare table, and the
        decimal sign of its numbers.

    Raises
    ------
    UsageError
        If it is not there, cannot be read, or needs a library that is not installed.
    AnalysisError
        If it is damaged, holds more than `MOST_BYTES`, or more than 200 times what it is packed to.
    """
    path, name, data = _found(source)
    return Opened(
        source=source,
        name=name,
        path=path,
        data=_unpacked(data, source),
        encoding=encoding,
        layout=layout,
        decimal=decimal,
    )


def _found(source: str) -> tuple[Path | None, str, bytes]:
    """Give where it lies, its name, and what is in it, packed or not."""
    if source == STDIN:
        return None, "", _limited(sys.stdin.buffer, source, packed=None)
    path = Path(source)
    try:
        if path.is_dir():
            return path, path.name, b""
        with os.fdopen(os.open(path, _READ), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(
                    "this is no regular file",
                    source,
                    "name a file or a folder, or - and pipe it in",
                )
            data = _limited(file, source, packed=None)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        shown = source if len(source) <= _SHOWN else f"{source[: _SHOWN - 1]}…"
        raise UsageError(
            f"the file cannot be read: {reason}", shown, "name a file, a folder, or - for stdin"
        ) from None
    name = path.name
    if packer_of(data) is not None:
        name = re.sub(r"\.(gz|bz2|xz|zst|zstd)$", "", name, flags=re.IGNORECASE)
    return path, name, data


def readable(path: str) -> str:
    """Give a path as text: bytes of it that are no UTF-8 become escapes."""
    return path.encode("utf-8", "backslashreplace").decode()


def packer_of(data: bytes) -> str | None:
    """Tell by the first bytes how the data are packed."""
    return next((name for magic, name in _MAGIC if data.startswith(magic)), None)


def most_of(packed: int) -> int:
    """Give how many bytes a packed file may become."""
    return min(MOST_BYTES, max(_SMALL, packed * _RATIO))


def _unpacked(data: bytes, source: str) -> bytes:
    packer = packer_of(data)
    if packer is None:
        return data
    openers: dict[str, Callable[[BinaryIO], IO[bytes]]] = {
        "gz": lambda file: cast("IO[bytes]", gzip.GzipFile(fileobj=file)),
        "bz2": bz2.open,
        "xz": lzma.open,
        "zst": lambda file: _zstd(file, source),
    }
    try:
        with openers[packer](io.BytesIO(data)) as file:
            return _limited(file, source, packed=len(data))
    except (OSError, EOFError, lzma.LZMAError, zlib.error, ValueError) as error:
        raise AnalysisError(
            f"the .{packer} file is damaged or cut off: {error}",
            source,
            "pack it again, or copy it again",
        ) from None


def _zstd(file: BinaryIO, source: str) -> BinaryIO:
    try:
        import zstandard
    except ImportError:
        raise UsageError(
            "a .zst file needs the library zstandard, which is not installed",
            source,
            "pip install 'fairtrial[zstd]', or unpack it with 'zstd -d'",
        ) from None
    return cast("BinaryIO", _Zstd(file, zstandard))


class _Zstd(io.RawIOBase):
    """Frames of zstd one after the other; the library's own stream takes a cut off one for a whole."""

    def __init__(self, file: BinaryIO, library: Any) -> None:  # noqa: ANN401 - a module
        self._file, self._library = file, library
        self._frame: Any = None
        self._left = b""

    def read(self, size: int = -1) -> bytes:
        """Give some bytes; b"" at the end."""
        del size  # a little of the packed file gives a bounded part of the unpacked one
        while True:
            data = self._left or self._file.read(_SIP)
            self._left = b""
            if not data:
                if self._frame is not None:
                    raise ValueError("its last frame does not end")
                return b""
            if self._frame is None:
                self._frame = self._library.ZstdDecompressor().decompressobj()
            try:
                found: bytes = self._frame.decompress(data)
            except self._library.ZstdError as error:
                raise ValueError(str(error)) from None
            if self._frame.eof:
                self._left, self._frame = self._frame.unused_data, None
            if found:
                return found


def _limited(file: IO[bytes], source: str, *, packed: int | None) -> bytes:
    """Read all of it, unless it is too much."""
    parts: list[bytes] = []
    size = 0
    most = MOST_BYTES if packed is None else most_of(packed)
    while chunk := file.read(_CHUNK):
        size += len(chunk)
        if size > most:
            told = f"more than {most // 1024**2} MiB"
            if packed is not None and most < MOST_BYTES:
                told += f", over {_RATIO} times its packed size"
            raise AnalysisError(
                f"the file holds too much: {told}", source, "split it, or unpack it yourself"
            )
        parts.append(chunk)
    return b"".join(parts)


def _marked(data: bytes) -> str | None:
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)


def _clean(text: str) -> str:
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
