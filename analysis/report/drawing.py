"""What all pictures share: their look, and how they are written to a file.

matplotlib is imported when a picture is drawn. The look is set here and does not depend on a user's
settings; the same data give the same bytes of SVG.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "DASHES", "INK", "PALE", "check_picture", "look", "write_picture"]

# Okabe and Ito's colours, which readers with any common colour blindness tell apart
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES = ("-", (0, (5, 2)), (0, (1, 1.3)), (0, (6, 2, 1, 2)), (0, (3, 1)), (0, (8, 3)))
INK = "#333333"
PALE = "#9a9a9a"

_ENDINGS = (".svg", ".png", ".pdf")
_DOTS_PER_INCH = 150
_LOOK: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same everywhere
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.formatter.useoffset": False,
    "legend.frameon": False,
    "text.parse_math": False,  # names are names, whatever dollar signs they hold
    "svg.hashsalt": "fairtrial",
    "savefig.dpi": _DOTS_PER_INCH,
}


def check_picture(text: str) -> Path:
    """Refuse a file that no picture can be written to, before anything is computed.

    Raises
    ------
    UsageError
        If the ending is unknown, or the folder is missing or not writable.
    """
    path = Path(text)
    if path.suffix.lower() not in _ENDINGS:
        raise UsageError(
            f"a picture ends in {', '.join(_ENDINGS[:-1])} or {_ENDINGS[-1]}, "
            f"not in {path.suffix!r}",
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


@contextmanager
def look() -> Iterator[None]:
    """Draw in our look, whatever the user's settings are."""
    import matplotlib.style

    with matplotlib.style.context(["default", _LOOK]), warnings.catch_warnings():
        # a name in a script that the font lacks is drawn as boxes, and is right in the text output
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def write_picture(figure: Figure, path: Path) -> None:
    """Write a figure as the kind that the file's ending says, without any date.

    Raises
    ------
    UsageError
        If the file cannot be written.
    """
    kind = path.suffix.lower().removeprefix(".")
    undated: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    content = io.BytesIO()
    with look():
        figure.savefig(content, format=kind, metadata=undated.get(kind))
    try:
        path.write_bytes(content.getvalue())
    except OSError as error:
        raise UsageError(
            f"the picture cannot be written: {error.strerror}", str(path), "name another file"
        ) from None
