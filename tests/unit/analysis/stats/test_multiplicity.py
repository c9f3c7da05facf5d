"""Corrections for the number of tests, by their definitions and by scipy's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import false_discovery_control

from analysis.errors import UsageError
from analysis.record.trial_files import LOOKS, OPEN_LOOKS
from analysis.stats.arguments import checks_arguments, stream
from analysis.stats.multiplicity import adjusted, holm_steps, nominal_risk

P = [0.01, 0.02, 0.03, 0.04, 0.05, 0.001, 0.9]


def holm_rejects(pvalues: list[float], alpha: float) -> list[bool]:
    """Step down as Holm's paper says: stop at the first that is not rejected."""
    rejected = [False] * len(pvalues)
    for step, k in enumerate(sorted(range(len(pvalues)), key=pvalues.__getitem__)):
        if pvalues[k] > alpha / (len(pvalues) - step):
            break
        rejected[k] = True
    return rejected


def test_holm_by_its_definition() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        p = (rng.random(9) ** 3).tolist()
        for alpha in (0.01, 0.05, 0.3):
            assert (adjusted(p, "holm") <= alpha).tolist() == holm_rejects(p, alpha)


def test_holm_of_an_example_by_hand() -> None:
    assert adjusted([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert holm_steps([0.01, 0.04, 0.03]).tolist() == [3, 1, 2]


def test_bh_is_scipys() -> None:
    assert adjusted(P, "bh") == pytest.approx(false_discovery_control(P, method="bh"))
    assert holm_steps([0.01, 0.04, 0.03], "bh").tolist() == [3, 1, 1.5]


@pytest.mark.parametrize("correction", ["holm", "bh", "none"])
def test_what_has_no_p_is_no_member(correction: str) -> None:
    with_nan = adjusted([math.nan, *P, math.nan], correction)  # type: ignore[arg-type]
    assert np.isnan(with_nan[[0, -1]]).all()
    assert with_nan[1:-1] == pytest.approx(adjusted(P, correction))  # type: ignore[arg-type]
    assert adjusted([], correction).size == 0  # type: ignore[arg-type]


def test_none_changes_nothing() -> None:
    assert adjusted(P, "none").tolist() == P
    assert holm_steps(P, "none").tolist() == [1.0] * 7


def test_an_unknown_correction_is_refused() -> None:
    with pytest.raises(UsageError, match="correction must be"):
        adjusted(P, "sidak")  # type: ignore[arg-type]


# --- The nominal risks of repeated looks, and the lists that they belong to.


@pytest.mark.parametrize(
    ("candidates", "nominal"), [(1, 0.0058), (2, 0.0027), (3, 0.0017), (4, 0.0013)]
)
def test_the_nominal_risk_is_what_another_program_found(candidates, nominal):
    # its million paths give a quantile with a relative error of about 1 %, printed with two digits
    assert nominal_risk(0.05 / candidates) == pytest.approx(nominal, abs=0.00007)


def test_the_open_list_costs_more():
    assert nominal_risk(0.05, open=True) == pytest.approx(0.0039, abs=0.00005)
    assert nominal_risk(0.05, open=True) < nominal_risk(0.05)


def test_below_the_table_each_look_has_its_share_of_the_lists_that_there_are():
    for open_, looks in ((False, LOOKS), (True, OPEN_LOOKS)):
        assert nominal_risk(1e-6, open=open_) == pytest.approx(1e-6 / len(looks))


@given(st.floats(1e-7, 0.999), st.booleans())
def test_each_look_risks_less_than_all_and_at_least_its_share(risk, open_):
    looks = OPEN_LOOKS if open_ else LOOKS
    found = nominal_risk(risk, open=open_)
    assert risk / len(looks) <= found < risk
    assert nominal_risk(risk * 0.9, open=open_) < found or risk > 0.98


@pytest.mark.parametrize("wrong", [0.0, 1.0, -0.1, float("nan")])
def test_a_risk_that_is_none_is_refused(wrong):
    with pytest.raises(UsageError, match="between 0 and 1"):
        nominal_risk(wrong)


# --- What a public function takes for a list: authority is what the message of a refusal says


@checks_arguments
def named(names: Sequence[str]) -> list[str]:
    return list(names)


@checks_arguments
def also_named(names: Iterable[str]) -> list[str]:
    return list(names)


@checks_arguments
def totalled(values: Sequence[float]) -> float:
    return sum(values)


def test_a_text_is_a_list_of_texts_and_of_nothing_else() -> None:
    assert named("ab") == also_named("ab") == ["a", "b"]
    assert named("") == []
    for text in ("", "12"):
        with pytest.raises(UsageError, match=r"^values must be a list of numbers, not '"):
            totalled(text)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [[1.5, 2], (1.5, 2), np.array([1.5, 2.0])])
def test_lists_of_numbers(values: Any) -> None:
    assert totalled(values) == 3.5


@pytest.mark.parametrize("values", [[1.5, "2"], np.ones((1, 2)), {1.5: 2}, b"ab", 3.5])
def test_what_is_no_list_of_numbers(values: Any) -> None:
    with pytest.raises(UsageError, match="values must be a list of numbers"):
        totalled(values)


# ---


def test_the_same_seed_and_labels_give_the_same_stream():
    assert stream(7, "bootstrap", "gzip").random() == stream(7, "bootstrap", "gzip").random()


@pytest.mark.parametrize(
    "other", [(7, "bootstrap", "xz"), (7, "test", "gzip"), (8, "bootstrap", "gzip"), (7,)]
)
def test_another_seed_or_label_gives_another_stream(other):
    assert stream(7, "bootstrap", "gzip").random() != stream(*other).random()


def test_streams_of_neighbouring_labels_are_uncorrelated():
    rows = np.array([stream(1, f"benchmark {k}").standard_normal(4000) for k in range(20)])
    off = np.corrcoef(rows)[~np.eye(20, dtype=bool)]
    assert np.abs(off).max() < 5 / np.sqrt(4000)


def test_a_negative_seed_is_refused():
    with pytest.raises(UsageError, match="negative"):
        stream(-1)
