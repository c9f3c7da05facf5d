"""How often the methods err on this machine, by this design: from one program under two names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .result import (
        METHOD_NAMES as METHOD_NAMES,
        CalibratedBenchmark as CalibratedBenchmark,
        Certificate as Certificate,
        MethodRate as MethodRate,
        SessionCheck as SessionCheck,
    )
    from .shelf import (
        Cited as Cited,
        differences as differences,
        newest_for as newest_for,
        read_certificate as read_certificate,
        read_certificates as read_certificates,
        write_certificate as write_certificate,
    )
    from .trial_rates import calibrate_trial as calibrate_trial
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "result": "METHOD_NAMES CalibratedBenchmark Certificate MethodRate SessionCheck",
            "shelf": "Cited differences newest_for read_certificate read_certificates write_certificate",
            "trial_rates": "calibrate_trial",
        },
    )
