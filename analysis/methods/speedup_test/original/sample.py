"""The sample files of the original Speedup-Test tool: one time a line."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["NUMBER", "BadSampleError", "locate_sample", "read_sample"]

NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)


class BadSampleError(Exception):
    """A sample file cannot be used; the text says why. Its benchmark is left out for it."""


def locate_sample(file: str, folder: Path) -> tuple[Path, bool]:
    """Give the file's place, and whether the configuration's folder holds another one."""
    here, there = Path(file), folder / file
    try:
        if not here.exists():
            return (there if there.exists() else here), False
        return here, there.exists() and not here.samefile(there)
    except OSError:  # such as a folder that must not be searched: reading it says so
        return here, False


def read_sample(path: Path, file: str) -> NDArray[np.float64]:
    """Read one sample: one positive finite number a line; blank lines are passed over."""
    try:
        if path.exists() and not path.is_file():
            kind = "a directory" if path.is_dir() else "no regular file"
            raise BadSampleError(f"File '{file}' is not readable: it is {kind}")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadSampleError(f"File '{file}' is not readable: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadSampleError(
            f"File '{file}' is not readable: it is no UTF-8 text (byte {error.start})"
        ) from None
    lines = text.split("\n")
    values = _at_once(text, lines)
    if values is None:
        values = np.array(
            [_value(file, k, line) for k, line in enumerate(lines, 1) if line.strip()]
        )
    if not values.size:
        raise BadSampleError(f"File '{file}' holds no value")
    return values


def _at_once(text: str, lines: list[str]) -> NDArray[np.float64] | None:
    """Read the values fast; None where any line needs a closer look."""
    if not text.isascii() or "_" in text:  # Python's own numbers may hold more than ours
        return None
    try:
        values = np.array([float(line) for line in lines if line and not line.isspace()])
    except ValueError:
        return None
    return values if (np.isfinite(values) & (values > 0)).all() else None


def _value(file: str, number: int, line: str) -> float:
    text = line.strip()
    shown = text if len(text) <= 40 else f"{text[:39]}…"
    if not NUMBER.fullmatch(text):
        what = f"{shown!r} is not a number"
        if text == "NA":
            what = "NA is no time; remove the line if this run was never measured"
        elif all(NUMBER.fullmatch(part) for part in re.split(r"[\s,;]+", text) if part):
            what = f"{shown!r} is not one number; write one a line, with a point for decimals"
        raise BadSampleError(f"File '{file}', line {number}: {what}")
    value = float(text)
    if not (math.isfinite(value) and value > 0):
        raise BadSampleError(
            f"File '{file}', line {number}: {shown!r} is not a positive finite number"
        )
    return value
