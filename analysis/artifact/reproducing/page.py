"""What came out, in words: the answer first, then each claim, each result, and where they differ."""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...pages.model import (
    Block,
    Cell,
    Column,
    CommandLine,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    page_of,
)
from ...words import shorten, shown
from .rerun import Rerun, RerunTrial
from .result import ClaimCheck, Recomputation, Reproduction

if TYPE_CHECKING:
    from .documents import Difference, OtherVersion

_LISTED = 10  # differences of a result that a page names
_COMMAND = 60
_TEXT = 34


_AMISS = {
    "different": "is not what was stored",
    "failed": "gives no answer",
    "stopped": "was not computed to its end",
}


@page_of.register(Reproduction)
def _reproduction_page(found: Reproduction) -> Page:
    sections = [Section(tuple(Sentence(text) for text in _answer(found)))]
    if found.claims:
        sections.append(Section(tuple(_claims(found)), "claims"))
    if found.results:
        sections.append(Section((_results(found),), "stored results"))
    sections += [
        Section(tuple(_differences(one)), f"{one.name} {_AMISS[one.standing]}")
        for one in found.all
        if one.standing in {"different", "failed", "stopped"}
    ]
    return Page(
        title=f"Artifact {shown(Path(found.bundle).name)}",
        sections=tuple(sections),
        cautions=found.cautions,
        following=(Section(tuple(_next(found))),) if found.measurable else (),
    )


@page_of.register(Rerun)
def _rerun_page(found: Rerun) -> Page:
    several = len(found.trials) > 1
    sections: list[Section] = []
    following: list[Section] = []
    if several:
        words = "; ".join(f"{shown(one.name)} {one.word}" for one in found.trials)
        sections.append(Section((Sentence(f"{found.word}: {words}"),)))
    for one in found.trials:
        title = shown(one.name) if several else ""
        if one.comparison is None:
            why = Sentence(f"cannot tell: {shown(one.reason or '')}")
            sections.append(Section((why,), title))
            continue
        page = page_of(one.comparison)
        sections += [Section(page.sections, title)] if several else page.sections
        following += page.following
    told = f"both trials and their joint report are in one folder: {shown(found.folder)}/rerun.html"
    following += [Section(tuple(_more(one))) for one in found.trials if one.word == "cannot tell"]
    last = Section((Sentence(told),))
    return Page(
        title=f"{shown(found.bundle)}, measured again",
        sections=tuple(sections),
        cautions=found.cautions,
        following=(*following, last),
    )


def _more(one: RerunTrial) -> Iterator[Block]:
    """Say how more sessions are measured, where that may tell."""
    more = one.more_sessions
    known = "more sessions may tell" if more is None else f"{more} more would probably tell"
    yield Sentence(f"to add sessions ({known}), and compare again:")
    campaign, old, new = (shown(shlex.quote(text)) for text in (one.campaign, one.old, one.new))
    yield CommandLine(f"fairtrial run {campaign} --resume --trial {new} --sessions +{more or 2}")
    yield CommandLine(f"fairtrial diff {old} {new}")


def review_page(found: Reproduction) -> Page:
    """Fill the page for a review form: what was shown for each badge, and what the reviewer decides."""
    page = page_of(found)
    answer, *rest = page.sections
    lines = [
        ("artifact", f"{shown(Path(found.bundle).name)}, identity {found.identity}"),
        ("title", shown(found.title or "not said")),
        ("DOI", shown(found.doi or "not said")),
        ("licence", shown(found.license or "not said")),
        ("packed by", f"fairtrial {shown(found.packed_by)}"),
        ("checked by", f"fairtrial {found.tool_here}"),
        ("result", {"within": "the same within 1e-9"}.get(found.outcome, found.outcome)),
    ]
    left = (Column("", "left"), Column("", "left"))
    about = Table(name="about", columns=left, rows=tuple(lines), headed=False)
    headings = ("badge", "shown by this check", "left to the reviewer")
    badges = Table(
        name="badges",
        columns=tuple(Column(heading, "left") for heading in headings),
        rows=tuple(
            (one.badge, "; ".join(one.shown) or "nothing", "; ".join(one.open))
            for one in found.badges
        ),
    )
    return Page(
        title=page.title,
        sections=(Section((about, *answer.blocks, badges)), *rest),
        cautions=page.cautions,
        following=page.following,
    )


def _answer(found: Reproduction) -> Iterator[str]:
    size = f"{found.files:,} files, {found.bytes:,} bytes"
    yield f"{shown(Path(found.bundle).name)} is whole: {size}, each with the checksums that it lists"
    if found.outcome == "nothing stored":
        yield "no result is stored in it: there is nothing to compute again"
        return
    if found.analyses:
        yield f"computed again from its raw rows: {_numbers(found)}{_because(found)}"
    if found.report is not None:
        stated = any(one.grade == "surroundings" for one in found.report.differences)
        but = ", but for the versions that it states" * (stated and found.report.holds)
        yield f"the report {_REPORT[found.report.standing]}{but}"
    others = [shown(one.name) for one in found.documents if not one.holds]
    if others:
        verb = "says" if len(others) == 1 else "say"
        yield f"{' and '.join(others)} {verb} something else than what comes out"
    if found.claims:
        wrong = [one for one in found.claims if not one.holds]
        if wrong:
            which = ", ".join(str(one.number) for one in wrong)
            verb = "does" if len(wrong) == 1 else "do"
            yield f"{len(wrong)} of {_counted(len(found.claims), 'claim')} {verb} not hold: {which}"
        else:
            many = len(found.claims)
            yield "the claim holds" if many == 1 else f"all {many:,} claims hold"


