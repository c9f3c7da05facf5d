"""How far a long computation is: one moving line on a terminal, or a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..printer import Printer

__all__ = ["progress_on"]

_REDRAW_S = 0.5
_PLAIN_S = 15.0
_WIDTH = 24


@contextmanager
def progress_on(
    screen: Printer, noun: str, *, bar: bool = False, plain: bool = True
) -> Iterator[Callable[[int, int], None]]:
    """Give what says how many of all are done; the moving line is gone at the end.

    Parameters
    ----------
    screen : Printer
        Where it is said.
    noun : str
        What is counted, such as ``comparisons``.
    bar : bool
        Whether a bar stands before the moving line.
    plain : bool
        Whether a line is written every 15 s where nothing can move.
    """
    began = said = time.monotonic()
    moving = screen.isatty()

    def report(done: int, total: int) -> None:
        nonlocal said
        now = time.monotonic()
        if not (moving or plain) or now - said < (_REDRAW_S if moving else _PLAIN_S):
            return
        said = now
        left = (now - began) / done * (total - done)
        text = f"{done:,} of {total:,} {noun}, about {left:.0f} s left"
        if moving and bar:
            full = _WIDTH * done // total
            text = f"[{'#' * full}{'.' * (_WIDTH - full)}] {text}"
        screen.paint(f"\r\x1b[K{text}" if moving else f"{text}\n")
        screen.flush()

    try:
        yield report
    finally:
        if moving:
            screen.paint("\r\x1b[K")
