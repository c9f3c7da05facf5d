"""Areas on a sheet, in rows and columns.

`arranged` measures the texts around all areas, gives these the room that is left, leaves out ticks whose
texts would touch, and turns everything into places on the sheet.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import UsageError
from ..record.printer import check_file, write_file
from ..words import shown, shown_lines
from .axes import (
    SMALL,
    Axes,
    Key,
    Letters,
    Outline,
    Picture,
    Scale,
    Sheet,
    Spots,
    Tick,
    style_of_roles,
)
from .marks import Box, Curve, Dots, Line, Mark, Rect, Segments, Text, apart, broken, wide

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


# --- How a picture of a paper is written to a file.
#
# The same data give the same bytes of SVG, PDF and PNG. Text stays text: in SVG as `<text>` with a
# title and a description, in PDF with its font embedded.


ENDINGS = (".svg", ".png", ".pdf")


def check_picture(text: str) -> Path:
    """Refuse a file that no picture can be written to, before anything is computed."""
    path = Path(text)
    if path.suffix.lower() not in ENDINGS:
        what = (
            f"a picture ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, not in {path.suffix!r}"
        )
        raise UsageError(what, text, "name the file by the kind that is wanted")
    check_file(path)
    return path


def picture_bytes(picture: Picture, kind: str, *, title: str = "", alt: str = "") -> bytes:
    """Give a picture as the bytes of an svg, pdf or png file: the same ones each time, without any date.

    `title`, `alt`: What the picture is, and its result in words: for search, screen readers and
    archives. They are not drawn.
    """
    title, alt = shown(title), shown_lines(alt)
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


POINT = 25.4 / 72  # mm
_LINE = 1.2  # of the letters' size: from line to line
_UP = 0.36  # of the letters' size: from the middle of a line to its baseline
_EDGE, _TICK, _PAD, _APART, _BETWEEN, _KEY = 2.0, 2.5, 2.5, 10.0, 7.0, 16.0  # points


def arranged(
    sheet: Sheet,
    rows: Sequence[Sequence[Axes | None]],
    height: float,
    *,
    widths: Sequence[float] = (),
    heights: Sequence[float] = (),
    title: str = "",
    notes: Iterable[str] = (),
    y_label: str = "",
) -> Picture:
    """Set areas on a sheet, each row from the left; None leaves a place empty.

    `height`: In mm, without the notes. `widths`, `heights`: What the columns and rows share their
    room by. `title`, `y_label`: Above all areas; at the left of all. `notes`: Below all areas: what
    a reader must know, as a picture travels without its page.
    """
    return _Layout(sheet, rows, height / POINT).picture(
        widths or [1.0] * max(map(len, rows)),
        heights or [1.0] * len(rows),
        title,
        list(notes),
        y_label,
    )


def stacked(pictures: Sequence[Picture]) -> Picture:
    """Set pictures of one sheet below each other."""
    items: list[Outline | Spots | Letters] = []
    height = 0.0
    for picture in pictures:
        down = np.array((0.0, height))
        for item in picture.items:
            if isinstance(item, Letters):
                items.append(item._replace(y=item.y + height))
            elif isinstance(item, Spots):
                items.append(item._replace(points=item.points + down))
            else:
                cut = item.clip
                cut = cut and Box(cut.left, cut.top + height, cut.right, cut.bottom + height)
                items.append(item._replace(parts=[part + down for part in item.parts], clip=cut))
        height += picture.height
    axes = tuple(one for picture in pictures for one in picture.axes)
    return pictures[0]._replace(height=height, items=tuple(items), axes=axes)


class _Layout:
    """The room that texts need around areas, and where all comes to stand; y grows downwards."""

    def __init__(self, sheet: Sheet, rows: Sequence[Sequence[Axes | None]], height: float) -> None:
        self.sheet, self.rows, self.height = sheet, rows, height
        self.width = sheet.width / POINT
        self.every = [axes for row in rows for axes in row if axes is not None]
        self.items: list[Outline | Spots | Letters] = []
        self.titles: dict[int, list[str]] = {}
        self.key_rows: dict[int, list[list[Key]]] = {}

    def size(self, axes: Axes) -> float:
        return self.sheet.font_size * (SMALL if axes.small else 1.0)

    def wide(self, text: str, size: float, *, bold: bool = False) -> float:
        family = self.sheet.font_family
        return max(wide(line, size, family, bold=bold) for line in text.split("\n"))

    def picture(
        self, widths: Sequence[float], heights: Sequence[float], title: str, notes: list[str], y_label: str
    ) -> Picture:  # fmt: skip
        """Give all columns, then all rows their room, and draw what stands there."""
        size, family = self.sheet.font_size, self.sheet.font_family
        left = _EDGE + (_LINE * size if y_label else 0)
        columns = self._columns(widths, left)
        for row in self.rows:
            for k, axes in enumerate(row):
                if axes is not None:
                    _, inner, after = columns[k]
                    self._break(axes, inner + (after if axes is row[-1] else max(0.0, after - 4)))
        heads = broken(title, self.width, 1.1 * size, family) if title else []
        if heads:
            self._write("\n".join(heads), (_EDGE, _EDGE + 0.95 * size), 1.1 * size, "start", "ink")
        head = _EDGE + len(heads) * _LINE * 1.15 * size
        above = [max(self._top(one) for one in row if one) for row in self.rows]
        below = [max(self._bottom(one) for one in row if one) for row in self.rows]
        around = head + _EDGE + sum(above) + sum(below) + _BETWEEN * (len(heights) - 1)
        free = max(self.height - around, 12.0 * len(heights))
        y = head
        for r, row in enumerate(self.rows):
            high = free * heights[r] / sum(heights)
            for axes, (x, inner, _) in zip(row, columns, strict=False):
                if axes is not None:
                    long, tall = (min(inner, high),) * 2 if axes.square else (inner, high)
                    self._draw(axes, Box(x, y + above[r], x + long, y + above[r] + tall))
            y += above[r] + high + below[r] + _BETWEEN
        total = y - _BETWEEN + _EDGE
        if y_label:
            self._upward(y_label, _EDGE + 0.85 * size, (head + total) / 2, size)
        small = SMALL * size
        texts = [line for text in notes for line in broken(text, self.width - 4, small, family)]
        if texts:
            self._write(
                "\n".join(texts), (_EDGE, total + 0.9 * _LINE * small), small, "start", "second"
            )
            total += (len(texts) * _LINE + 0.4) * small
        return Picture(self.width, total, tuple(self.items), self.sheet, tuple(self.every))

    def _columns(self, widths: Sequence[float], left: float) -> list[tuple[float, float, float]]:
        """Give where each column's areas begin, how wide they are, and the room behind them."""
        columns = [
            [row[k] for row in self.rows if k < len(row) and row[k]] for k in range(len(widths))
        ]
        before = [
            max((self._left(one) for one in column if one), default=0.0) for column in columns
        ]
        after = [0.0] * len(widths)
        whole = self.width - left - _EDGE - _APART * (len(widths) - 1)
        for _ in range(3):  # how far the last tick's text reaches out depends on the width
            rest = max(20.0 * len(widths), whole - sum(before) - sum(after))
            inner = [rest * share / sum(widths) for share in widths]
            after = [
                max((self._right(one, long) for one in column if one), default=0.0)
                for column, long in zip(columns, inner, strict=True)
            ]
        found = []
        for room, long, behind in zip(before, inner, after, strict=True):
            found.append((left + room, long, behind))
            left += room + long + behind + _APART
        return found

    # --- the room around an area

    def _left(self, axes: Axes) -> float:
        size = self.size(axes)
        texts = [tick.text for tick in axes.y_ticks if tick.text] if axes.y_texts else []
        room = max((self.wide(text, size) for text in texts), default=0.0)
        room += _PAD + (_TICK if "l" in axes.sides else 0) if texts or "l" in axes.sides else 0
        return room + (_LINE * size * len(axes.y_label.split("\n")) + 2 if axes.y_label else 0)

    def _right(self, axes: Axes, inner: float) -> float:
        small = SMALL * self.sheet.font_size
        right = max((self.wide(text, small) + 5 for _, text, _ in axes.beside), default=0.0)
        size = self.size(axes)
        over = [
            self.wide(tick.text, size) / 2 - (1 - axes.x.at(tick.value)) * inner
            for tick in self._kept(axes, "x", inner)
            if axes.x_texts
        ]
        return max(right, *over, 0.0) if over else right

    def _break(self, axes: Axes, room: float) -> None:
        """Break the title and the keys above an area into lines."""
        family, size, small = self.sheet.font_family, self.size(axes), SMALL * self.sheet.font_size
        bold = "bold" in axes.title_css
        self.titles[id(axes)] = (
            broken(axes.title, room, size, family, bold=bold) if axes.title else []
        )
        rows: list[list[Key]] = []
        used = room
        for key in axes.keys:
            length = self.wide(key.text, small) + _KEY + 10
            if not rows or used + length > room + 10:
                rows.append([])
                used = 0.0
            rows[-1].append(key)
            used += length
        self.key_rows[id(axes)] = rows

    def _top(self, axes: Axes) -> float:
        size = self.size(axes)
        lines = len(self.titles[id(axes)])
        room = lines * _LINE * size + (2 if lines else 0)
        room += len(self.key_rows[id(axes)]) * _LINE * SMALL * self.sheet.font_size
        if axes.top:
            return room + _TICK + _PAD + size + (_LINE * size + 2 if axes.x_label else 0)
        return room + (0.5 * size if axes.y_ticks and not axes.rows and not lines else 0)

    def _bottom(self, axes: Axes) -> float:
        if axes.top:
            return 0.0
        size = self.size(axes)
        known = axes.x_texts and any(tick.text for tick in axes.x_ticks)
        lines = len(axes.x_label.split("\n")) if axes.x_label else 0
        return (_TICK + _PAD + size if known else 0) + (lines * _LINE * size + 3 if lines else 0)

    # --- an area in its place

    def _kept(self, axes: Axes, side: str, length: float) -> list[Tick]:
        """Leave out ticks whose texts would touch.

        1× stays, then the last one, which bears the unit, then each that has room, from the low end.
        """
        ticks: Sequence[Tick] = getattr(axes, f"{side}_ticks")
        scale: Scale = getattr(axes, side)
        size = self.size(axes)
        order = sorted(
            (k for k in range(len(ticks)) if ticks[k].text),
            key=lambda k: (ticks[k].value != 1.0, k != len(ticks) - 1, k),
        )
        ranked = []
        for k in order:
            place, lines = scale.at(ticks[k].value) * length, len(ticks[k].text.split("\n"))
            across = self.wide(ticks[k].text, size) + 0.7 * size
            half = (across if side == "x" else (_LINE * lines + 0.05) * size) / 2
            ranked.append((place - half, place + half, k))
        kept = apart(ranked)
        return [tick for k, tick in enumerate(ticks) if not tick.text or k in kept]

    def _draw(self, axes: Axes, box: Box) -> None:
        if axes.then is not None:
            axes.then(axes, box)
        size = self.size(axes)
        edges = [
            np.array(ends)
            for side, ends in (
                ("l", ((box.left, box.top), (box.left, box.bottom))),
                ("b", ((box.left, box.bottom), (box.right, box.bottom))),
                ("t", ((box.left, box.top), (box.right, box.top))),
            )
            if side in axes.sides
        ]
        place = _Place(axes, box)
        for mark in axes.marks:
            place.draw(mark, self)
        edge, out = (box.top, -1) if axes.top else (box.bottom, 1)
        below = edge + out * (_TICK + _PAD) + (0.76 * size if out > 0 else 0)
        for tick in self._kept(axes, "x", box.right - box.left):
            x = box.left + axes.x.at(tick.value) * (box.right - box.left)
            if ("t" if axes.top else "b") in axes.sides:
                edges.append(np.array(((x, edge), (x, edge + out * _TICK))))
            if tick.text and axes.x_texts:
                self._write(tick.text, (x, below), size, "middle", "second")
        for tick in self._kept(axes, "y", box.bottom - box.top):
            y = box.bottom - axes.y.at(tick.value) * (box.bottom - box.top)
            ticked = _TICK if "l" in axes.sides else 0
            if ticked:
                edges.append(np.array(((box.left - _TICK, y), (box.left, y))))
            if tick.text and axes.y_texts:
                css = "ink" if axes.rows else "second"
                self._write(
                    tick.text, (box.left - ticked - _PAD, y), size, "end", css, centred=True
                )
        if edges:
            self.items.append(Outline(edges, style_of_roles("one")._replace(width=0.6)))
        self._write_around(axes, box, size)

    def _write_around(self, axes: Axes, box: Box, size: float) -> None:
        small = SMALL * self.sheet.font_size
        for value, text, css in axes.beside:
            y = box.bottom - axes.y.at(value) * (box.bottom - box.top)
            self._write(text, (box.right + 5, y), small, "start", css, centred=True)
        if axes.x_label:
            ticks = _TICK + _PAD + size if axes.x_texts and any(t.text for t in axes.x_ticks) else 0
            y = box.top - ticks - 3 if axes.top else box.bottom + ticks + 2 + 0.85 * size
            half = self.wide(axes.x_label, size) / 2
            x = min(max((box.left + box.right) / 2, half + 2), self.width - half - 2)
            self._write(axes.x_label, (x, y), size, "middle", "second")
        if axes.y_label:
            x = box.left - self._left(axes) + 0.85 * size
            for k, line in enumerate(axes.y_label.split("\n")):
                self._upward(line, x + k * _LINE * size, (box.top + box.bottom) / 2, size)
        lines, rows = self.titles[id(axes)], self.key_rows[id(axes)]
        if axes.then is not None:  # which may have changed it
            lines = axes.title.split("\n")
        y = box.top - len(rows) * _LINE * small - 3 - (len(lines) - 1) * _LINE * size
        self._write("\n".join(lines), (box.left, y), size, "start", axes.title_css)
        for k, row in enumerate(rows):
            x = box.left
            for key in row:
                self._key(key, x, box.top - 3 - (len(rows) - 1 - k) * _LINE * small, small)
                x += _KEY + 10 + self.wide(key.text, small)

    def _key(self, key: Key, x: float, y: float, size: float) -> None:
        middle, style = y - _UP * size, style_of_roles(key.css)
        if key.shape:
            self.items.append(Spots(np.array([(x + 6, middle)]), style, 2.2, key.shape))
        else:
            self.items.append(Outline([np.array([(x, middle), (x + 13, middle)])], style))
        css = "second" if "baseline" in key.css else key.css
        self._write(key.text, (x + _KEY, y), size, "start", css)

    def _write(
        self, text: str, place: tuple[float, float], size: float, anchor: str, css: str,
        *, centred: bool = False,
    ) -> None:  # fmt: skip
        x, y = place
        lines = text.split("\n")
        if centred:
            y += _UP * size - (len(lines) - 1) * _LINE * size / 2
        style = style_of_roles(css)
        for k, line in enumerate(lines):
            if line.strip():
                self.items.append(Letters(x, y + k * _LINE * size, line, size, anchor, style))

    def _upward(self, text: str, x: float, middle: float, size: float) -> None:
        """Write a text from below upwards, on the sheet even where it is longer than its area."""
        half = self.wide(text, size) / 2 + 2
        middle = min(max(middle, half), max(half, self.height - half))
        style = style_of_roles("second")
        self.items.append(Letters(x, middle, text, size, "middle", style, upward=True))