_REPORT = {
    "same bytes": "made again has the same bytes",
    "within": "made again is the same within 1e-9",
    "different": "made again is another one",
    "failed": "cannot be made again",
    "stopped": "was not made again: a limit was reached",
}


def _numbers(found: Reproduction) -> str:
    numbers, count = found.numbers, _counted(len(found.analyses), "stored result")
    bad = sum(not one.holds for one in found.analyses)
    if bad:
        return (
            f"{bad} of {count} {'comes' if bad == 1 else 'come'} out differently; "
            f"{numbers['different']:,} of {numbers['numbers']:,} numbers differ by more than 1e-9"
        )
    if all(one.standing == "same bytes" for one in found.analyses):
        return f"all {numbers['numbers']:,} numbers of {count} are the same bytes"
    return (
        f"{numbers['same']:,} of {numbers['numbers']:,} numbers of {count} are the same, the other "
        f"{numbers['near']:,} the same within 1e-9"
    )


def _because(found: Reproduction) -> str:
    """Say what may be the reason where something is not the same."""
    if all(one.standing == "same bytes" for one in found.analyses):
        return ""
    if found.other_versions:
        return f"; other versions here: {_versions(found.other_versions)}"
    return "; all versions are the same, so this is another processor, or another text was stored"


def _versions(others: tuple[OtherVersion, ...]) -> str:
    return ", ".join(
        f"{shown(one.name)} {shown(one.packed or 'none')} -> {one.here or 'none'}" for one in others
    )


def _claims(found: Reproduction) -> Iterator[Block]:
    yield Table(
        name="claims",
        columns=(
            *(Column(""), Column("", "left"), Column("value now")),
            *(Column("claimed", "left"), Column("claim", "left")),
        ),
        rows=tuple(
            (
                Value(str(one.number), one.number),
                {True: "holds", False: "FAILS", None: "no value"}[one.holds],
                _value(one.now),
                f"{_RELATIONS.get(one.relation, one.relation)} {_text(one.expected)}"
                + (f", to {one.digits} digits" if one.digits is not None else ""),
                shorten(shown(one.text), 60),
            )
            for one in found.claims
        ),
        notes=tuple(_why(one) for one in found.claims),
    )


_RELATIONS = {"at_least": "at least", "at_most": "at most", "equals": "is", "word": "is"}


def _why(one: ClaimCheck) -> str:
    where = f"{shown(one.value)} of fairtrial {_line(one.command)}"
    if one.holds:
        return ""
    moved = "" if one.packed == one.now else f"; {_text(one.packed)} when it was packed"
    return f"{shown(one.reason) + '; ' if one.reason else ''}{where}{moved}"


def _results(found: Reproduction) -> Table:
    heads = ("numbers", "same", "within 1e-9", "different")
    left = (Column("", "left"), Column("", "left"))
    rows: list[tuple[Cell, ...]] = []
    for one in found.results:
        counts = (one.numbers, one.same, one.near, one.different)
        values = (Value(f"{count:,}", count) for count in counts)
        command = shorten(_line(one.command), _COMMAND)
        rows.append((shorten(shown(one.name), 24), one.standing, *values, command))
    columns = (*left, *map(Column, heads), Column("fairtrial", "left"))
    return Table(name="results", columns=columns, rows=tuple(rows))


def _differences(one: Recomputation) -> Iterator[Block]:
    if one.command:
        yield CommandLine(f"fairtrial {_line(one.command)}")
    if one.reason is not None:
        yield Sentence(shown(one.reason))
    wrong = [each for each in one.differences if each.grade == "different"]
    if wrong:
        yield _table(one, wrong[:_LISTED])
    left = len(wrong) - _LISTED + one.not_listed
    if left > 0:
        yield Sentence(f"and {left:,} more places: see --json, or {shown(one.result)}")


def _table(one: Recomputation, wrong: list[Difference]) -> Table:
    return Table(
        name=f"differences-of-{shown(one.name)}",
        columns=(Column("where", "left"), *map(Column, ("stored", "now", "by"))),
        rows=tuple(
            (
                shorten(shown(each.pointer), 44),
                "none" if each.kind == "added" else _value(each.stored),
                "none" if each.kind == "missing" else _value(each.recomputed),
                ""
                if each.relative is None
                else Value(f"{100 * each.relative:.2g} %", each.relative),
            )
            for each in wrong
        ),
    )


def _next(found: Reproduction) -> Iterator[Block]:
    yield Sentence("to measure it again on this machine, and compare the conclusions:")
    yield CommandLine(f"fairtrial reproduce --rerun {shown(shlex.quote(found.bundle))}")


def _value(value: Any) -> Cell:  # noqa: ANN401 - JSON
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Value(_text(value), value)
    return _text(value)


def _text(value: Any) -> str:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return shorten(shown(value), _TEXT)
    if isinstance(value, int | float) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):  # a whole number that no double can be
            return f"{value:.10g}"
    return shorten(json.dumps(value), _TEXT)


def _line(words: tuple[str, ...]) -> str:
    return shown(shlex.join(words))


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
