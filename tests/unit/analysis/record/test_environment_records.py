"""Which sessions an environment record tells of; authority: docs/trial-format.md, by enumeration."""

from __future__ import annotations

import pytest

from analysis.record.environment import places_of


@pytest.mark.parametrize(
    ("record", "places"),
    [
        ({"session": 3}, [(3, 0)]),
        ({"session": 3, "segment": 2}, [(3, 2)]),
        ({"session": 1, "segment": 0, "sessions": [1, 3]}, [(1, 0), (2, 0), (3, 0)]),
        ({"session": 3, "segment": 1, "sessions": [3, 5]}, [(3, 1), (4, 0), (5, 0)]),
        ({"session": 2, "sessions": [2, 2]}, [(2, 0)]),
        ({"session": 4, "sessions": [4, None]}, [(4, 0), (5, 0), (6, 0)]),  # killed
        ({"session": 4, "sessions": [4, 10**18]}, [(4, 0), (5, 0), (6, 0)]),  # damaged
        ({"session": 4, "sessions": "all"}, [(4, 0)]),
        ({"session": 4, "sessions": []}, [(4, 0)]),
    ],
)
def test_a_record_tells_of_its_sessions(record, places):
    assert list(places_of(record, 6)) == places
