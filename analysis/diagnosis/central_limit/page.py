"""The study of the central limit theorem in words: from where on, then the counts by size."""

from __future__ import annotations

from ...report import Column, Page, Section, Sentence, Table, Value, page_of
from .result import DRAWS, ESTIMATES, CentralLimitCount, CentralLimitStudy, Draws

__all__: list[str] = []

_TITLES: dict[Draws, str] = {
    "disjoint": "disjoint samples",
    "with replacement": "drawn WITH REPLACEMENT, for want of runs",
}


@page_of.register
def _(study: CentralLimitStudy) -> Page:
    groups = [
        (draws, counts)
        for draws in DRAWS
        if (counts := [count for count in study.counts if count.draws == draws])
    ]
    chance = (
        "chance: as many among normal means at most, 19 times in 20, by the risk "
        f"{study.risk:g} alone"
    )
    return Page(
        title=f"Central limit theorem on {study.name}",
        sections=(
            Section(tuple(Sentence(_answer(study, *group)) for group in groups)),
            *(
                Section(
                    (_table(*group),),
                    title=f"{_TITLES[group[0]]}: where they do not look normal at {study.risk:g}",
                )
                for group in groups
            ),
            Section((Sentence(chance),)),
        ),
        cautions=study.cautions,
    )


def _answer(study: CentralLimitStudy, draws: Draws, counts: list[CentralLimitCount]) -> str:
    told = []
    for of in ESTIMATES:
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


def _table(draws: Draws, counts: list[CentralLimitCount]) -> Table:
    headings = ("n", "N", "means", "chance", "medians", "chance")
    return Table(
        name=draws.replace(" ", "-"),
        columns=tuple(Column(heading) for heading in headings),
        rows=tuple(
            (
                Value(str(count.size), count.size),
                _samples(count),
                Value(f"{count.means_not_normal} of {count.means_tested}", count.means_not_normal),
                Value(str(count.means_by_chance), count.means_by_chance),
                Value(
                    f"{count.medians_not_normal} of {count.medians_tested}",
                    count.medians_not_normal,
                ),
                Value(str(count.medians_by_chance), count.medians_by_chance),
            )
            for count in counts
        ),
    )


def _samples(count: CentralLimitCount) -> str:
    few, many = count.samples_least, count.samples_most
    return f"{few}" if few == many else f"{few}-{many}"
