"""Words that a long table has for what became of a run: closed sets, so that none is guessed."""

from __future__ import annotations

from functools import lru_cache

from .columns import plain_heading

__all__ = ["is_good", "is_warmup"]

_YES = frozenset(("true", "yes", "t", "y"))
_NO = frozenset(("false", "no", "f", "n"))
_GOOD = frozenset(
    (
        "ok", "okay", "success", "successful", "succeeded", "completed", "complete", "done",
        "pass", "passed", "good", "finished",
    )
)  # fmt: skip
_BAD = frozenset(
    (
        "failed", "fail", "failure", "error", "errored", "timeout", "killed", "crash",
        "crashed", "aborted", "abort", "exception", "oom", "cancelled", "canceled", "invalid",
        "incomplete", "unsuccessful", "interrupted",
        "timed out", "segfault", "memout", "out of memory",
    )
)  # fmt: skip
_KNOWN = 256  # words that are not looked up again
# columns whose numbers are a process's: 0 is good
_CODES = frozenset(("status", "exit_code", "exit_status", "exitcode", "returncode", "return_code"))


@lru_cache(maxsize=_KNOWN)  # asked for every group of rows
def is_good(heading: str, text: str) -> bool | None:
    """Tell whether a run counts, by the cell of the column that says it; None where nobody knows."""
    plain, column = text.strip().lower(), plain_heading(heading)
    number = _number(plain)
    if column in ("failed", "error_occurred"):
        if plain in _NO | _GOOD | {""} or number == 0:
            return True
        return False if plain in _YES | _BAD or number is not None else None
    if number is not None:
        if column in _CODES:
            return number == 0
        return {0: False, 1: True}.get(number) if column != "outcome" else None
    return True if plain in _YES | _GOOD else False if plain in _NO | _BAD else None


@lru_cache(maxsize=_KNOWN)
def is_warmup(text: str) -> bool | None:
    """Tell whether a run is a warm-up; an empty cell says no; None where nobody knows."""
    plain = text.strip().lower()
    number = _number(plain)
    if plain in _YES | {"warmup", "warm-up"} or number == 1:
        return True
    return False if plain in _NO | {""} or number == 0 else None


def _number(plain: str) -> int | None:
    """Give the whole number that a text is; where cells are missing, tools write 1.0 for 1."""
    whole = plain.removesuffix(".0")
    return int(whole) if whole.lstrip("+-").isdecimal() and len(whole) < 20 else None
