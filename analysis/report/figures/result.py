"""A figure of a paper: the picture, what it shows in words, and the numbers in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Drawing", "Number"]

Number = str | float | int | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawing:
    """One picture.

    Attributes
    ----------
    name : str
        What its files are called, without an ending.
    title : str
        What it is; never drawn, but found by search and readers of screens.
    alt : str
        Its result in words, with its numbers of runs and its cautions: also a caption to begin with.
    figure : matplotlib.figure.Figure
    columns : tuple of str
        Headings of the numbers in it.
    rows : tuple of tuple
        The numbers, unrounded, in the units that the headings name; None is unknown.
    """

    name: str
    title: str
    alt: str
    figure: Figure
    columns: tuple[str, ...]
    rows: tuple[tuple[Number, ...], ...]
