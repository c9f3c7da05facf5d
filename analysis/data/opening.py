"""Foreign files and folders opened: unpacked within limits, decoded, no link followed."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import copy
import csv
import gc
import gzip
import io
import itertools
import json
import lzma
import math
import os
import re
import stat
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar

from ..errors import AnalysisError, FairtrialError, StoreError, UsageError, library_needed
from ..record.manifest import COLUMNS_ASKED
from ..record.profiles import is_profiles
from ..record.trial_files import MANIFEST, MEASUREMENTS
from ..words import command_line, shorten
from .number_text import Decimal, Layout, number_in

STDIN = "-"
MOST_BYTES = 2 * 1024**3  # unpacked
_RATIO = 200  # unpacked to packed; above _SMALL only
_SMALL = 16 * 1024**2
_CHUNK = 1024**2
_SIP = 512  # bytes of a .zst file at a time: at most some 16 MiB unpacked
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe without a writer must not wait
_HEAD = 65536
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gz"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zst"),
    (b"LZIP\x01", "lz"),
)
_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")

_STAMP = re.compile(
    r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)? ?(?=[\s{}\[\]\"])",
    re.MULTILINE,
)
_TINY = re.compile(r"-\d{3}"), re.compile(r"[eE]-\d{3}")  # too small? the first is found fast
_TOKEN = 24
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_LONGEST = 400  # characters of a message
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Opened:
    """A foreign file, unpacked.

    `source`: As it was given; ``-`` for the standard input. `name`: The file's name without the
    ending of a packer. `path`: Where it lies; None for the standard input. `data`: The unpacked
    content; a folder has none. `columns`: The roles that a person gave columns of a table, by role; `keys`: what is to
    be the benchmark and the variant, where the file has such a column. `memo`: What was parsed of it: several formats ask for the same.
    """

    source: str
    name: str
    path: Path | None
    data: bytes
    encoding: str | None = None
    layout: Layout | None = None
    decimal: Decimal | None = None
    columns: Mapping[str, str] = field(default_factory=COLUMNS_ASKED.get)
    keys: Mapping[str, str] = field(default_factory=dict)
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
        if "head" not in self.memo:
            start = self.data[:_HEAD]
            encoding = self.encoding or _marked(start) or "utf-8"
            try:
                self.memo["head"] = _clean(start.decode(encoding, errors="replace"))
            except LookupError:
                self.memo["head"] = ""
        return str(self.memo["head"])

    def text(self) -> str:
        """Give the whole content as text, without colour codes, one newline a line.

        A mark at the beginning decides between UTF-8, UTF-16 and UTF-32; without one it is UTF-8,
        else cp1252, unless ``--encoding`` says otherwise.
        """
        chosen = self.encoding or _marked(self.data)
        for encoding in (chosen,) if chosen else ("utf-8", "cp1252"):
            try:
                return _clean(self.data.decode(encoding))
            except UnicodeDecodeError as error:
                failed = error
            except LookupError:
                fix = "name one such as utf-8, utf-16, cp1252 or latin-1"
                raise UsageError(f"there is no encoding {encoding!r}", self.source, fix) from None
        what = f"the file is not text: byte {failed.start} does not fit {failed.encoding}"
        fix = "save a text as UTF-8, or import it with its encoding: fairtrial import --encoding E"
        raise AnalysisError(what, self.source, fix)

    def fail(self, what: str, fix: str = "is the file damaged?", *, at: str = "") -> AnalysisError:
        """Make the error of a file that cannot be taken as it is."""
        where = f"{self.source}:{at}" if at.isdigit() else f"{self.source}, {at}" if at else None
        return AnalysisError(_cut(what), _cut(where or self.source), _cut(fix))

    def require(self, good: bool, what: str, fix: str = "is the file damaged?", *, at: str) -> None:  # noqa: FBT001 - a fact
        """Refuse a part of the file that is not as it must be."""
        if not good:
            raise self.fail(what, fix, at=at)

    def looks_like_json(self) -> bool:
        """Tell whether the content begins as JSON does, perhaps behind a log's time stamp."""
        return _STAMP.sub("", self.head().lstrip()[:200], count=1).lstrip()[:1] in ("{", "[")

    def structure(self) -> Any:  # noqa: ANN401 - any JSON
        """Give the parsed JSON for who asks whether it knows the format; None if it is none."""
        if self.is_folder or not self.looks_like_json():
            return None
        try:
            return self.json()
        except FairtrialError:
            return None

    def json(self) -> Any:  # noqa: ANN401 - any JSON
        """Parse the whole file as one JSON text, once; NaN and Infinity are read as such."""
        if "json" not in self.memo:
            try:
                self.memo["json"] = self._parsed()
            except FairtrialError as error:
                self.memo["json"] = error
        if isinstance(found := self.memo["json"], FairtrialError):
            raise copy.copy(found)  # who reads the file may say more
        return found

    def documents(self) -> Any:  # noqa: ANN401 - any JSON
        """Give the JSON, or the list of what stands on its lines."""
        if not self.text().lstrip().startswith("{") or isinstance(self.structure(), dict):
            return self.json()
        found = []
        for number, line in enumerate(self.text().split("\n"), 1):
            try:
                found += [json.loads(line)] if line.strip() else []
            except (ValueError, RecursionError) as error:
                what = f"the line is no JSON: {error}"
                raise self.fail(what, "write one object a line", at=f"{number}") from None
        return found

    def _parsed(self) -> Any:  # noqa: ANN401 - any JSON
        text = self.text()
        if text.lstrip()[:1].isdigit():
            text = _STAMP.sub("", text)
        try:
            # Tools write control characters into strings (JMH breaks its parameters into lines).
            tiny = "0" * 300 in text or all(one.search(text) for one in _TINY)
            value = json.loads(text, strict=False, parse_float=_not_too_small if tiny else None)
        except json.JSONDecodeError as error:
            rest = text[error.pos :].strip()
            what = f"it is no JSON: {error.msg} (column {error.colno})"
            literal = len(rest) < _TOKEN and rest[-1:] not in ("}", "]")  # a number, a literal
            if literal or error.msg.startswith("Unterminated string"):
                what = "the file is cut off: its JSON does not end"
            elif error.msg == "Extra data":
                what = "the file holds something behind its JSON: several results were joined?"
            fix = "give each result as a file of its own, whole"
            raise self.fail(what, fix, at=f"{error.lineno}") from None
        except (RecursionError, ValueError) as error:
            raise self.fail(f"the JSON cannot be read: {error}", "is it damaged?") from None
        try:
            if _HALF.search(text):  # no name in a result could be written with half a character
                json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            what = f"a text in it holds half a character ({error.object[error.start]!r})"
            raise self.fail(what, "write the file again, with names in UTF-8") from None
        return value

    def value(self, value: object, at: str, *, factor: float = 1.0) -> float:
        """Take a raw value: a finite number that is not negative; 0 is a value."""
        if isinstance(value, str) and value.lower().lstrip("+-") in ("nan", "inf", "infinity"):
            value = math.nan  # as tools write it whose JSON knows no such number
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.fail(f"{_shown(value)} is no number", at=at)
        try:
            # by the whole number, so that 9 ms are 0.009 s
            number = float(value) / round(1 / factor) if factor < 1 else float(value) * factor
        except OverflowError:
            number = math.inf
        if not math.isfinite(number) or number < 0:
            raise self.fail(
                f"the value {_shown(value)} is {'negative' if number < 0 else 'not a finite number'}",
                "take that result out, or measure again",
                at=at,
            )
        return number

    def values(
        self, values: Iterable[object], at: str, *, factor: float = 1.0
    ) -> tuple[float, ...]:
        """Take raw values as `value` does, each with its place."""
        given: list[Any] = list(values)
        plain = factor == 1 and {*map(type, given)} == {float}  # nearly always
        if plain and min(given) >= 0 and math.isfinite(sum(given)):
            return tuple(given)
        return tuple(
            self.value(value, f"{at}[{k}]", factor=factor) for k, value in enumerate(given)
        )

    @contextlib.contextmanager
    def parquet(self) -> Iterator[Callable[..., Any]]:
        """Give what opens the file as pyarrow's, where pyarrow is; a damaged file is refused."""
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError as error:
            fix = "pip install 'fairtrial[parquet]'"
            raise library_needed("a Parquet file", "pyarrow", error, self.source, fix=fix) from None
        try:
            yield lambda **how: parquet.ParquetFile(io.BytesIO(self.data), **how)
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            raise self.fail(f"it is no Parquet file: {error}", "copy the file again") from None

    def rows(
        self, reader: Iterator[Row], *, before: int = 0, fix: str = "is a quote open?"
    ) -> Iterator[Row]:
        """Give the rows of a CSV reader; `before` counts the lines above those that it reads."""
        try:
            yield from reader
        except csv.Error as error:
            # a reader of dicts counts behind the one that it reads with
            counting: Any = getattr(reader, "reader", reader)
            at = f"{before + counting.line_num}"
            raise self.fail(f"it is no CSV: {error}", fix, at=at) from None


