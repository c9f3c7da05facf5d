"""What all drawn pictures share: their look, and how they are written to a file.

matplotlib is imported when a picture is drawn. The look is set here and does not depend on a user's
settings; the same data give the same bytes of SVG, PDF and PNG. Text stays text: in SVG as `<text>`
with a title and a description, in PDF with its font embedded.
"""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .palette import PRINT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "ENDINGS",
    "INK",
    "PALE",
    "Sheet",
    "check_picture",
    "look",
    "picture_bytes",
    "write_picture",
]

INK = PRINT.ink
PALE = PRINT.one
ENDINGS = (".svg", ".png", ".pdf")

_DOTS_PER_INCH = 300
_FALLBACK = "Verdana, sans-serif"  # as wide as matplotlib's own font, where that is not installed
_TYPE = re.compile("<!DOCTYPE.*?>\n", re.DOTALL)
_OWN = "DejaVu Sans"
_UNSEEN = {code: 0x2400 + code for code in range(32) if code not in (9, 10)} | {0x7F: 0x2421}
_LOOK: dict[str, Any] = {
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": PRINT.one,
    "axes.linewidth": 0.6,
    "axes.labelcolor": PRINT.second,
    "axes.labelsize": "medium",
    "text.color": INK,
    "xtick.color": PRINT.one,
    "ytick.color": PRINT.one,
    "xtick.labelcolor": PRINT.second,
    "ytick.labelcolor": PRINT.second,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.formatter.useoffset": False,
    "legend.frameon": False,
    "text.parse_math": False,  # names are names, whatever dollar signs they hold
    "svg.hashsalt": "fairtrial",
    "svg.fonttype": "none",  # letters, not their outlines: found, copied, read aloud
    "pdf.fonttype": 42,  # TrueType, embedded: what publishers ask for
    "savefig.dpi": _DOTS_PER_INCH,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """How wide a picture is, and how it is lettered.

    Attributes
    ----------
    width : float
        In mm; a column of a paper has about 85, two have 178.
    font_size : float
        Of names and numbers, in points; nothing is smaller than 0.8 of it.
    font_family : str
        A font that matplotlib finds; its own by default, which is the same everywhere.
    """

    width: float = 178.0
    font_size: float = 9.0
    font_family: str = _OWN

    @property
    def inches(self) -> float:
        """The width as matplotlib takes it."""
        return self.width / 25.4

    def check(self) -> None:
        """Refuse what cannot be drawn.

        Raises
        ------
        UsageError
            If a size is out of its range, or there is no such font.
        """
        if not 40 <= self.width <= 1000:
            raise UsageError(
                f"a picture is 40 to 1000 mm wide, not {self.width:g}", fix="write --width 85mm"
            )
        if not 4 <= self.font_size <= 40:
            raise UsageError(f"letters have 4 to 40 points, not {self.font_size:g}")
        from matplotlib.font_manager import FontProperties, findfont

        try:
            findfont(FontProperties(family=[self.font_family]), fallback_to_default=False)
        except ValueError:
            raise UsageError(
                f"there is no font {self.font_family!r} here",
                fix="name one that is installed, such as 'DejaVu Sans', 'DejaVu Serif' or 'STIXGeneral'",
            ) from None


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


@contextmanager
def look(sheet: Sheet | None = None) -> Iterator[None]:
    """Draw in our look, whatever the user's settings are."""
    import matplotlib.style

    sheet = Sheet() if sheet is None else sheet
    letters = {"font.family": sheet.font_family, "font.size": sheet.font_size}
    with (
        matplotlib.style.context(["default", {**_LOOK, **letters}]),
        warnings.catch_warnings(),
    ):
        # a name in a script that the font lacks is drawn as boxes, and is right in the text output
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def picture_bytes(
    figure: Figure, kind: str, *, title: str = "", alt: str = "", sheet: Sheet | None = None
) -> bytes:
    """Give a figure as the bytes of a file: the same ones each time, without any date.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    kind : {"svg", "pdf", "png"}
    title, alt : str
        What the picture is, and its result in words: for search, screen readers and archives. They
        are not drawn.
    sheet : Sheet, optional
        With which the figure was made.
    """
    title, alt = title.translate(_UNSEEN), alt.translate(_UNSEEN)
    metadata: dict[str, Any] = {
        "svg": {"Date": None, "Title": title or None},
        "pdf": {"CreationDate": None, "Title": title or None, "Subject": alt or None},
        "png": {
            "Software": None,
            **({"Title": title} if title else {}),
            **({"Description": alt} if alt else {}),
        },
    }[kind]
    if kind != "png":
        metadata = {key: value for key, value in metadata.items() if value or key.endswith("Date")}
    content = io.BytesIO()
    with look(sheet):
        figure.savefig(content, format=kind, metadata=metadata)
    return _described(content.getvalue(), alt) if kind == "svg" else content.getvalue()


def write_picture(
    figure: Figure, path: Path, *, title: str = "", alt: str = "", sheet: Sheet | None = None
) -> None:
    """Write a figure as the kind that the file's ending says; see `picture_bytes`.

    Raises
    ------
    UsageError
        If the file cannot be written.
    """
    kind = path.suffix.lower().removeprefix(".")
    content = picture_bytes(figure, kind, title=title, alt=alt, sheet=sheet)
    try:
        path.write_bytes(content)
    except OSError as error:
        raise UsageError(
            f"the picture cannot be written: {error.strerror}", str(path), "name another file"
        ) from None


def _described(svg: bytes, alt: str) -> bytes:
    """Add the description below the title, and make it an image to a screen reader."""
    text = svg.decode("utf-8").translate(_UNSEEN)
    text = _TYPE.sub("", text, count=1)  # a reader of XML would fetch what it names
    text = text.replace(f"'{_OWN}'", f"'{_OWN}', {_FALLBACK}")
    if alt:
        text = text.replace(" <metadata>", f" <desc>{escape(alt, quote=False)}</desc>\n <metadata>")
        text = text.replace("<svg ", '<svg role="img" ', 1)
    return text.encode("utf-8")
