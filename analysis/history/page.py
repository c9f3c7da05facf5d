"""Changes of a series, and a search for steps, in words."""

from __future__ import annotations

from collections.abc import Iterator

from ..pages import number_format as figures
from ..pages.difference import Difference
from ..pages.model import Page, Section, Sentence, Table, Value, columns_of, page_of, value_of
from .changes import Changes
from .search_result import Culprit, PairWord, StepSearch


def _said(line: PairWord | Culprit) -> str:
    """Say how the later side differs: ``takes 5 % more time (4 to 6 %)``."""
    found = Difference.of(line)
    ends = found.interval()
    return f"{found.phrase()} ({ends})" if ends else found.phrase()


@page_of.register(Changes)
def _changes_page(result: Changes) -> Page:
    count = result.values.size
    if result.p_star is None:
        told = f"{count} values: no interval is looked for"
    elif not result.intervals:
        told = f"no change in {count} values, at a risk of {100 * result.risk:g} % over all places"
    else:
        many = len(result.intervals)
        told = (
            f"{many} interval{'s' * (many > 1)} with a change in {count} values, "
            f"{100 * result.risk:g} % over all places"
        )
    blocks: list[Sentence | Table] = [Sentence(told)]
    if result.intervals:
        blocks.append(
            Table(
                name="changes",
                columns=columns_of("before value", "best place", "p", "<what changed"),
                rows=tuple(
                    (
                        f"{one.first} to {one.last}" if one.first < one.last else f"{one.first}",
                        value_of(place),
                        Value(figures.pvalue(one.pvalue), one.pvalue),
                        f"from there on it {Difference.of(step).ranged('before')}",
                    )
                    for one, place, step in zip(
                        result.intervals, result.places, result.steps, strict=True
                    )
                ),
            )
        )
    return Page(title="Changes", sections=(Section(tuple(blocks)),), cautions=result.cautions)


@page_of.register(StepSearch)
def _search_page(result: StepSearch) -> Page:
    return Page(
        title="Search for steps",
        sections=(Section(tuple(Sentence(text) for text in _sentences(result))),),
        cautions=result.cautions,
    )


def _sentences(result: StepSearch) -> Iterator[str]:
    first = result.first
    bad = f"place {result.commits}"
    if first.word == "equivalent":
        yield f"no difference: {bad} takes the same time as place 0, within {100 * result.margin:g} %"
    elif first.word == "undecided":
        found = Difference.of(first).between()
        yield "no difference found" + (f": if there is one, it lies {found}" if found else "")
    else:
        yield f"{bad} {_said(first)} than place 0"
    for one in result.culprits:
        after = one.after + 1
        where = f"place {one.upto}" if after == one.upto else f"one of places {after} to {one.upto}"
        yield f"proven: {where} {_said(one)} than place {one.after}, in {one.sessions} sessions"
    for left in result.open:
        yield (
            f"open: places {left.after + 1} to {left.upto} hold a step with probability "
            f"{left.probability:.2f} ({left.why})"
        )
    skipped = f", {len(result.skipped)} places skipped" if result.skipped else ""
    yield f"{result.sessions} sessions, {result.builds} places built{skipped}"