def _cut(text: str) -> str:
    """Leave out the end of what a damaged file brought into a message."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _not_too_small(text: str) -> float:
    value = number_in(text)
    if value is None:
        raise ValueError(f"{shorten(text, 40)} is too small for a number of 64 bits")
    return value


def _shown(value: object) -> str:
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    return shorten(repr(value), 40)


@contextlib.contextmanager
def no_collections() -> Iterator[None]:
    """Rows and cells are made and dropped by the million, none of them in a cycle."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def open_foreign(
    source: str,
    *,
    keys: Mapping[str, str] | None = None,
    encoding: str | None = None,
    layout: Layout | None = None,
    decimal: Decimal | None = None,
) -> Opened:
    """Open a file, a folder, or ``-``, and unpack it.

    .gz, .bz2, .xz, .zst and .lz are known by their first bytes, not by their names.
    """
    path, name, data = _found(source)
    given: dict[str, Any] = {
        "encoding": encoding,
        "layout": layout,
        "decimal": decimal,
        "keys": keys or {},
    }
    return Opened(source=source, name=name, path=path, data=_unpacked(data, source), **given)


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
                what = "this is not a regular file"
                fix = "name a file or a folder, or - and pipe it in"
                raise UsageError(what, source, fix)
            data = _limited(file, source, packed=None)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        fix = "name a file, a folder, or - for stdin"
        raise UsageError(f"the file cannot be read: {reason}", _cut(source), fix) from None
    name = path.name
    if packer_of(data) is not None:
        name = re.sub(r"\.(gz|bz2|xz|zst|zstd|lz)$", "", name, flags=re.IGNORECASE)
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
    most = most_of(len(data)) + 1
    openers: dict[str, Callable[..., Any]] = {
        "gz": gzip.open,
        "bz2": bz2.open,
        "xz": lzma.open,
        "zst": lambda _: io.BytesIO(_zstd(data, most, source)),
        "lz": lambda _: io.BytesIO(_lzip(data, most)),
    }
    try:
        with openers[packer](io.BytesIO(data)) as file:
            return _limited(file, source, packed=len(data))
    except (OSError, EOFError, lzma.LZMAError, zlib.error, ValueError) as error:
        what = f"the .{packer} file is damaged or cut off: {error}"
        fix = "pack it again, or copy it again"
        raise AnalysisError(what, source, fix) from None


