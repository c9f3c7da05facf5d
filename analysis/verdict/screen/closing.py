"""What stands below the answer: the cautions that fit, and the next command."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Sequence

from ...calibration import Certificate
from ...report import Caution, Command, Section
from ..result import Verdict

__all__ = ["cited", "first_cautions", "following"]

_WIDTH = 90  # columns of a caution beside its number
_NEXT = {"no-certificate": "fairtrial calibrate"}
_FEWEST = 1


_SESSIONS_ARE = {True: "are sound", False: "are doubtful", None: "could not be checked"}


def cited(certificate: Certificate) -> str:
    """Give a certificate in one line: how pooled runs err here, and what speaks against sessions."""
    pooled = next((one.rate for one in certificate.methods if one.name == "welch"), None)
    told = "" if pooled is None else f"run-level tests err in {100 * pooled:.0f} %; "
    return (
        f"A/A certificate of {certificate.created[:10]}: {told}"
        f"session-level ones {_SESSIONS_ARE[certificate.sound]}"
    )


def first_cautions(cautions: Sequence[Caution], lines: int) -> tuple[Caution, ...]:
    """Give what fits into so many lines, each cut to one.

    Parameters
    ----------
    cautions : sequence of Caution
        The gravest first.
    lines : int
        The lines that are free.
    """
    return tuple(_cut(one) for one in cautions[: max(lines, _FEWEST)])


def _cut(caution: Caution) -> Caution:
    text = textwrap.shorten(caution.text, _WIDTH, placeholder=" …")
    command = _NEXT.get(caution.code)
    if command is not None:
        text = f"{text}: {command}"
    return Caution(caution.code, text, caution.about)


def following(verdict: Verdict, hidden: int = 0) -> Section | None:
    """Name the next command: how far it is, measure more, or why.

    Parameters
    ----------
    verdict : Verdict
        What was shown.
    hidden : int
        How many cautions were not.
    """
    if verdict.path is None or verdict.trial is None:
        return None
    if not verdict.finished:
        return _commanded("how far it is", "status", verdict.path)
    compared = [one for one in verdict.candidates if one.multilevel is not None]
    if not compared:
        return _commanded("measure more", "run", verdict.campaign_path or "campaign.yaml")
    if compared[0].hosts is not None:
        return _commanded("how much of the variation is between hosts", "sources", verdict.path)
    if compared[0].panel is not None or verdict.hosts:
        return None
    metric = () if verdict.usual else ("--metric", verdict.metric)
    more = f", {hidden} more caution{'s' * (hidden > 1)}" if hidden else ""
    why = f"why{more}, and what the published methods say"
    return _commanded(why, "verdict", verdict.path, *metric, "--explain")


def _commanded(why: str, *words: str) -> Section:
    """Give one line that can be copied whole: a shell takes what follows # as a remark."""
    return Section((Command(f"{shlex.join(['fairtrial', *words])}   # {why}"),))
