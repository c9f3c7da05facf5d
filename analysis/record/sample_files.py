"""``samples/``: all values of a metric in a run, where they are too many for its row.

A file is named after its run, as those in ``outputs/``, and its metric: ``0042-latency.f64.gz``. It holds the values in the
order in which the run printed them, as little-endian doubles, packed by gzip without a time. The row has their number, the
SHA-256 of the unpacked bytes, and their mean as the metric's only value. Standard library only.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import sys
import zlib
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from ..errors import StoreError
from .shapes import opened

SAMPLES: Final = "samples"
FRESH: Final = "current.f64.gz"  # a file under way
MOST_IN_ROW: Final = 1000  # values of a metric that stand in a row
Form = Literal["values", "counts", "percentiles"]
_SUFFIX = ".f64.gz"
_NAME = re.compile(r"(?P<again>[wr]?)(?P<number>[0-9]+)-.+\.f64\.gz", re.DOTALL)
_LEVEL = 1  # of gzip: the next run waits for it
_PIECE = 1 << 16
_WIDTH = 8
_MOST = 1 << 24  # doubles of one run: what a row says came with the file, and is no bound


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSamples:
    """What a row says of values that do not stand in it; without `sha256` they were not kept.

    `count` is how many doubles the file holds: the values, or of a histogram each bucket's value and count.
    """

    count: int
    sha256: str | None = None
    form: Form = "values"

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        about = {"count": self.count, "sha256": self.sha256}
        return about if self.form == "values" else {"form": self.form, **about}


def label_of(position: int, *, warmup: bool) -> str:
    """Name the files of a run after its position; repeated warm-ups are w1, ..., other repeats r1, ..."""
    return f"{position:04d}" if position >= 0 else f"{'w' if warmup else 'r'}{-position}"


def sample_file(position: int, metric: str, *, warmup: bool) -> str:
    """Name the file of a run's values within its trial."""
    return f"{SAMPLES}/{label_of(position, warmup=warmup)}-{metric}{_SUFFIX}"


def position_in(name: str) -> int | None:
    """Give the position of the run that a file in ``samples/`` belongs to; None of another file."""
    match = _NAME.fullmatch(name)
    return match and int(match["number"]) * (-1 if match["again"] else 1)


def packed(values: Sequence[float]) -> tuple[bytes, StoredSamples]:
    """Give the bytes of a file with these values, and what its row says of them."""
    numbers = array("d", values)
    if sys.byteorder == "big":
        numbers.byteswap()
    data = numbers.tobytes()
    about = StoredSamples(count=len(numbers), sha256=hashlib.sha256(data).hexdigest())
    return gzip.compress(data, _LEVEL, mtime=0), about


def read_samples(path: Path, about: StoredSamples) -> bytes:
    """Read the doubles of a file and hold them against its row; no more is unpacked than that says.

    Raises
    ------
    StoreError
        If they were not kept, or the file is gone, torn or changed.
    """
    if about.sha256 is None:
        raise StoreError(
            f"its {about.count} values were not kept: the cap isolation.kept_outputs was reached, and only "
            "their mean and quantiles are known",
            str(path),
            "judge runs, without --level iteration and with --warmup-iterations 0; for more trials raise "
            "isolation.kept_outputs",
        )
    if not 0 <= about.count <= _MOST:
        what = f"its row says that it holds {about.count} values, and a run has {_MOST} at most"
        raise StoreError(what, str(path), "restore the trial from a copy")
    size = about.count * _WIDTH
    fix = "restore the file: only its values tell more than the mean and quantiles in the row"
    try:
        with opened(path) as file:
            data = _unpacked(file.read, size)
    except (OSError, zlib.error, EOFError, StoreError) as error:
        what = getattr(error, "what", None) or str(error)
        raise StoreError(f"the values cannot be read: {what}", str(path), fix) from error
    if len(data) != size or hashlib.sha256(data).hexdigest() != about.sha256:
        what = f"these are not the {about.count} values that were measured: their SHA-256 is not the row's"
        raise StoreError(what, str(path), fix)
    return data


def doubles(data: bytes) -> array[float]:
    """Give the numbers of the bytes of a file."""
    numbers = array("d", data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _unpacked(read: Callable[[int], bytes], size: int) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    parts, there = [], 0
    while not unpacker.eof and there <= size:
        piece = unpacker.unconsumed_tail or read(_PIECE)
        if not piece:
            raise EOFError("it is torn")
        part = unpacker.decompress(piece, size + 1 - there)
        parts.append(part)
        there += len(part)
    return b"".join(parts)