def _lzip(data: bytes, most: int) -> bytes:
    """Unpack the members of a file of lzip: a header of 6 bytes, LZMA with its end marker, CRC and two sizes."""
    found = b""
    while data and len(found) < most:
        (kind, size), rest = (data[:5], data[5]), data[6:]
        known = (1 << (size & 31)) - ((1 << (size & 31)) >> 4) * (size >> 5)
        about = {"id": lzma.FILTER_LZMA1, "dict_size": known, "lc": 3, "lp": 0, "pb": 2}
        member = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[about])
        part = member.decompress(rest, most - len(found))
        found += part
        if len(found) < most:
            crc = int.from_bytes(member.unused_data[:4], "little")
            if not member.eof or kind != b"LZIP\x01" or crc != zlib.crc32(part):
                raise EOFError("a member of it does not end")
            data = member.unused_data[20:]
    return found


def _zstd(data: bytes, most: int, source: str) -> bytes:
    """Unpack frames one after the other; the library's own stream takes a cut off one for a whole."""
    try:
        import zstandard
    except ImportError as error:
        fix = "pip install 'fairtrial[zstd]', or unpack it with 'zstd -d'"
        raise library_needed("a .zst file", "zstandard", error, source, fix=fix) from None
    found, frame, at = bytearray(), None, 0
    while at < len(data) and len(found) < most:
        frame = frame or zstandard.ZstdDecompressor().decompressobj()
        try:
            found += frame.decompress(data[at : at + _SIP])
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from None
        at = min(at + _SIP, len(data))
        if frame.eof:
            at, frame = at - len(frame.unused_data), None
    if frame is not None and len(found) < most:
        raise ValueError("its last frame does not end")
    return bytes(found)


