"""Where the services of a trial ran, as far as it touches its answer: on a CPU that was not theirs alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..data.protocol import settings_of
from ..pages.model import Caution
from ..pages.short_sentence import ShortSentence
from ..record.shapes import readable_rows
from ..record.trial_files import ENVIRONMENT

if TYPE_CHECKING:
    from ..data.trial import Trial


def service_cautions(trial: Trial) -> Iterator[Caution]:
    """Say which services shared a CPU with the measured programs, or with fairtrial itself."""
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
