"""Pictures for papers as PDF and PNG: the same outlines, spots and letters as in SVG.

matplotlib's backends are used for this, at the level of paths and texts, without its figures: it is
there already, for the fonts that it brings; it needs no library of the system, embeds the letters of
TrueType fonts, and gives the same bytes each time. It is imported here, and for other fonts only.
"""

from __future__ import annotations

import atexit
import io
import pathlib
import tempfile
from functools import lru_cache
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends import backend_agg, backend_pdf
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.path import Path
from matplotlib.transforms import Affine2D, Bbox, IdentityTransform

from ..words import shown
from .axes import OPEN, SHAPES, Letters, Outline, Picture, Spots, Style
from .marks import CODES, PRINT, plain

_agg: Any = backend_agg  # which have no types
_pdf: Any = backend_pdf

_DOTS_PER_INCH = 300
_SETTINGS: Any = {
    "pdf.fonttype": 42,  # TrueType, embedded: what publishers ask for
    "pdf.compression": 6,
    "text.hinting": "force_autohint",
    "text.antialiased": True,
    "path.simplify": False,
    "agg.path.chunksize": 0,
    "image.composite_image": True,
}


def png(picture: Picture, title: str = "", alt: str = "") -> bytes:
    """Give a picture as dots, 300 to an inch."""
    from PIL.Image import frombuffer
    from PIL.PngImagePlugin import PngInfo

    grain = _DOTS_PER_INCH / 72
    wide, high = round(picture.width * grain), round(picture.height * grain)
    with mpl.rc_context(_SETTINGS):
        renderer = _agg.RendererAgg(wide, high, _DOTS_PER_INCH)
        _Pen(renderer, picture, grain, high).draw()
    found = PngInfo()
    for name, text in (("Title", title), ("Description", alt)):
        if text:
            found.add_text(name, text) if text.isascii() else found.add_itxt(name, text)
    content = io.BytesIO()
    dots = frombuffer("RGBA", (wide, high), renderer.buffer_rgba()).convert("RGB")
    dots.save(content, "png", pnginfo=found, dpi=(_DOTS_PER_INCH, _DOTS_PER_INCH), compress_level=4)
    return content.getvalue()


def pdf(picture: Picture, title: str = "", alt: str = "") -> bytes:
    """Give a picture as a page of its size."""
    texts = {"CreationDate": None, "Title": title or None, "Subject": alt or None}
    content = io.BytesIO()
    with mpl.rc_context(_SETTINGS):
        file = _pdf.PdfFile(
            content, metadata={k: v for k, v in texts.items() if v or k == "CreationDate"}
        )
        try:
            file.newPage(picture.width / 72, picture.height / 72)
            renderer = _pdf.RendererPdf(file, 72, picture.height / 72, picture.width / 72)
            _Pen(renderer, picture, 1.0, picture.height).draw()
            renderer.finalize()
            file.finalize()
        finally:
            file.close()
    return content.getvalue()


