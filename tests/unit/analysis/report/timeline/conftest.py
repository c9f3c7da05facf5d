"""Trials whose host does what a test says: each run a second after the one before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from analysis.importers.reader import Reading
from analysis.report.subject import Subject, subject_of

BENCHES = {"text": 0.02, "logs": 2.0, "random": 0.2}
RUNS = 20


@pytest.fixture(scope="module")
def subject(
    tmp_path_factory: pytest.TempPathFactory,
    synthetic: Callable[..., object],
    once: Callable[..., object],
) -> Callable[..., Subject]:
    """Give a subject of trials on which the host's speed is `speed(session, second)`."""

    def make(speed=lambda session, second: 1.0, *, change=None, sessions=3, trials=1, **names):
        paths, folder = [], tmp_path_factory.mktemp("trials")
        for number in range(trials):
            rng = np.random.default_rng(7)
            benches = names.get("benches", BENCHES)
            cells = {bench: [1.0] * RUNS * sessions for bench in benches}
            made = synthetic({"base": cells, "fast": cells}, sessions=sessions, warmup=1)
            rows = []
            begin = {}
            for place, row in enumerate(made.rows):
                start = place + 100.0 * row.session
                second = start - begin.setdefault(row.session, start)
                level = benches[row.benchmark] * (0.5 if row.variant == "fast" else 1.0)
                wall = level * speed(row.session, second) * float(rng.lognormal(0, 0.004))
                rows.append(replace(row, start_ns=round(start * 1e9), wall_ns=round(wall * 1e9)))
            made.rows = rows
            if change is not None:
                change(made)
            paths.append(str(made.write(folder / f"trial-{number}")))
        sources = paths if trials == 1 else [f"{path}:fast" for path in paths]
        return subject_of(sources, Reading(), explain=False)

    return once(make)