def _limited(file: IO[bytes], source: str, *, packed: int | None) -> bytes:
    parts: list[bytes] = []
    size = 0
    most = MOST_BYTES if packed is None else most_of(packed)
    while chunk := file.read(_CHUNK):
        size += len(chunk)
        if size > most:
            text = f"more than {most // 1024**2} MiB"
            if packed is not None and most < MOST_BYTES:
                text += f", over {_RATIO} times its packed size"
            what = f"the file holds too much: {text}"
            raise AnalysisError(what, source, "split it, or unpack it yourself")
        parts.append(chunk)
    return b"".join(parts)


def _marked(data: bytes) -> str | None:
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)


def _clean(text: str) -> str:
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


_NARROWER = "name the folder of the results, not one above it"
DEEPEST = 6
ASV = ".asv"
MOST_ENTRIES = 20_000


def files_in(opened: Opened) -> Iterator[Path]:
    """Give the plain files of a folder and of those in it, sorted, as paths relative to it.

    What lies in a trial of fairtrial is passed over.
    """
    for folder, entries in _folders(opened):
        if not _is_trial(entries):
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    yield (folder / entry.name).relative_to(opened.path or folder)


def trials_within(opened: Opened) -> tuple[str, ...]:
    """Name the trials of fairtrial in a folder, or the folder itself."""
    return tuple(str(folder) for folder, entries in _folders(opened) if _is_trial(entries))


def results_within(folder: Path) -> Path:
    """Give the folder itself; of one of asv's own the results in it, where it has whole environments too."""
    results = folder / "results"
    return results if folder.name == ASV and results.is_dir() else folder


def _is_trial(entries: list[os.DirEntry[str]]) -> bool:
    return {MANIFEST, MEASUREMENTS} <= {entry.name for entry in entries}


def _folders(opened: Opened) -> Iterator[tuple[Path, list[os.DirEntry[str]]]]:
    """Give each folder with its entries, a trial's without those below."""
    if opened.path is None or not opened.is_folder:
        return
    count = 0
    waiting = deque([(results_within(opened.path), 1)])
    while waiting:
        folder, depth = waiting.popleft()
        try:
            with os.scandir(folder) as listed:
                entries = list(itertools.islice(listed, MOST_ENTRIES + 1))
        except OSError as error:
            what = f"the folder cannot be read: {error.strerror}"
            shut = f"ask its owner for {command_line(('chmod', '-R', 'a+rX', str(folder)))}"
            raise StoreError(what, str(folder), shut if count == 0 else _NARROWER) from None
        count += len(entries)
        if count > MOST_ENTRIES:
            what = f"the folder has more than {MOST_ENTRIES:,} entries"
            raise AnalysisError(what, opened.source, _NARROWER)
        entries.sort(key=lambda entry: entry.name)
        yield folder, entries
        if depth < DEEPEST and not _is_trial(entries):
            waiting.extend(
                (results_within(Path(entry.path)), depth + 1)
                for entry in entries
                if entry.is_dir(follow_symlinks=False)
                and entry.name != ".git"
                and not is_profiles(entry.path)
            )


def open_in_folder(opened: Opened, name: Path) -> Opened:
    """Open a file of the folder."""
    source = str(Path(opened.source) / name)
    return open_foreign(source, encoding=opened.encoding, decimal=opened.decimal)
