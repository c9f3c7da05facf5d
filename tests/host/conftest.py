"""What tests of this machine take from the rooms whose parts they execute for real, and how often they fail by themselves."""

import pytest

from tests.unit.harness.conftest import *  # noqa: F403
from tests.unit.harness.trial.test_profiles import listening, make_tiny, measured_tiny, perf, tiny  # noqa: F401


def pytest_itemcollected(item: pytest.Item) -> None:
    mark = item.get_closest_marker("host_chance")
    if mark is not None:  # for the table of `make host`
        item.user_properties.append(("chance", mark.args[0]))
