"""The chapter in sentences and tables, for every renderer but the HTML page."""

from __future__ import annotations

from collections.abc import Iterator

from ...pages.model import Block, Cell, Column, Section, Sentence, Table
from ..chapter import sections_of
from .failures import EMPTY
from .result import Conditions, Fact, Host

__all__ = ["answers_table", "counted", "facts_table", "failed_sentence"]

_LINES = 2  # of standard error, the last ones


@sections_of.register(Conditions)
def _conditions_sections(chapter: Conditions) -> tuple[Section, ...]:
    blocks: list[Block] = [Sentence(text) for text in chapter.between]
    blocks.append(facts_table(chapter, chapter.facts, "conditions"))
    blocks.append(Sentence(f"A/A certificate: {chapter.certificate}"))
    for host in chapter.hosts:
        blocks += _of_host(host)
    failed = [block for host in chapter.hosts for block in _failed(host)]
    return (
        Section(tuple(blocks), title=chapter.title),
        Section(tuple(failed), title="Failed runs"),
    )


def _of_host(host: Host) -> Iterator[Block]:
    if host.label:
        yield Sentence(f"{host.label}: {host.trial}")
    if host.differed:
        yield _differed_table(host)
    yield Sentence(host.same)
    if host.answers:
        yield answers_table(host)
    yield Sentence(host.well)


def _failed(host: Host) -> Iterator[Block]:
    if host.failed:
        yield _failed_table(host)
    yield Sentence(failed_sentence(host))


def facts_table(chapter: Conditions, facts: tuple[Fact, ...], name: str) -> Table:
    """Give facts, a column for each trial."""
    labels = [host.label for host in chapter.hosts]
    heads = labels if len(labels) > 1 else ["what is known"]
    return Table(
        name=name,
        columns=(Column("about", "left"), *(Column(head, "left") for head in heads)),
        rows=tuple((fact.name, *fact.texts) for fact in facts),
        headed=len(labels) > 1,
    )


def _differed_table(host: Host) -> Table:
    """Give what differed between sessions, a column for each."""
    return Table(
        name=f"differed{_suffix(host)}",
        columns=(Column("what differed", "left"), *(Column(name) for name in host.sessions)),
        rows=tuple((row.name, *row.cells) for row in host.differed),
    )


def answers_table(host: Host) -> Table:
    """Give the answers of the checks that are not "ok"."""
    heads = ("check", "answer", "sessions", "what was found")
    return Table(
        name=f"checks{_suffix(host)}",
        columns=tuple(Column(head, "left") for head in heads),
        rows=tuple((one.check, one.status, one.sessions, one.text) for one in host.answers),
    )


def counted(host: Host) -> str:
    """Count the answers of the checks by status: ``1 fail, 6 warn, 7 unknown``."""
    every = [one.status for one in host.answers]
    return ", ".join(f"{every.count(status)} {status}" for status in dict.fromkeys(every))


def _failed_table(host: Host) -> Table:
    """Give failed runs, the end of their standard error below each."""
    rows: list[tuple[Cell, ...]] = []
    notes = []
    for one in host.failed:
        rows.append((one.run, one.session, one.block, one.cell, one.outcome))
        text = " | ".join(one.stderr[-_LINES:]) or one.note
        more = "… | " if len(one.stderr) > _LINES else ""
        notes.append("" if text == EMPTY else f"standard error: {more}{text}")
    return Table(
        name=f"failed{_suffix(host)}",
        columns=(
            Column("run"),
            Column("session"),
            Column("block"),
            Column("benchmark / variant", "left"),
            Column("outcome", "left"),
        ),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def failed_sentence(host: Host) -> str:
    """Say how many failed runs are not in the table, or that there is none."""
    whose = f" of {host.label}" if host.label else ""
    if not host.failed:
        return f"No run{whose} failed."
    count = host.more_failed.value or 0
    if not count:
        return f"These are all failed runs{whose}; a judge leaves them out of every comparison."
    verb = "run" if count == 1 else "runs"
    return (
        f"{host.more_failed.text} more failed {verb}{whose}: measurements.jsonl and outputs/ of the "
        "trial hold them all."
    )


def _suffix(host: Host) -> str:
    return f"-{host.label.lower()}" if host.label else ""
