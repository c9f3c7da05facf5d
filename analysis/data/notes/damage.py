"""What no checksum of a trial shows: rows in another order, gone files, a stopping rule's runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...record import CAMPAIGN, ENVIRONMENT, FINDINGS, MEASUREMENTS, Manifest
from ...report import Caution
from ..columns import OUTCOMES

__all__ = ["damaged", "misstated", "sequential"]

_BESIDE = (CAMPAIGN, ENVIRONMENT, FINDINGS)  # files that the judge does not read


def misstated(manifest: Manifest, arrays: Mapping[str, NDArray[Any]]) -> Iterator[Caution]:
    """Say where the manifest names another number of runs than a session that ended has."""
    for end in manifest.session_ends:
        mine = (arrays["session"] == end.session) & ~arrays["warmup"]
        blocks = int(arrays["block"][mine].max(initial=0))
        if blocks != end.runs:
            yield Caution(
                "session-misstated",
                f"the manifest says that session {end.session} ended after {end.runs} runs a cell, "
                f"and its runs go to {blocks}",
                (str(end.session),),
            )


def damaged(
    path: Path, manifest: Manifest, arrays: Mapping[str, NDArray[Any]]
) -> Iterator[Caution]:
    """Say what no checksum shows: rows in another order, outcomes nobody knows, files that are gone."""
    planned = arrays["position"][arrays["position"] >= 0]
    if (np.diff(planned) < 0).any():
        yield Caution(
            "rows-reordered",
            f"the rows of {MEASUREMENTS} are not in the order of execution: the file was changed",
        )
    strange = int((arrays["outcome"] == OUTCOMES.index("unknown")).sum())
    if strange:
        noun = "run has" if strange == 1 else "runs have"
        yield Caution(
            "outcome-unknown",
            f"{strange} {noun} an outcome that this version does not know, and count as failed",
        )
    gone = [] if manifest.files else [name for name in _BESIDE if not (path / name).exists()]
    if gone:
        yield Caution("files-missing", f"missing in the trial: {', '.join(gone)}", tuple(gone))


def sequential(manifest: Manifest) -> Caution:
    """Say what a reader of intervals must know when the values decided how many runs there are."""
    ends = manifest.session_ends
    capped = sum(end.why != "width" for end in ends)
    runs = sorted({end.runs for end in ends})
    told = [] if manifest.stop is None else [f"width {manifest.stop.width:g}"]
    if runs:
        counts = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
        told.append(f"{counts} runs a cell and session")
    if capped:
        told.append(f"{capped} of {len(ends)} sessions ended at a cap before they were as narrow")
    return Caution(
        "sequential",
        "sequential: by the stopping rule the number of runs depends on the values "
        f"({'; '.join(told)}); methods that take it as fixed are only nearly right: in simulation, t "
        "intervals on logs then covered 94 to 95 % where 95 % is nominal, percentile bootstraps 90 "
        "to 92 %",
    )
