"""From what is asked to the answer: profiles are recorded, or read; instructions are counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

from analysis.errors import UsageError

from ...errors import counted as number_of
from ..arguments import write_json
from .view import said_of

if TYPE_CHECKING:
    from analysis.why.instructions.result import InstructionsAnswer
    from analysis.why.result import WhyAnswer

    from ...campaign.model import Campaign
    from .targets import Target
    from .view import WhyView

NOTHING_NAMED, NOT_RESOLVED = 1, 3  # exit codes


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a command line asks; None where the usual is meant.

    `benchmarks` are those that are named. `renames` has new names of functions by their old ones. With `any_total`
    functions are named although the whole difference is not there again.
    """

    benchmarks: tuple[str, ...] = ()
    sessions: int | None = None
    frequency_hz: int | None = None
    chains: Literal["fp", "dwarf"] | None = None
    renames: Mapping[str, str] = field(default_factory=dict)
    any_total: bool = False
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


def explained(profiles: Sequence[Path], request: Request) -> WhyAnswer:
    """Explain stored profiles, benchmark by benchmark.

    Raises
    ------
    UsageError
        If a benchmark is named of which nothing is stored.
    StoreError
        If a profile is damaged.
    """
    from analysis.record.profiles import read_profile
    from analysis.why.explain import explain
    from analysis.why.result import WhyAnswer

    stored = [read_profile(place) for place in profiles]
    known = dict.fromkeys(name for one in stored for name in one.profile.benchmarks)
    for name in request.benchmarks:
        if name not in known:
            what = f"no profile of the benchmark {name!r} is stored"
            raise UsageError(what, str(profiles[0].parent), f"stored: {', '.join(known)}")
    return WhyAnswer(
        answers=tuple(
            explain(one, benchmark=name, renames=request.renames, any_total=request.any_total)
            for one in stored
            for name in one.profile.benchmarks
            if name in (request.benchmarks or known)
        )
    )


def exit_code_of(answer: WhyAnswer, *, require: bool) -> int:
    """Give 3 where no benchmark differs again, 1 where a name is required and there is none, else 0."""
    if all(one.withheld == "total-not-resolved" for one in answer.answers):
        return NOT_RESOLVED
    return NOTHING_NAMED if require and not any(one.named for one in answer.answers) else 0


def counted(targets: Sequence[Target], request: Request, view: WhyView) -> InstructionsAnswer:
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
    from analysis.record.manifest import read_manifest
    from analysis.why.instructions.result import InstructionsAnswer, compare_counts

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
                compare_counts(
                    *((one.first, one.second) for one in sides),
                    trial=str(target.trial),
                    benchmark=benchmark,
                    names=pair,
                    valgrind=valgrind.version,
                    renames=request.renames,
                    programs=_programs(campaign, benchmark, pair),
                )
            )
    return InstructionsAnswer(answers=tuple(answers))


def _programs(campaign: Campaign, benchmark: str, pair: tuple[str, str]) -> tuple[str, str]:
    names = [Path(campaign.cell(benchmark, variant).command.argv[0]).name for variant in pair]
    return names[0], names[1]


def write_answer(answer: Any, out: TextIO, *, form: str) -> None:  # noqa: ANN401 - a result
    """Write an answer as text, ``md`` or ``json``."""
    if form == "json":
        write_json(answer.to_dict(), out)
    elif form == "md":
        from analysis.pages.as_markup import render_markdown
        from analysis.pages.model import page_of

        out.write(f"{render_markdown(page_of(answer)).rstrip()}\n")
    else:
        out.write(f"{answer}\n")
