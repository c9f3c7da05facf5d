"""What the chapter holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..chapter import OldChapter

if TYPE_CHECKING:
    from ...pages.model import Value

__all__ = ["Answer", "Conditions", "Fact", "Failed", "Host", "Row"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something that is known: of each trial a text, "unknown" where it is not."""

    name: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Something that differs between sessions.

    `cells` holds one for each session; `marked` says of which of them a check of the host warned.
    """

    name: str
    cells: tuple[str | Value, ...]
    marked: tuple[bool, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer of a check that is not "ok", the sessions in which it was given, and what was found."""

    check: str
    status: str
    sessions: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A failed run.

    Attributes
    ----------
    run, session, block : Value
        Its position in the plan, and where in the trial that is; warm-ups are block 0.
    cell : str
        Benchmark and variant.
    outcome : str
        How it failed, in words.
    stderr : tuple of str
        The last lines of what it wrote there, with control characters shown.
    note : str
        What is to be known of `stderr`: that it is empty, was not kept, or is only the end.
    """

    run: Value
    session: Value
    block: Value
    cell: str
    outcome: str
    stderr: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What one trial says of its host and its campaign.

    Attributes
    ----------
    label : str
        "A" or "B" where there are two trials; else "".
    trial : str
        Its name.
    sessions : tuple of str
        The sessions' numbers, which `differed` has a cell for.
    differed : tuple of Row
        What differed between them.
    same : str
        A sentence on what did not differ.
    answers : tuple of Answer
        Of the checks of the host, where they are not "ok"; the worst first.
    well : str
        A sentence on the others.
    campaign : str or None
        The text of the campaign as it is stored, control characters shown; None if unknown.
    identity : str
        The SHA-256 of the campaign's content.
    failed : tuple of Failed
        Failed runs.
    more_failed : Value
        How many others there are.
    """

    label: str
    trial: str
    sessions: tuple[str, ...]
    differed: tuple[Row, ...]
    same: str
    answers: tuple[Answer, ...]
    well: str
    campaign: str | None
    identity: str
    failed: tuple[Failed, ...]
    more_failed: Value


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Conditions(OldChapter):
    """Under which conditions the runs were executed.

    Attributes
    ----------
    failed_anchor : str
        The id of the part on failed runs.
    between : tuple of str
        What differs between two trials, in sentences.
    facts : tuple of Fact
        What a reader needs.
    everything : tuple of Fact
        All that was recorded when the first session began, by the keys of the environment record.
    certificate : str
        What is known of the methods' error rates on this machine.
    hosts : tuple of Host
        One for each trial.
    """

    name: ClassVar[str] = "conditions"

    failed_anchor: str
    between: tuple[str, ...]
    facts: tuple[Fact, ...]
    everything: tuple[Fact, ...]
    certificate: str
    hosts: tuple[Host, ...]
