"""Starts, BIC tables, choices and parameters of pairs, as mclust 6.0.0 has them.

The samples and mclust's answers lie in `mixture_plane_mclust`; the command that made them stands at
the head of its `record.R`. Agreement is that of the whole of ``Mclust(data)`` with its defaults.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from analysis.methods.mixture.plane.fit import fit_mixture_2d, start_classes
from analysis.methods.mixture.plane.model import MODELS

HERE = Path(__file__).parent / "mixture_plane_mclust"
RECORDED = json.loads((HERE / "recorded.json").read_text())
TOLERANCE = 1e-9
NAMED = {"XII": "EII", "XXI": "EEI", "XXX": "EEE"}  # mclust's names of one Gaussian


def samples() -> dict[str, np.ndarray]:
    rows = (line.split(",") for line in (HERE / "samples.csv").read_text().splitlines())
    found = {
        name: np.array([float(word) for word in words]).reshape(-1, 2) for name, *words in rows
    }
    i = np.arange(1, 2101)
    u, v = i * 0.6180339887498949 % 1, i * 0.4142135623730950 % 1
    found["large"] = np.column_stack([u + 2 * (v > 0.7), v + 0.5 * u])
    return found


SAMPLES = samples()


def undetermined(model: str, k: int, classes: list[str]) -> bool:
    """Tell whether rounding decides: EEV gives a class of hardly more than a point a direction."""
    if model != "EEV" or k == 1 or not classes:
        return False
    sizes = np.bincount([int(digit) for digit in classes[k - 2]])
    return bool(sizes.min() < 3)


def test_every_sample_is_recorded() -> None:
    assert SAMPLES.keys() == RECORDED.keys()


@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "large"])
def test_start(name: str) -> None:
    pairs, recorded = SAMPLES[name], RECORDED[name]["classes"]
    found = start_classes(*pairs.T.copy(), min(9, len(pairs)))
    assert ["".join(map(str, row)) for row in found[1:]] == recorded


@pytest.mark.parametrize("name", SAMPLES)
def test_sample(name: str) -> None:
    fit, recorded = fit_mixture_2d(SAMPLES[name]), RECORDED[name]
    assert fit.bic_table is not None
    compared = 0
    for model in MODELS:
        for k, (ours, theirs) in enumerate(
            zip(fit.bic_table[model], recorded["bic"][model], strict=True), 1
        ):
            if undetermined(model, k, recorded["classes"]):
                continue
            compared += 1
            wanted = np.nan if theirs is None else theirs
            assert ours == pytest.approx(wanted, rel=TOLERANCE, abs=0, nan_ok=True), (model, k)
    assert compared > 0.9 * len(MODELS) * len(fit.bic_table["EII"])
    assert fit.model == NAMED.get(recorded["model"], recorded["model"])
    assert fit.components == len(recorded["weights"])
    assert fit.log_likelihood == pytest.approx(recorded["log_likelihood"], rel=TOLERANCE, abs=0)
    assert fit.weights == pytest.approx(recorded["weights"], rel=TOLERANCE, abs=0)
    assert fit.means.ravel() == pytest.approx(recorded["means"], rel=TOLERANCE, abs=1e-12)
    assert fit.covariances.ravel() == pytest.approx(
        recorded["covariances"], rel=TOLERANCE, abs=1e-12
    )
    if recorded["members"]:
        assert "".join(map(str, fit.classify(SAMPLES[name]))) == recorded["members"]


def test_the_tables_can_tell_samples_apart() -> None:
    # negative control: a shift of one value by one part in a million is seen
    pairs = SAMPLES["apart-60"].copy()
    pairs[0, 0] *= 1 + 1e-6
    table = fit_mixture_2d(pairs, models=["VVV"], max_components=2).bic_table
    assert table is not None
    assert table["VVV"][1] != pytest.approx(
        RECORDED["apart-60"]["bic"]["VVV"][1], rel=TOLERANCE, abs=0
    )
