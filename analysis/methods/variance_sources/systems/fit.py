"""A table's response explained by its other columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ....errors import AnalysisError
from ....stats import door
from ..result import Sources

__all__ = ["sources_of_table"]


@door
def sources_of_table(
    table: str | Path,
    response: str,  # noqa: ARG001 - filled in its own time
    *,
    group: str | None = None,  # noqa: ARG001
    ignore: Sequence[str] = (),  # noqa: ARG001
    rng: np.random.Generator,  # noqa: ARG001
    seed: int | None = None,  # noqa: ARG001
) -> Sources:
    """Explain a column by the others.

    Raises
    ------
    AnalysisError
        Always: tables are not read yet.
    """
    raise AnalysisError("tables are not read yet", str(table), "name a trial")
