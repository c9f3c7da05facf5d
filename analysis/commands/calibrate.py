"""The subcommand ``calibrate``."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from ..errors import UsageError
from ..options import command
from .options import Metric, Workers, show


class _Asked(Metric):
    confidence: float
    power: float
    seed: int


@command("calibrate")
def calibrate(
    *,
    trial: str,
    pair: str | None,
    methods: str | None,
    asked: _Asked,
    dir: str | None,
    no_certificate: bool,
    workers: Workers,
    json: bool,
    out: TextIO,
    err: TextIO,
) -> int:
    """Find out how often each method finds a difference where there is none.

    TRIAL has two variants that execute the same program. Their labels are swapped in whole sessions,
    and each answer that names a winner is a false alarm. The result is kept as a certificate, which
    later verdicts on this machine cite.
    """
    from ..importers.reader import open_trial
    from ..plan.calibration import calibrate_trial
    from ..plan.certificate import write_certificate
    from ..record.fleet import is_fleet
    from ..record.trial_files import CERTIFICATES
    from ..stats.arguments import stream

    path = Path(trial)
    opened = open_trial(path)
    with workers.working() as count:
        certificate = calibrate_trial(
            opened,
            pair=_pair(pair),
            methods=None if methods is None else methods.split(","),
            metric=asked.metric,
            confidence=asked.confidence,
            power=asked.power,
            rng=stream(asked.seed, "calibrate"),
            seed=asked.seed,
            workers=count,
        )
    if is_fleet(path) and dir is None:
        err.write("no certificate is kept: one is for the sessions of one machine\n")
    elif not no_certificate:
        folder = path.resolve().parent / CERTIFICATES if dir is None else Path(dir)
        err.write(f"certificate kept as {write_certificate(certificate, folder)}\n")
    show(certificate, out, as_json=json)
    return 0


def _pair(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    names = text.split(",")
    if len(names) != 2 or not all(names):
        fix = "write them with a comma: --pair A,B"
        raise UsageError(f"--pair names two variants, not {text!r}", fix=fix)
    return names[0], names[1]