class _Place:
    """An area's box: it takes what is in the units of the scales to the sheet."""

    def __init__(self, axes: Axes, box: Box) -> None:
        self.axes, self.box = axes, box

    def at(self, points: ArrayLike) -> NDArray[np.float64]:
        """Give the places of points, shape (n, 2)."""
        found = np.array(points, dtype=np.float64).reshape(-1, 2)
        box = self.box
        for k, scale in enumerate((self.axes.x, self.axes.y)):
            ends = scale.low, scale.high
            endless = np.isinf(found[:, k])  # up to the edge
            found[endless, k] = np.where(found[endless, k] < 0, *ends)
            low, high = np.log(ends) if scale.log else ends
            share = ((np.log(found[:, k]) if scale.log else found[:, k]) - low) / (high - low)
            first, length = (
                (box.left, box.right - box.left) if k == 0 else (box.bottom, box.top - box.bottom)
            )
            found[:, k] = first + share * length
        return found

    def draw(self, mark: Mark, layout: _Layout) -> None:
        """Put a mark on the sheet."""
        add = layout.items.append
        if isinstance(mark, Text):
            ((x, y),) = self.at((mark.x, mark.y)).tolist()
            style = style_of_roles(mark.css)
            size = layout.sheet.font_size * (SMALL if style.small else 1.0)
            found = Letters(
                x + mark.dx, y + mark.dy + _UP * size, mark.text, size, mark.anchor, style
            )
            if style.hollow:
                box = found.box(layout.sheet.font_family)
                ends = ((box.left, box.top), (box.right, box.top), (box.right, box.bottom), (box.left, box.bottom))  # fmt: skip
                add(Outline([np.array(ends)], style_of_roles("page dense"), closed=True))
            add(found)
            return
        style = style_of_roles(mark.css)
        if isinstance(mark, Line | Rect):
            x1, x2, y1, y2 = mark.x1, mark.x2, mark.y1, mark.y2
            area = isinstance(mark, Rect)
            corners = [(x1, y1), (x2, y1), (x2, y2), (x1, y2)] if area else [(x1, y1), (x2, y2)]
            add(Outline([self.at(corners)], style, closed=area))
        elif isinstance(mark, Dots):
            if len(mark.points):
                add(Spots(self.at(mark.points), style, mark.r, mark.shape))
        elif isinstance(mark, Segments):
            if len(mark.lines):
                add(Outline(list(self.at(mark.lines).reshape(-1, 2, 2)), style))
        elif isinstance(mark, Curve):
            points = self.at(mark.points)
            if mark.steps:
                points = np.repeat(points, 2, axis=0)
                points = np.column_stack((points[1:, 0], points[:-1, 1]))
            add(Outline([points], style, mark.closed, self.box))
        else:
            raise TypeError(f"no {type(mark).__name__} is drawn on paper")
