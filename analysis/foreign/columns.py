"""Which column of a foreign table is what: by its heading, or by what the person said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..record import Better
from .parsing import SIZES, TIMES, in_base_unit

__all__ = ["Mapping", "mapped"]

_NAMES: dict[str, tuple[str, ...]] = {
    "benchmark": ("benchmark", "bench", "test", "workload", "program", "task", "name"),
    "variant": ("variant", "system", "computer", "config", "configuration", "version", "build", "tool"),
    "session": ("session", "occasion", "day", "night", "boot"),
    "process": ("process", "invocation", "fork", "run", "execution", "repetition", "rep", "pid"),
    "iteration": ("iteration", "iter", "round"),
    "value": (
        "value", "time", "wall", "walltime", "wall_time", "elapsed", "duration", "seconds", "runtime",
        "real", "real_time", "score", "measurement",
    ),
    "unit": ("unit",),
    "metric": ("metric", "criterion", "measure"),
    "better": ("better", "direction", "lower_is_better", "higher_is_better"),
    "ok": ("ok", "success", "failed", "outcome", "status", "exit_code", "returncode"),
    "warmup": ("warmup", "warm_up", "is_warmup"),
}  # fmt: skip
_SUFFIX = re.compile(r"^(.*?)(?:[ _]?[\[(]([A-Za-zµ/]+)[\])]|_([A-Za-zµ]+))$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """The place of each role's column, None where there is none.

    Attributes
    ----------
    benchmark, variant, session, process, iteration, unit_column, metric_column, better_column, ok,
    warmup : int or None
        Places of columns.
    values : tuple of (int, str, str)
        Each value column: its place, its metric's name, and the unit in its heading ("" for none).
    rest : tuple of int
        Columns that are keys only.
    """

    benchmark: int | None
    variant: int | None
    session: int | None
    process: int | None
    iteration: int | None
    values: tuple[tuple[int, str, str], ...]
    unit_column: int | None
    metric_column: int | None
    better_column: int | None
    ok: int | None
    warmup: int | None
    rest: tuple[int, ...]

    def unit_of(self, said: str, heading: str) -> tuple[float, str, Better | None]:
        """Give factor, unit and direction of values: by the row's own unit, else by the heading's."""
        factor, unit = in_base_unit(said or heading)
        return factor, unit, "lower" if unit == "s" else None


def mapped(headings: Sequence[str]) -> Mapping | None:
    """Map the columns of a long table; None where no column holds values.

    Headings are compared without case, blanks and hyphens; a unit may follow a value's heading:
    ``time_ms``, ``walltime (s)``.
    """
    plain = [re.sub(r"[ \-]+", "_", heading.strip().lower()) for heading in headings]
    place = {role: _first(plain, names) for role, names in _NAMES.items() if role != "value"}
    taken = {k for k in place.values() if k is not None}
    values = tuple(
        (k, heading.strip(), unit)
        for k, heading in enumerate(headings)
        if k not in taken and (unit := _value(plain[k], heading)) is not None
    )
    if not values:
        return None
    used = taken | {k for k, _, _ in values}
    return Mapping(
        benchmark=place["benchmark"],
        variant=place["variant"],
        session=place["session"],
        process=place["process"],
        iteration=place["iteration"],
        values=values,
        unit_column=place["unit"],
        metric_column=place["metric"],
        better_column=place["better"],
        ok=place["ok"],
        warmup=place["warmup"],
        rest=tuple(k for k in range(len(headings)) if k not in used),
    )


def _first(plain: Sequence[str], names: Sequence[str]) -> int | None:
    return next((plain.index(name) for name in names if name in plain), None)


def _value(plain: str, heading: str) -> str | None:
    """Give the unit in the heading of a value column, "" for none; None for another column."""
    if plain in _NAMES["value"]:
        return "s" if plain == "seconds" else ""
    if plain in TIMES and plain not in ("h", "s", "min"):
        return plain
    match = _SUFFIX.match(heading.strip())
    if match is None:
        return None
    unit = match[2] or match[3]
    base = re.sub(r"[ \-]+", "_", match[1].strip().lower())
    known = unit in TIMES or unit in SIZES or (match[2] is not None)
    return unit if known and (base in _NAMES["value"] or unit in TIMES or unit in SIZES) else None
