"""Trials whose runs have two speeds, decided by their padding or by nothing that is recorded."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.data.trial import read_trial

PERIOD, FIRST, LAST = 64, 16, 39


@pytest.fixture
def bimodal(synthetic, tmp_path):
    """Write a trial: of benchmark "padded" the padding decides, of "drawn" chance, "even" has one speed."""

    def written(*, seed=1, runs=90, sessions=3, benches=("padded", "drawn", "even"), name="one"):
        rng = np.random.default_rng(seed)
        noise = {bench: np.exp(rng.normal(0, 0.02, runs)) for bench in benches}
        built = synthetic(
            {"v": {bench: (0.02 * values).tolist() for bench, values in noise.items()}},
            sessions=sessions,
            trial=name,
        )
        for k, row in enumerate(built.rows):
            padding = int(rng.integers(4096))
            slow = {
                "padded": FIRST <= padding % PERIOD <= LAST,
                "drawn": rng.random() < 0.35,
                "even": False,
            }[row.benchmark]
            built.rows[k] = replace(
                row, padding_bytes=padding, wall_ns=round(row.wall_ns * (1.5 if slow else 1.0))
            )
        return read_trial(built.write(tmp_path / name))

    return written
