"""How a picture of a paper is written to a file.

The same data give the same bytes of SVG, PDF and PNG. Text stays text: in SVG as `<text>` with a
title and a description, in PDF with its font embedded.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from ..errors import UsageError
from .paper import Picture

__all__ = ["ENDINGS", "check_picture", "picture_bytes", "write_file", "write_picture"]

ENDINGS = (".svg", ".png", ".pdf")


def check_picture(text: str) -> Path:
    """Refuse a file that no picture can be written to, before anything is computed.

    Raises
    ------
    UsageError
        If the ending is unknown, or the folder is missing or not writable.
    """
    path = Path(text)
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(
            f"a picture ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, not in {path.suffix!r}",
            text,
            "name the file by the kind that is wanted",
        )
    try:
        if not path.parent.is_dir():
            raise UsageError(
                f"there is no folder {str(path.parent)!r}", text, "make it, or name another file"
            )
        blocked = path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK)
    except OSError as error:  # such as a name too long
        raise UsageError(f"the picture cannot be written: {error.strerror}", text) from None
    if blocked:
        raise UsageError("the picture cannot be written here", text, "name another file")
    return path


def picture_bytes(picture: Picture, kind: str, *, title: str = "", alt: str = "") -> bytes:
    """Give a picture as the bytes of a file: the same ones each time, without any date.

    Parameters
    ----------
    picture : Picture
    kind : {"svg", "pdf", "png"}
    title, alt : str
        What the picture is, and its result in words: for search, screen readers and archives. They
        are not drawn.
    """
    if kind == "svg":
        return picture.svg(title, alt).encode("utf-8")
    from . import converter

    with warnings.catch_warnings():
        # a name in a script that the font lacks is drawn as boxes, and is right in the text output
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        content: bytes = getattr(converter, kind)(picture, title, alt)
    return content


def write_picture(picture: Picture, path: Path, *, title: str = "", alt: str = "") -> None:
    """Write a picture as the kind that the file's ending says; see `picture_bytes`."""
    kind = path.suffix.lower().removeprefix(".")
    write_file(path, picture_bytes(picture, kind, title=title, alt=alt))


def write_file(path: Path, content: bytes) -> None:
    """Write beside and rename, so that no half picture stands under the name.

    Raises
    ------
    UsageError
        If the file cannot be written.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UsageError(
            f"the picture cannot be written: {error.strerror}", str(path), "name another file"
        ) from None
