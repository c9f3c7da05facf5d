"""How often a search names a commit falsely, over a grid of steps, spreads, lengths, tails and broken builds.

Authority: all proofs together state a false direction with at most the risk, and a step's sessions are independent of
those of its proof. The grid is that on which the rule was chosen, with other seeds and other places. Negative control:
every build differs by its layout, which no session refutes, and false commits are named.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from tests.calibration.test_history_calibration import Places, at_most

pytestmark = pytest.mark.calibration

RUNS = 8
MOST = 0.01  # of searches that name a false commit


class Cell(Places):
    """Made commits with tails, layouts of their own, or a step whose first commit does not build."""

    def __init__(
        self,
        label: str,
        commits: int,
        steps: tuple[float, ...],
        run: float,
        ses: float,
        *,
        broken: float = 0.0,
        culprit_broken: bool = False,
        tails: bool = False,
        layout: float = 0.0,
    ) -> None:
        super().__init__(label, commits, steps, run, ses, broken)
        if culprit_broken:
            self.broken |= {place for place in self.at if place < commits}
        self.tails = tails
        self.level = self.level + layout / 100 * self.rng.normal(size=self.level.size)

    def measure(self, places: tuple[int, ...]) -> dict[int, float]:
        if not self.tails:
            return super().measure(places)
        shared = self.ses * self.rng.standard_t(3) / math.sqrt(3)
        return {
            k: self.level[k]
            + shared
            + 0.3 * self.ses * self.rng.standard_t(3) / math.sqrt(3)
            + self.heavy_mean()
            for k in places
        }

    def heavy_mean(self) -> float:
        """Give the mean of lognormal runs of which 5 % are 5 standard deviations slower."""
        sd = self.run * math.sqrt(RUNS)
        x = self.rng.normal(size=RUNS)
        drawn = (np.exp(x) - math.exp(0.5)) / math.sqrt((math.e - 1) * math.e)
        return float(np.mean(sd * (drawn + 5 * (self.rng.random(RUNS) < 0.05))))


def of_cells(
    trials: int, label: str, commits: int, *rest: object, **more: object
) -> tuple[int, int, float]:
    """Count right answers and false commits, and give the mean number of sessions."""
    right = false = sessions = 0
    for k in range(trials):
        places = Cell(f"cell/{label}/{k}", commits, *rest, **more)  # type: ignore[arg-type]
        found = places.found(commits)
        right += places.right(found)
        false += places.false(found)
        sessions += found.sessions
    return right, false, sessions / trials


def grid(commits: int) -> Iterator[tuple[float, float, float]]:
    sessions = (0.0, 1.0, 3.0) if commits < 1000 else (1.0,)
    for step in (1.0, 2.0, 5.0, 20.0):
        for run in (0.5, 2.0, 5.0):
            for ses in sessions:
                yield step, run, ses


@pytest.mark.parametrize(("commits", "trials"), [(16, 100), (128, 100), (1000, 40)])
def test_no_cell_names_more_than_one_in_a_hundred_falsely(commits: int, trials: int) -> None:
    total = cells = 0
    for step, run, ses in grid(commits):
        label = f"{commits}/{step}/{run}/{ses}"
        right, false, _ = of_cells(trials, label, commits, (step,), run, ses)
        assert at_most(false, trials, MOST), label
        if step >= 5 and run <= 2:
            assert right >= 0.9 * trials, label
        total, cells = total + false, cells + 1
    assert at_most(total, cells * trials, 0.004)


@pytest.mark.parametrize(
    ("step", "run", "ses"), [(5.0, 0.5, 0.0), (5.0, 2.0, 1.0), (2.0, 2.0, 1.0), (5.0, 5.0, 3.0)]
)
def test_heavy_tails_name_no_more(step: float, run: float, ses: float) -> None:
    right, false, _ = of_cells(200, f"tails/{step}/{run}", 128, (step,), run, ses, tails=True)
    assert at_most(false, 200, MOST)
    assert right >= 180


@pytest.mark.parametrize(("broken", "itself"), [(0.05, False), (0.05, True), (0.3, False)])
@pytest.mark.parametrize("step", [2.0, 5.0])
def test_commits_that_do_not_build_share_the_claim(
    step: float, broken: float, itself: bool
) -> None:
    right, false, sessions = of_cells(
        200,
        f"broken/{step}/{broken}/{itself}",
        128,
        (step,),
        2.0,
        1.0,
        broken=broken,
        culprit_broken=itself,
    )
    assert at_most(false, 200, MOST)
    assert right >= 186
    assert sessions <= 35


@pytest.mark.parametrize(
    ("steps", "least"), [((20.0, 2.0), 0.65), ((5.0, 5.0, 5.0), 0.95), ((5.0, -4.7619), 0.0)]
)
def test_several_steps(steps: tuple[float, ...], least: float) -> None:
    right, false, _ = of_cells(200, f"several/{steps}", 128, steps, 2.0, 1.0)
    assert right >= least * 200
    assert at_most(false, 200, MOST)


def test_two_steps_among_a_thousand() -> None:
    right, false, _ = of_cells(60, "thousand", 1000, (5.0, 5.0), 2.0, 1.0)
    assert right >= 56
    assert at_most(false, 60, MOST)


def test_nothing_is_named_in_any_of_two_thousand_without_a_step() -> None:
    named = 0
    for commits in (16, 128):
        for run, ses in ((0.5, 0.0), (2.0, 1.0), (5.0, 3.0)):
            named += of_cells(340, f"none/{commits}/{run}", commits, (), run, ses)[1]
    assert named == 0


@pytest.mark.spot_check
def test_spot_check_of_layouts_that_no_session_refutes() -> None:  # negative control
    clean = of_cells(40, "clean", 64, (2.0,), 0.5, 0.0)[1]
    noisy = of_cells(40, "layout", 64, (2.0,), 0.5, 0.0, layout=1.0)[1]
    assert clean == 0
    assert noisy > 8
