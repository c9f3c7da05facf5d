"""Suspected factors: their effects within sessions, and how large those would be by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....faces import hands_on

if TYPE_CHECKING:
    from .cells import LEAST_RUNS as LEAST_RUNS, Cell as Cell, cell_of as cell_of
    from .columns import Columns as Columns, columns_of as columns_of
    from .family import Family as Family
    from .fit import factors_of as factors_of
    from .orders import Shifts as Shifts, Shuffles as Shuffles
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "cells": "Cell LEAST_RUNS cell_of",
            "columns": "Columns columns_of",
            "family": "Family",
            "fit": "factors_of",
            "orders": "Shifts Shuffles",
        },
    )
