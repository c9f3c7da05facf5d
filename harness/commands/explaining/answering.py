"""What is executed for an answer: profiles are recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...errors import counted as number_of
from .view import said_of

if TYPE_CHECKING:
    from analysis.commands.explaining.targets import Target

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
