"""Spot checks judge without what would decide more: nearly all of the time goes there, and no word comes of it."""

from __future__ import annotations

import pytest

from analysis.methods.multilevel import lines


@pytest.fixture(autouse=True)
def _without_advice(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = "advice" in request.node.path.name
    if request.node.get_closest_marker("spot_check") and not asked:
        monkeypatch.setattr(lines, "advise", lambda estimate, *_: (None,) * len(estimate))
