"""Densities and modes: two known states are told, one smooth peak is not."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.plots.axes import Scale
from analysis.report.runs import Cell, Modes, densities, modes_of, peak

SCALE = Scale(0.5, 2.0, log=True)


def cell(values: np.ndarray) -> Cell:
    return Cell(
        values=values,
        labels=("",),
        session=np.zeros(values.size, dtype=np.int64),
        block=None,
    )


def states(seed: int, *centres: float) -> Cell:
    rng = np.random.default_rng(seed)
    logs = np.concatenate([rng.normal(np.log(centre), 0.02, 60) for centre in centres])
    return cell(np.exp(rng.permutation(logs)))


def test_two_states_are_two_modes_where_they_are() -> None:
    found = modes_of(states(1, 0.035, 0.046), 7, "x")
    assert found is not None
    assert found.dip < 0.01
    assert found.at == pytest.approx([0.035, 0.046], rel=0.02)
    assert len(found.parts) == 2


def test_one_state_has_neither_dip_nor_components() -> None:
    """The negative control: of 20 samples with one peak, about one in twenty dips by chance."""
    found = [modes_of(states(seed, 0.04), 7, "x") for seed in range(20)]
    assert len(found) == 20
    assert sum(one is not None and one.dip <= 0.05 for one in found) <= 3
    assert sum(one is not None and len(one.at) > 1 for one in found) <= 2


def test_few_many_and_equal_runs_are_not_looked_at() -> None:
    rng = np.random.default_rng(1)
    for values in (rng.lognormal(size=29), rng.lognormal(size=2001), np.zeros(50)):
        assert modes_of(cell(values), 7, "x") is None


def test_the_same_seed_gives_the_same_answer() -> None:
    first, second = (modes_of(states(1, 0.035, 0.046), 7, "x") for _ in range(2))
    assert first is not None
    assert second is not None
    assert (first.dip, first.at, first.parts) == (second.dip, second.at, second.parts)


def test_the_highest_density_is_one_and_lies_at_the_mode() -> None:
    rng = np.random.default_rng(2)
    narrow, wide = (cell(np.exp(rng.normal(0, sd, 400))) for sd in (0.05, 0.2))
    found, parts = densities({"a": narrow, "b": wide}, {"a": SCALE, "b": SCALE}, {})
    assert max(x for x, _ in found["a"]) == 1
    assert max(x for x, _ in found["b"]) == pytest.approx(0.29, rel=0.2)  # as the widths are
    assert max(found["b"])[1] == pytest.approx(0.5, abs=0.1)
    assert parts == {"a": [], "b": []}


def test_components_add_up_to_the_density_of_the_mixture() -> None:
    modes = Modes(dip=0.001, at=(0.8, 1.25), parts=((0.5, -0.22, 0.06), (0.5, 0.22, 0.06)))
    values = np.exp(np.random.default_rng(3).choice([-0.22, 0.22], 200))
    _, parts = densities({"a": cell(values)}, {"a": SCALE}, {"a": modes})
    low, high = parts["a"]
    assert max(low)[0] == pytest.approx(max(high)[0], rel=0.05)
    assert max(low)[1] < 0.5 < max(high)[1]
    assert max(x for part in parts["a"] for x, _ in part) <= 1  # they stay in their panel


def test_few_or_equal_runs_have_no_density() -> None:
    found, _ = densities(
        {"a": cell(np.ones(9)), "b": cell(np.array([1.0, 1.1, 1.2]))}, {"a": SCALE, "b": SCALE}, {}
    )
    assert found == {"a": [], "b": []}


def test_the_peak_is_where_most_runs_lie() -> None:
    assert peak(np.array([1.0, 1.01, 1.02, 1.01, 1.0, 5.0])) == pytest.approx(1.01, rel=0.02)
    assert peak(np.ones(9)) == 1
    assert peak(np.ones(3)) is None
