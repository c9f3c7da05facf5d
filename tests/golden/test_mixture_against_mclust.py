"""BIC tables, choices and parameters of generated samples, as mclust 6.0.0 has them.

The samples and mclust's answers lie in `mixture_mclust`; the command that made them stands at the
head of its `record.R`.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from analysis.methods.mixture.fit import fit_mixture

HERE = Path(__file__).parent / "mixture_mclust"
RECORDED = json.loads((HERE / "recorded.json").read_text())
TOLERANCE = 1e-9


def samples() -> dict[str, np.ndarray]:
    rows = (line.split(",") for line in (HERE / "samples.csv").read_text().splitlines())
    found = {name: np.array([float(word) for word in words]) for name, *words in rows}
    u = np.arange(1, 2501) * 0.6180339887498949 % 1
    found["large"] = u + 0.5 * (u > 0.6) + 3 * (u > 0.8) * u
    return found


SAMPLES = samples()


def test_every_sample_is_recorded() -> None:
    assert SAMPLES.keys() == RECORDED.keys()


@pytest.mark.parametrize("name", SAMPLES)
def test_sample(name: str) -> None:
    fit, recorded = fit_mixture(SAMPLES[name]), RECORDED[name]
    assert fit.bic_table is not None
    for model in "EV":
        theirs = [np.nan if value is None else value for value in recorded[model]]
        assert fit.bic_table[model] == pytest.approx(theirs, rel=TOLERANCE, abs=0, nan_ok=True)
    assert fit.components == len(recorded["weights"])
    assert fit.equal_variance == (recorded["model"] != "V")
    assert fit.log_likelihood == pytest.approx(recorded["log_likelihood"], rel=TOLERANCE, abs=0)
    for field in ("weights", "means", "sds"):
        assert getattr(fit, field) == pytest.approx(recorded[field], rel=TOLERANCE, abs=0)


def test_the_table_can_tell_samples_apart() -> None:
    # negative control: a shift of one value by one part in a million is seen
    x = SAMPLES["bimodal-60"].copy()
    x[0] *= 1 + 1e-6
    table = fit_mixture(x).bic_table
    assert table is not None
    assert table["E"][1] != pytest.approx(RECORDED["bimodal-60"]["E"][1], rel=TOLERANCE)
