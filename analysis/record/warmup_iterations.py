"""How many iterations at the beginning of a run are stored and not judged: a number, or ``auto``.

A trial's manifest keeps it with its metric, as text: earlier versions take nothing else there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Literal

WarmupIterations = int | Literal["auto"]

WARMUP: Final = "warmup_iterations"  # the campaign's key, and the manifest's
MOST_WARMUP: Final = 100_000
NEEDS: Final = f"a whole number from 0 to {MOST_WARMUP}, or auto"


def read_warmup(text: str) -> WarmupIterations:
    """Read what a manifest or a command line says; ValueError where it is neither."""
    if text == "auto":
        return "auto"
    if not (text.isascii() and text.isdigit() and len(text) <= 6 and int(text) <= MOST_WARMUP):
        raise ValueError(f"{WARMUP} is {text!r}, and not {NEEDS}")
    return int(text)


def stored_warmup(setting: WarmupIterations) -> dict[str, str]:
    """Give what a manifest says of a metric; nothing where every iteration is judged."""
    return {WARMUP: str(setting)} if setting else {}


def warmup_of(about: Mapping[str, str]) -> WarmupIterations:
    """Give what a manifest says of a metric; ValueError where it can mean nothing."""
    return read_warmup(about.get(WARMUP, "0"))


_asked: ContextVar[WarmupIterations | None] = ContextVar("warmup_iterations", default=None)


def asked_warmup() -> WarmupIterations | None:
    """Give what `judging_with` says of all trials that are read; None: what each trial's manifest says."""
    return _asked.get()


def asked_words() -> tuple[str, ...]:
    """Give what was asked as words of a command line, for the next command to ask it too."""
    setting = asked_warmup()
    return () if setting is None else (f"--{WARMUP.replace('_', '-')}", f"{setting}")


@contextmanager
def judging_with(setting: WarmupIterations | None) -> Iterator[None]:
    """Judge all trials that are read meanwhile with this setting in place of their own; None changes nothing."""
    token = _asked.set(_asked.get() if setting is None else setting)
    try:
        yield
    finally:
        _asked.reset(token)
