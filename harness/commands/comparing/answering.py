"""From a measured comparison to its answer: on the screen, as JSON, and in the files that were asked for."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TextIO, cast

import numpy as np

from analysis.commands.arguments import show
from analysis.data.trial import read_trial
from analysis.verdict.cautions import shown_cautions
from analysis.verdict.compare_answer.answer import NamedCommand, Standing, answer_of
from analysis.verdict.compare_answer.page import screen_of

from ..arguments import RUNS
from .exports import exported_csv, exported_json, exported_markdown, write_file

if TYPE_CHECKING:
    from analysis.data.trial import Trial
    from analysis.plan.compare_looks import Look
    from analysis.record.printer import Printer
    from analysis.verdict.compare_answer.answer import CompareAnswer

    from ...trial.sitting import SittingEnding
    from .scan import WantedCommand

_MEMORY = "max_rss"


def answered(
    args: argparse.Namespace,
    ended: SittingEnding,
    wanted: Sequence[WantedCommand],
    again: tuple[str, ...],
    *,
    exit_codes: Mapping[tuple[str, int], int],
    earlier: int = 0,
) -> CompareAnswer:
    """Judge the trial of a sitting; `earlier` sessions are those of the sittings before it.

    Raises
    ------
    InsufficientDataError
        If no run of any command counts.
    """
    trial = read_trial(ended.ending.trial)
    look: Look | None = ended.look
    seconds = ended.measured_s + _seconds_of(trial, earlier)
    wanted_s = None
    if look is not None and look.needed is not None and look.sessions:
        wanted_s = max(0.0, (look.needed - look.sessions) * seconds / look.sessions)
    named = [
        NamedCommand(command=one.command, variant=one.variant, name=one.name) for one in wanted
    ]
    shown = {one.variant: one.name or repr(one.command) for one in wanted}
    said = [
        f"{count} run{'s' * (count != 1)} of {shown[variant]} ended with exit code {code}, and "
        f"count{'s' * (count == 1)} ({'-i' if args.ignore_failure else '--exit'})"
        for (variant, code), count in exit_codes.items()
    ]
    return answer_of(
        trial,
        named,
        seconds=seconds,
        counted=_counted(trial, args),
        standing=standing_of(look, trial.manifest.baseline),
        wanted_s=wanted_s,
        said=tuple(said),
        folder="" if args.dir == RUNS and args.resume in (None, True) else str(args.dir),
        again=again,
        units=args.time_unit,
    )


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
    args: argparse.Namespace,
    out: Printer,
    *,
    width: int,
    colours: bool,
) -> None:
    """Write the answer to `out`: as JSON, or as a screen of so many columns."""
    if args.json:
        show(answer, cast("TextIO", out), as_json=True)
        return
    called = {one.variant: one.name for one in answer.commands}
    notes = [one.text for one in shown_cautions(answer.verdict, called=called).cautions]
    if not colours or args.quiet:
        out.write(screen_of(answer, width, notes, short=args.quiet) + "\n")
        return
    out.paint(screen_of(answer, width, notes, coloured=True) + "\n")  # its names are cleaned


def write_exports(answer: CompareAnswer, args: argparse.Namespace) -> None:
    """Write the files that were asked for.

    Raises
    ------
    UsageError
        If one cannot be written.
    """
    asked = {
        args.export_json: exported_json,
        args.export_csv: exported_csv,
        args.export_markdown: exported_markdown,
    }
    for path, make in asked.items():
        if path is not None:
            write_file(path, make(answer))


def _counted(trial: Trial, args: argparse.Namespace) -> list[str]:
    """Name the further metrics that are shown: what was counted, and memory, where either was asked for."""
    counters = [name for name in trial.manifest.metrics if trial.is_counter(name)]
    return [*counters, _MEMORY] if args.counters is not None or counters else []


def _seconds_of(trial: Trial, sessions: int) -> float:
    """Add up how long the first sessions took, each from its first start to its last end."""
    total = 0.0
    for session in range(1, sessions + 1):
        rows = trial.session == session
        if rows.any():
            ends = trial.start_ns[rows] + np.nan_to_num(trial.numbers["wall_ns"][rows])
            total += float(ends.max() - trial.start_ns[rows].min()) / 1e9
    return total
