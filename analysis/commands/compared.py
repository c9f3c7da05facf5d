"""What ``fairtrial compare`` says of what it measured: on the screen, as JSON, in files, and while it lasts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO, cast

from ..data.trial import read_trial
from ..pages.difference import Difference
from ..verdict.cautions import shown_cautions
from ..verdict.compare import NamedCommand, Standing, answer_of, screen_of
from ..verdict.compare_sentences import short_names
from ..verdict.sides import session_seconds
from .options import show

if TYPE_CHECKING:
    from ..data.trial import Trial
    from ..plan.compare_looks import CandidateLook, Look
    from ..record.printer import Printer
    from ..verdict.compare import CompareAnswer

_MEMORY = "max_rss"
_CALLED = 14  # columns of a command's name in a note
# cautions that the screen of a comparison says itself: of its commands, of how it ended
_SAID_OTHERWISE = (
    *("failed-left-out", "fails-more", "fails-always", "variant-left-out"),
    *("one-session", "sessions-depend", "runs-missing", "still-running", "ended-early"),
)


class Measured(Protocol):
    """A command that was measured."""

    @property
    def command(self) -> str:
        """The command as it was typed."""

    @property
    def variant(self) -> str:
        """Its name in the trial."""

    @property
    def name(self) -> str | None:
        """What it is called instead, if anything."""

    @property
    def parameters(self) -> Mapping[str, str]:
        """The values that fill it."""


def answered(
    path: Path,
    commands: Sequence[Measured],
    look: Look | None,
    *,
    measured_s: float,
    earlier: int = 0,
    exit_codes: Mapping[tuple[str, int], int] | None = None,
    counters: bool = False,
    **known: Any,  # noqa: ANN401 - further fields of a CompareAnswer
) -> CompareAnswer:
    """Judge the trial of a sitting.

    Parameters
    ----------
    path : Path
        The trial.
    commands : sequence of Measured
        All of its variants, the baseline first.
    look : Look or None
        The last look of the sitting.
    measured_s : float
        How many seconds the sitting measured.
    earlier : int
        The sessions of the sittings before it.
    exit_codes : mapping, optional
        How many runs of a variant counted that ended with a code other than 0.
    counters : bool
        Whether what was counted, and memory, are columns.

    Raises
    ------
    InsufficientDataError
        If no run of any command counts.
    """
    trial = read_trial(path)
    seconds = measured_s + session_seconds(trial, earlier)
    wanted_s = wanted_seconds(look, seconds)
    shown = {one.variant: one.name or repr(one.command) for one in commands}
    said = [
        f"{count} run{'s' * (count != 1)} of {shown[variant]} ended with exit code {code}, and "
        f"count{'s' * (count == 1)} (-i, --exit)"
        for (variant, code), count in (exit_codes or {}).items()
    ]
    return answer_of(
        trial,
        [
            NamedCommand(
                command=one.command, variant=one.variant, name=one.name, parameters=one.parameters
            )
            for one in commands
        ],
        seconds=seconds,
        counted=_counted(trial) if counters else (),
        standing=standing_of(look, trial.manifest.baseline),
        wanted_s=wanted_s,
        notes=tuple(said),
        **known,
    )


def wanted_seconds(look: Look | None, seconds: float) -> float | None:
    """Say how many more seconds would decide what is undecided, where its sessions took so many.

    Infinity where no number of sessions in the list would; None where nothing is undecided, or nobody knows.
    """
    if look is None or not look.sessions:
        return None
    if look.needed is not None:
        return max(0.0, (look.needed - look.sessions) * seconds / look.sessions)
    endless = any(
        one.word == "undecided" and one.line is not None and one.line.reason is None
        for one in look.candidates
    )
    return math.inf if endless else None


def standing_of(look: Look | None, baseline: str) -> Standing | None:
    """Say who leads of three and more; None of fewer, and before anything is known."""
    if look is None or look.leader is None or len(look.candidates) < 2:
        return None
    words: dict[str, str] = {}
    for one in look.candidates:
        if look.leader == baseline:
            words[one.variant] = one.word
        elif one.variant == look.leader:
            words[baseline] = one.word
        elif one.against_leader is not None:
            words[one.variant] = one.against_leader.benchmarks[0].outcome
    return Standing(
        leader=look.leader,
        beside=tuple(name for name, word in words.items() if word == "undecided"),
        alike=tuple(name for name, word in words.items() if word == "equivalent"),
    )


def write_answer(
    answer: CompareAnswer,
    out: Printer,
    *,
    as_json: bool = False,
    short: bool = False,
    width: int = 80,
    colours: bool = False,
) -> None:
    """Write the answer to `out`: as JSON, as its sentence alone, or as a screen of so many columns."""
    if as_json:
        show(answer, cast("TextIO", out), as_json=True)
        return
    short_ones = short_names([one.name for one in answer.commands], _CALLED)
    variants = (one.variant for one in answer.commands)
    called = dict(zip(variants, short_ones, strict=True))
    told = shown_cautions(answer.verdict, called=called, without=_SAID_OTHERWISE)
    notes = [one.text for one in told.cautions]
    text = screen_of(answer, width, notes, short=short, coloured=colours and not short)
    if colours and not short:
        out.paint(f"{text}\n")  # names are cleaned where they were shortened
    else:
        out.write(f"{text}\n")


def write_files(answer: CompareAnswer, files: Mapping[str, str]) -> None:
    """Write the files that were asked for: kind (``json``, ``csv``, ``markdown``) -> path.

    Raises
    ------
    UsageError
        If one cannot be written.
    """
    from ..verdict.compare_sentences import write_exports

    write_exports(answer, files)


def names_in_short(names: Sequence[str], width: int) -> list[str]:
    """Give what a moving line calls commands."""
    return short_names(names, width)


def told_of(one: CandidateLook) -> str:
    """Say what a look knows of a candidate: the difference with its interval, or between what it lies."""
    if one.line is None:
        return "no run counts yet"
    found = Difference.of(one.line)
    if one.word == "undecided":
        return found.between().removesuffix(" time") or "no interval yet"
    return f"{found.amount()} ({found.interval()})" if found.interval() else found.amount()


def _counted(trial: Trial) -> list[str]:
    """Name what was counted, and memory."""
    return [*(name for name in trial.manifest.metrics if trial.is_counter(name)), _MEMORY]
