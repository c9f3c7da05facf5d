"""What is executed for an answer: profiles are recorded, or instructions counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...errors import counted as number_of
from .view import said_of

if TYPE_CHECKING:
    from analysis.commands.explaining.targets import Target

    from ...campaign.model import Campaign
    from .view import WhyView


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """How it is executed; None where the usual is meant."""

    sessions: int | None = None
    frequency_hz: int | None = None
    chains: Literal["fp", "dwarf"] | None = None
    wait_s: float = 0.0


def recorded(targets: Sequence[Target], request: Request, view: WhyView) -> tuple[Path, ...]:
    """Record the profile of each target beside its trial; give their folders.

    Raises
    ------
    HostError
        If nothing can be recorded here, or host and programs are not those of the trial.
    Interrupted
        If a signal came.
    """
    from analysis.record.manifest import read_manifest

    from ...trial.execution import Options
    from ...why.campaign_then import campaign_then
    from ...why.recording import SESSIONS, ProfileRequest, record_profile

    places = []
    for target in targets:
        manifest = read_manifest(target.trial)
        sessions = request.sessions or SESSIONS
        how = number_of(sessions, "session")
        view.about(said_of(target.variant, manifest.baseline, target.benchmarks, how))
        asked = ProfileRequest(
            variant=target.variant,
            benchmarks=target.benchmarks,
            sessions=sessions,
            frequency_hz=request.frequency_hz,
            chains=request.chains,
            verdict_was=target.verdict_was,
        )
        options = Options(folder=target.trial.parent, wait_s=request.wait_s)
        campaign = campaign_then(target.trial, manifest)
        places.append(record_profile(campaign, target.trial, asked, options, view))
    return tuple(places)


def counted(
    targets: Sequence[Target], request: Request, view: WhyView, renames: Mapping[str, str]
) -> Any:  # noqa: ANN401 - what is written by `write_answer`
    """Count the instructions of each target twice, and compare them.

    Raises
    ------
    HostError
        If there is no valgrind, or host and programs are not those of the trial.
    LaunchError
        If a program fails under it.
    Interrupted
        If a signal came.
    """
    from analysis.commands.explaining.answers import counts_answer, counts_compared
    from analysis.record.manifest import read_manifest

    from ...why.campaign_then import campaign_then
    from ...why.counting import count_instructions, find_valgrind
    from ...why.recording import ProfileRequest, of_two
    from ...why.unchanged import refuse_changed

    valgrind = find_valgrind()
    answers = []
    for target in targets:
        manifest = read_manifest(target.trial)
        campaign = campaign_then(target.trial, manifest)
        asked = ProfileRequest(variant=target.variant, benchmarks=target.benchmarks)
        refuse_changed(campaign, target.trial, (target.variant,), target.benchmarks)
        two = of_two(campaign, manifest, asked)
        pair = (manifest.baseline, target.variant)
        how = "callgrind, two executions each"
        view.about(said_of(target.variant, manifest.baseline, target.benchmarks, how))
        found = count_instructions(two, valgrind=valgrind, watcher=view, wait_s=request.wait_s)
        for benchmark in target.benchmarks:
            sides = [found[benchmark, variant] for variant in pair]
            answers.append(
                counts_compared(
                    *((one.first, one.second) for one in sides),
                    trial=str(target.trial),
                    benchmark=benchmark,
                    names=pair,
                    valgrind=valgrind.version,
                    renames=renames,
                    programs=_programs(campaign, benchmark, pair),
                )
            )
    return counts_answer(answers)


def _programs(campaign: Campaign, benchmark: str, pair: tuple[str, str]) -> tuple[str, str]:
    names = [Path(campaign.cell(benchmark, variant).command.argv[0]).name for variant in pair]
    return names[0], names[1]
