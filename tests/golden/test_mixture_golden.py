"""The mixture fit against the document's example 1 (ammp) and an independent fit of all candidates.

`varcore_ammp` holds the printed times and digits, and what mclust 6.0.0 and an independent program
make of them.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from analysis.methods.mixture.fit import fit_mixture
from analysis.methods.mixture.model import Mixture

HERE = Path(__file__).parent / "varcore_ammp"
EXPECTED = json.loads((HERE / "expected.json").read_text())


@pytest.fixture(scope="module")
def times() -> np.ndarray:
    return np.loadtxt(HERE / "times.csv", delimiter=",", skiprows=1)[:, 0]


@pytest.fixture(scope="module")
def fit(times: np.ndarray) -> Mixture:
    return fit_mixture(times)


def test_every_printed_digit(fit: Mixture) -> None:
    printed = EXPECTED["published"]
    assert fit.components == printed["n_clusters"]
    assert not fit.equal_variance
    assert np.round(fit.weights, 8).tolist() == pytest.approx(printed["weights"], abs=1e-12)
    assert np.round(fit.means, 5).tolist() == pytest.approx(printed["means"], abs=1e-12)
    assert np.round(fit.sds, 9).tolist() == pytest.approx(printed["sds"], abs=1e-12)


def test_printed_modes_and_clusters(fit: Mixture, times: np.ndarray) -> None:
    assert len(fit.modes()) == EXPECTED["published"]["n_modes"]
    clusters = np.loadtxt(HERE / "times.csv", delimiter=",", skiprows=1)[:, 1]
    assert (fit.classify(times) + 1).tolist() == clusters.tolist()


def test_the_winner_and_the_state_of_convergence(fit: Mixture) -> None:
    chosen = EXPECTED["computed_R"]["chosen"]
    state = EXPECTED["computed_R"]["em_state_at_convergence"]
    assert fit.log_likelihood == pytest.approx(chosen["loglik"], rel=1e-11)
    assert fit.bic == pytest.approx(chosen["bic"], rel=1e-11)
    assert fit.iterations == state["iterations"]
    assert fit.em is not None
    for name in ("weights", "means", "sds"):
        assert getattr(fit, name) == pytest.approx(chosen[name], rel=1e-9)
        assert getattr(fit.em, name) == pytest.approx(state[name], rel=1e-9)


def test_the_bic_of_every_candidate(fit: Mixture) -> None:
    table = EXPECTED["computed_scipy"]["independent_em"]["bic_table"]
    assert fit.bic_table is not None
    for model in "EV":
        reference = [table[f"{model}{k}"] for k in range(1, 10)]
        missing = [np.nan if value is None else value for value in reference]
        assert fit.bic_table[model] == pytest.approx(missing, rel=1e-10, nan_ok=True)


def test_the_closing_step_is_what_reaches_the_printed_digits(fit: Mixture) -> None:
    # negative control: without the closing M-step the second weight is 0.15234, not 0.15281
    assert fit.em is not None
    assert abs(fit.em.weights[1] - EXPECTED["published"]["weights"][1]) > 4e-4


def test_the_values_order_does_not_matter(fit: Mixture, times: np.ndarray) -> None:
    again = fit_mixture(times[::-1])
    assert str(again.bic_table) == str(fit.bic_table)
    assert again.means.tolist() == fit.means.tolist()
