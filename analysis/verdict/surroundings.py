"""What else is known of a trial: how its runs look, and whether the method was tried on this machine.

The one place where a verdict looks beyond the runs that it compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..calibration import Certificate, Cited, differences, newest_for, read_certificate
from ..data import Trial
from ..diagnosis.audit import Diagnosis, diagnose_trial
from ..errors import InsufficientDataError
from ..record import CERTIFICATES
from ..report import Caution

__all__ = ["Surroundings", "surroundings_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Surroundings:
    """What stands beside the answer.

    `cautions` name the benchmarks and variants that they touch; `last` is what is said after all
    others, of the certificate.
    """

    diagnosis: Diagnosis | None = None
    certificate: Certificate | None = None
    cautions: tuple[Caution, ...] = ()
    last: tuple[Caution, ...] = ()


def surroundings_of(
    trial: Trial, metric: str, variants: Sequence[str], certificate: Path | None
) -> Surroundings:
    """Look at the trial's findings and at the certificates beside it.

    Parameters
    ----------
    trial : Trial
        The trial that is judged; nothing is written into it.
    metric : str
        What is judged.
    variants : sequence of str
        Which variants are judged; with one alone no method is used that a certificate speaks of.
    certificate : Path, optional
        The certificate to cite; by default the newest in ``certificates`` beside the trial.

    Raises
    ------
    StoreError
        If the certificate named is none.
    """
    try:
        found = diagnose_trial(trial, metric=metric, variants=variants)
    except InsufficientDataError:  # no run has a value: the verdict says so itself
        found = None
    cited = _cited(trial, metric, certificate) if len(variants) > 1 else None
    holds = cited is not None and cited.certificate is not None and not cited.voids
    return Surroundings(
        diagnosis=found,
        certificate=cited.certificate if cited is not None and holds else None,
        cautions=() if found is None else found.cautions,
        last=()
        if cited is None
        else tuple(_certificate_cautions(cited, named=certificate is not None)),
    )


def _cited(trial: Trial, metric: str, certificate: Path | None) -> Cited:
    if certificate is None:
        return newest_for(trial, trial.path.parent / CERTIFICATES, metric=metric)
    one = read_certificate(certificate)
    return Cited(one, *differences(one, trial, metric=metric))


def _certificate_cautions(cited: Cited, *, named: bool) -> Iterator[Caution]:
    if cited.certificate is None or (cited.voids and not named):
        yield Caution("no-certificate", "no A/A certificate for this machine and design")
    elif cited.voids:
        yield Caution(
            "no-certificate", f"the certificate does not speak of this: {'; '.join(cited.voids)}"
        )
    elif cited.warns:
        yield Caution("certificate-differs", f"the certificate: {'; '.join(cited.warns)}")
