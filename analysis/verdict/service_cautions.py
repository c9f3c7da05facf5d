"""Where the services of a trial ran, and what hooks left running, as far as it touches its answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..data.protocol import settings_of
from ..pages.model import Caution
from ..pages.short_sentence import ShortSentence
from ..record import service_metrics
from ..record.shapes import readable_rows
from ..record.trial_files import ENVIRONMENT, FINDINGS

if TYPE_CHECKING:
    from ..data.trial import Trial


def by_services(trial: Trial, metric: str) -> bool:
    """Tell whether services spent a part of a metric's time, in which no function of the runs can be found.

    The processor time of the runs is theirs alone.
    """
    if trial.manifest.metrics.get(metric, {}).get("source") == service_metrics.SOURCE:
        return True
    return bool(settings_of(trial.path).get("services")) and trial.holds_waiting(metric)


def service_cautions(trial: Trial) -> Iterator[Caution]:
    """Say which services shared a CPU with the measured programs or fairtrial, and what worked beside them undeclared."""
    yield from _left_running(trial)
    if not settings_of(trial.path).get("services"):
        return
    found: dict[str, dict[str, None]] = {"runs": {}, "fairtrial": {}}
    for row in readable_rows(trial.path / ENVIRONMENT):
        services = row.get("services")
        for label, about in services.items() if isinstance(services, dict) else ():
            beside = about.get("beside") if isinstance(about, dict) else None
            if beside in found:
                found[beside][label] = None
    for beside, labels in found.items():
        if labels:
            whom = "the measured programs" if beside == "runs" else "fairtrial itself"
            text = (
                f"services had no CPU of their own ({', '.join(labels)}): they ran beside {whom}, and waited for each "
                "other; more usable CPUs, or services.*.cpus, keep them apart"
            )
            short = ShortSentence.of(f"services shared a CPU with {whom}")
            yield Caution("services-share-cpus", text, tuple(labels), short)


def _left_running(trial: Trial) -> Iterator[Caution]:
    """Say what hooks left running and that used processor time during runs."""
    found = [
        (row.get("session"), str(row.get("what")))
        for row in readable_rows(trial.path / FINDINGS)
        if row.get("check") == "hook-left-running"
    ]
    if found:
        session, what = found[0]
        more = f", and likewise in {len(found) - 1} more" if len(found) > 1 else ""
        text = f"{what} of session {session}{more}: nobody saw how long it waited for a CPU; declare it under 'services'"
        told = ShortSentence.of("what a hook left running worked during runs: nobody saw it wait")
        yield Caution("hook-left-running", text, short=told)
