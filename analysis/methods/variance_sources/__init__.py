"""Where variation comes from: across systems, within a trial, and what separates modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .covariates import (
        Covariate as Covariate,
        covariates_of as covariates_of,
        spoken as spoken,
    )
    from .fit import sources as sources
    from .result import (
        ClassesBy as ClassesBy,
        Component as Component,
        Factor as Factor,
        Importance as Importance,
        Mode as Mode,
        ModeClass as ModeClass,
        Sources as Sources,
    )
    from .systems import (
        sources_of_table as sources_of_table,
        systems_figure as systems_figure,
        systems_said as systems_said,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "covariates": "Covariate covariates_of spoken",
            "fit": "sources",
            "result": "ClassesBy Component Factor Importance Mode ModeClass Sources",
            "systems": "sources_of_table systems_figure systems_said",
        },
    )
