"""The judge: performance matrices in, verdicts out. It never imports the runner.

This module stays light. The names of the Python contract are handed on lazily, so that
``import analysis`` costs no numpy.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "PerformanceMatrix": "analysis.matrix",
    "Trial": "analysis.trial",
    "Verdict": "analysis.verdict",
    "hpt": "analysis.methods.hpt",
    "HptResult": "analysis.methods.hpt",
    "hpt_speedup": "analysis.methods.hpt_speedup",
    "HptSpeedup": "analysis.methods.hpt_speedup",
    "hpt_context": "analysis.methods.hpt_context",
    "hpt_report": "analysis.methods.hpt_report",
    "normality": "analysis.assumptions",
    "read_trial": "analysis.trial",
    "FairtrialError": "analysis.errors",
    "UsageError": "analysis.errors",
    "StoreError": "analysis.errors",
    "AnalysisError": "analysis.errors",
    "InsufficientDataError": "analysis.errors",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - the table above is the one list of public names


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module attribute may be anything
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)
