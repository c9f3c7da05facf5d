"""The study of the central limit theorem as plain text: from where on, then the counts by size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...report import as_text

if TYPE_CHECKING:
    from .result import CentralLimitCount, CentralLimitStudy, Draws

__all__ = ["central_limit_text"]

_TITLES: tuple[tuple[Draws, str], ...] = (
    ("disjoint", "disjoint samples"),
    ("with replacement", "drawn WITH REPLACEMENT, for want of runs"),
)


def central_limit_text(study: CentralLimitStudy) -> list[str]:
    """Give the lines of the report."""
    lines: list[str] = []
    tables: list[str] = []
    for draws, title in _TITLES:
        counts = [count for count in study.counts if count.draws == draws]
        if not counts:
            continue
        lines += as_text.wrapped(_answer(study, draws, counts))
        tables += [
            "",
            *as_text.wrapped(f"{title}: where they do not look normal at {study.risk:g}"),
        ]
        tables += _table(counts)
    lines += tables
    lines += as_text.wrapped(
        f"chance: as many among normal means at most, 19 times in 20, by the risk {study.risk:g} alone"
    )
    cautions = as_text.numbered(study.cautions)
    return [*lines, "", *cautions] if cautions else lines


def _answer(study: CentralLimitStudy, draws: Draws, counts: list[CentralLimitCount]) -> str:
    told = []
    for of in ("means", "medians"):
        enough = study.enough(draws, of)
        told.append(
            f"{of} do not, up to n = {counts[-1].size}"
            if enough is None
            else f"{of} do from n = {enough} on"
        )
    kind = "" if draws == "disjoint" else " drawn with replacement"
    tried = (
        f"n = {counts[0].size} to {counts[-1].size}" if len(counts) > 1 else f"n = {counts[0].size}"
    )
    return f"{study.name}: do samples of n runs{kind} ({tried}) look normal? {', '.join(told)}"


def _table(counts: list[CentralLimitCount]) -> list[str]:
    table = [["n", "N", "means", "chance", "medians", "chance"]]
    for count in counts:
        few, many = count.samples_least, count.samples_most
        table.append(
            [
                str(count.size),
                f"{few}" if few == many else f"{few}-{many}",
                f"{count.means_not_normal} of {count.means_tested}",
                str(count.means_by_chance),
                f"{count.medians_not_normal} of {count.medians_tested}",
                str(count.medians_by_chance),
            ]
        )
    return as_text.grid(table, ">>>>>>")
