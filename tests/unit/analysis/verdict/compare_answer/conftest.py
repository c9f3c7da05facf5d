"""Made comparisons: session effects and runs drawn from a fixed stream, so that screens stay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.verdict.compare import NamedCommand, answer_of


@pytest.fixture
def compared(synthetic, tmp_path):
    """Give the answer on commands with these means (seconds) and spreads of runs."""

    def make(commands, *, sessions=6, runs=6, change=None, seconds=1.2, names=None, **known):
        rng = np.random.default_rng(20261127)
        shared = rng.normal(0, 0.01, (sessions, 1))
        times = {
            f"v{k}": {
                "command": list(
                    (mean * np.exp(shared + rng.normal(0, sd, (sessions, runs)))).ravel()
                )
            }
            for k, (_, mean, sd) in enumerate(commands)
        }
        built = synthetic(times, sessions=sessions)
        if change is not None:
            built.rows[:] = [new for row in built.rows if (new := change(row)) is not None]
        trial = read_trial(built.write(tmp_path / "t"))
        called = names or (None,) * len(commands)
        named = [
            NamedCommand(command=text, variant=f"v{k}", name=name)
            for k, ((text, _, _), name) in enumerate(zip(commands, called, strict=True))
        ]
        return answer_of(trial, named, seconds=seconds, **known)

    return make


@pytest.fixture
def failing():
    """Make a change of rows: the runs of a variant at these places of its own fail."""

    def make(variant, places, code=137):
        seen: list[int] = []

        def change(row):
            if row.variant != variant:
                return row
            seen.append(row.position)
            if len(seen) - 1 not in places:
                return row
            return replace(row, outcome="exit", exit_code=code)

        return change

    return make
