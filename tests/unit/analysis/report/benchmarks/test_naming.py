"""Names beside two curves: by the design's rule, with random curves as a check that none meet."""

from __future__ import annotations

import numpy as np

from analysis.report.benchmarks.naming import across, placed_names

ROOM, HALF = 0.25, 0.045  # of a name in a narrow picture: width, and half of its height


def steps(values: np.ndarray) -> tuple[tuple[float, float], ...]:
    ordered = np.sort(values).tolist()
    inner = [(x, k / len(ordered)) for k, x in enumerate(ordered, start=1)]
    return ((0.0, 0.0), *inner, (1.0, 1.0))


def test_curves_that_lie_on_each_other_have_a_name_on_either_side() -> None:
    curve = steps(np.linspace(0.45, 0.55, 50))
    left, right = placed_names(curve, curve, ("a", "b"), "faster")
    assert (left.text, left.anchor, left.up) == ("a", "end", 0.72)
    assert (right.text, right.anchor, right.up) == ("b", "start", 0.8)
    assert left.at <= across(curve, 0.72)
    assert right.at >= across(curve, 0.8)


def test_curves_that_stand_apart_have_their_names_beside_themselves() -> None:
    fast, slow = steps(np.linspace(0.05, 0.1, 50)), steps(np.linspace(0.9, 0.95, 50))
    a, b = placed_names(fast, slow, ("fast", "slow"), "faster")
    assert a.anchor == "start"
    assert 0.05 <= a.at <= 0.15
    assert b.anchor == "end"
    assert 0.85 <= b.at <= 0.95


def test_names_never_meet_each_other_nor_leave_the_picture() -> None:
    rng = np.random.default_rng(1)
    placed = 0
    for _ in range(400):
        curves = [
            steps(np.clip(rng.normal(*centre, 20), 0, 1))
            for centre in rng.uniform((0, 0.01), (1, 0.3), (2, 2))
        ]
        names = placed_names(*curves, ("candidate", "base-line"), "neither")
        placed += len(names)
        boxes = []
        for name in names:
            left = name.at if name.anchor == "start" else name.at - ROOM
            assert left >= 0
            assert left + ROOM <= 1
            boxes.append((left, name.up))
        if len(boxes) == 2:
            (x1, y1), (x2, y2) = boxes
            assert abs(x1 - x2) >= ROOM or abs(y1 - y2) >= 2 * HALF
    assert placed > 700  # of 800: few find no room


def test_a_name_that_fits_nowhere_is_left_out() -> None:
    curve = steps(np.linspace(0.1, 0.9, 50))
    assert placed_names(curve, curve, ("W" * 40, "M" * 40), "neither") == ()