class _Pen:
    """Draws what a picture holds with a renderer of matplotlib, whose y grows upwards."""

    def __init__(self, renderer: Any, picture: Picture, grain: float, height: float) -> None:  # noqa: ANN401 - one of several classes
        self.renderer, self.picture, self.grain, self.height = renderer, picture, grain, height
        self.up = Affine2D().scale(grain, -grain).translate(0, height)
        self.light = not isinstance(renderer, backend_agg.RendererAgg)

    def draw(self) -> None:
        ends = np.array([(0, 0), (self.picture.width, 0), (self.picture.width, self.picture.height), (0, self.picture.height)])  # fmt: skip
        self.outline(Outline([ends], Style(PRINT.page), closed=True))
        for item in self.picture.items:
            if isinstance(item, Outline):
                self.outline(item)
            elif isinstance(item, Spots):
                self.spots(item)
            else:
                self.letters(item)

    def context(self, style: Style, *, stroked: bool) -> Any:  # noqa: ANN401 - as above
        found = self.renderer.new_gc()
        found.set_alpha(style.opacity)
        found.set_foreground(style.colour)
        found.set_linewidth(style.width if stroked else 0.0)  # points: the renderer knows its grain
        found.set_capstyle("butt")
        found.set_joinstyle("miter")
        if style.dash and stroked:
            found.set_dashes(0, [part * style.width for part in style.dash])
        return found

    def outline(self, item: Outline) -> None:
        path = _joined(item.parts, closed=item.closed)
        context = self.context(item.style, stroked=not item.closed)
        if item.clip is not None:
            ends = self.up.transform([(item.clip.left, item.clip.bottom), (item.clip.right, item.clip.top)])  # fmt: skip
            context.set_clip_rectangle(Bbox(ends))
        face = mpl.colors.to_rgb(item.style.colour) if item.closed else None
        self.renderer.draw_path(context, path, self.up, face)
        context.restore()

    def spots(self, item: Spots) -> None:
        style, r = item.style, item.r * self.grain
        stroked = style.hollow or style.ring or style.edged or item.shape in OPEN
        face: Any = None if style.ring or item.shape in OPEN else PRINT.page if style.hollow else style.colour  # fmt: skip
        if style.edged:
            style = style._replace(colour=PRINT.page, width=0.5)
        context = self.context(style, stroked=stroked)
        if item.shape == "circle":
            shape = Path.unit_circle()
        else:
            lines = [np.array(line) * (1, -1) for line in SHAPES[item.shape]]
            shape = _joined(lines, closed=item.shape not in OPEN)
        self.renderer.draw_markers(
            context, shape, Affine2D().scale(r), Path(self.up.transform(item.points)),
            IdentityTransform(), None if face is None else mpl.colors.to_rgb(face),
        )  # fmt: skip
        context.restore()

    def letters(self, item: Letters) -> None:
        x, y = self.up.transform((item.x, item.y))
        text = shown(item.text)
        bold = item.style.bold
        font = _font(self.picture.sheet.font_family, bold, light=self.light and plain(text))
        font = font.copy()
        font.set_size(item.size)
        length, _, _ = self.renderer.get_text_width_height_descent(text, font, ismath=False)
        before = {"start": 0.0, "middle": 0.5, "end": 1.0}[item.anchor] * length
        x, y = (x, y - before) if item.upward else (x - before, y)
        if isinstance(self.renderer, backend_agg.RendererAgg):  # whose texts count from the top
            y = self.height - y
        context = self.context(item.style, stroked=False)
        self.renderer.draw_text(context, x, y, text, font, 90 if item.upward else 0, ismath=False)
        context.restore()


@lru_cache(maxsize=16)
def _font(family: str, bold: bool, *, light: bool) -> FontProperties:  # noqa: FBT001 - a key of the cache
    """Give a font; a light one holds the usual letters only.

    A PDF embeds the letters that it needs of a font, and all tables of the font are read for that:
    ten times faster from a copy without thousands of letters and the rules for other scripts.
    """
    weight = "bold" if bold else "normal"
    found = FontProperties(family=[family], weight=weight)
    if not light:
        return found
    from fontTools import subset  # type: ignore[import-untyped]

    options = subset.Options(legacy_kern=True, layout_features=[], recalc_timestamp=False)
    options.drop_tables += ["GSUB", "GPOS", "GDEF", "MATH", "FFTM"]
    path = findfont(found)
    try:
        font = subset.load_font(path, options)
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=CODES)
        subsetter.subset(font)
    except Exception:  # noqa: BLE001 - a font of another kind: it is taken as it is
        return found
    copy = _folder() / pathlib.Path(path).name
    font.save(copy)
    font.close()
    return FontProperties(fname=str(copy), weight=weight)


@lru_cache(maxsize=1)
def _folder() -> pathlib.Path:
    """Give a folder that is gone when the program ends."""
    folder = tempfile.TemporaryDirectory(prefix="fairtrial-fonts-")
    atexit.register(folder.cleanup)
    return pathlib.Path(folder.name)


def _joined(parts: Any, *, closed: bool) -> Path:  # noqa: ANN401 - arrays or lists of them
    vertices, codes = [], []
    for part in parts:
        vertices.append(np.vstack((part, part[:1])) if closed else part)
        more = len(vertices[-1]) - 1
        codes += [Path.MOVETO, *[Path.LINETO] * more]
        if closed:
            codes[-1] = Path.CLOSEPOLY
    return Path(np.concatenate(vertices), np.array(codes, dtype=Path.code_type))
