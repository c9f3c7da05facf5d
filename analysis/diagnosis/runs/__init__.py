"""Tests of runs in the order in which they were measured: in cells, and over the whole host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .between import session_shift as session_shift
    from .describe import Description as Description, described as described
    from .host import HostTest as HostTest, host_tests as host_tests
    from .movers import Movers as Movers, movers_of as movers_of, only_these as only_these
    from .series import Series as Series, middle_of as middle_of, series_of as series_of
    from .sizes import size_of as size_of
    from .speeds import HostSpeeds as HostSpeeds, host_speeds as host_speeds
    from .table import (
        RunTable as RunTable,
        of_matrix as of_matrix,
        of_trial as of_trial,
        of_values as of_values,
    )
    from .within import CellTests as CellTests, within_sessions as within_sessions
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "between": "session_shift",
            "describe": "Description described",
            "host": "HostTest host_tests",
            "movers": "Movers movers_of only_these",
            "series": "Series middle_of series_of",
            "sizes": "size_of",
            "speeds": "HostSpeeds host_speeds",
            "table": "RunTable of_matrix of_trial of_values",
            "within": "CellTests within_sessions",
        },
    )
