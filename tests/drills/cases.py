"""Cases of a drill: each a small table of JSON, attempted in a folder of its own, kept if it fails."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from arena import Arena, closing
from row import Row

Case = dict[str, Any]
FOUND = Path(__file__).with_name("found")


def attempted(attempt: Callable[[Case, Path], Arena], case: Case) -> Arena:
    """Attempt a case; give the arena as it was at the end."""
    with tempfile.TemporaryDirectory(prefix="fairtrial-drill-") as folder:
        arena = attempt(case, Path(folder))
        with closing(arena):
            arena.bury()
        arena.before = arena.rows()
    return arena


def row_of(
    drill: str,
    cases: Iterable[Case],
    attempt: Callable[[Case, Path], Arena],
    *,
    note: str = "",
    keep: Path | None = None,
) -> Row:
    """Attempt all cases.

    Parameters
    ----------
    drill : str
        Its name: the module's.
    cases : iterable of dict
        What to do, in types of JSON.
    attempt : callable
        Does it, in an empty folder.
    note : str
        What stands beside the row.
    keep : Path, optional
        Where cases are written that violate something, the first of each kind of violation.
    """
    tried = runs = wrong = left = 0
    failed: Counter[str] = Counter()
    for case in cases:
        arena = attempted(attempt, case)
        tried += arena.faults
        runs += len(arena.before)
        left += arena.left
        wrong += sum(text.startswith("row") for text in arena.violations)
        kinds = {text.partition(":")[0] for text in arena.violations}
        if keep is not None and kinds - {text.partition(":")[0] for text in failed}:
            text = json.dumps(case)
            digest = hashlib.sha256(text.encode()).hexdigest()[:8]
            (keep / f"{drill}--{digest}.case").write_text(text + "\n")
        failed.update(arena.violations)
    return Row(
        drill=drill, tried=tried, runs=runs, wrong=wrong, left=left, failed=dict(failed), note=note
    )
