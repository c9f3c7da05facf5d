"""A file that a person wrote, as text, or what keeps it from being read."""

from __future__ import annotations

import codecs
from pathlib import Path

from ...errors import CampaignError, Problem
from .yaml_marks import Document

MAX_BYTES = 1024 * 1024


def read_bytes(path: Path) -> bytes:
    """Read the file's bytes, and no more than a campaign can have."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise _unusable(path, "there is no such file", "'fairtrial init' writes one") from None
    except IsADirectoryError:
        raise _unusable(path, "this is a directory", "name the campaign file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _unusable(path, f"the file cannot be read: {reason}", None) from None
    if len(data) > MAX_BYTES:
        raise _unusable(path, "the file is larger than 1 MiB", "no campaign needs that")
    return data


def decoded(data: bytes, path: Path) -> str:
    """Give the text; a UTF-8 byte order mark is no part of it."""
    data = data.removeprefix(codecs.BOM_UTF8)  # so that an error counts from where the text begins
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        good = data[: error.start].decode("utf-8")
        document = Document(name=str(path), text=good)
        mark = document.mark_of(len(good), len(good))
        utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        what = f"byte 0x{data[error.start]:02X} is not UTF-8"
        fix = f"save the file as UTF-8{', not as UTF-16' if utf16 else ''}"
        raise CampaignError([document.problem_at(mark, what, fix)]) from None


def _unusable(path: Path, what: str, fix: str | None) -> CampaignError:
    return CampaignError([Problem(what=what, where=str(path), fix=fix)])
