"""What a reader should know before trusting what many nights say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from ...pages.model import Caution, merged
from ...pages.number_format import counted, listed
from ...stats.multiplicity import Correction
from ...words import shown
from ..changes import FEWEST, Changes
from ..least_p import least_share
from ..nights.model import Nights
from .labels import name_of
from .result import SeriesHistory

NO_NIGHT: Final = "no-night-since"
_NAMED = 3
_DATE = 10  # where it ends in a time of RFC 3339
_Said = Callable[[Sequence[SeriesHistory]], str]
_HASH = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")


def cautions_of(
    nights: Nights,
    judged: Sequence[SeriesHistory],
    found: Sequence[Changes],
    level: float,
    correction: Correction,
    *,
    held_back: Sequence[SeriesHistory] = (),
    no_night_since: str | None = None,
) -> tuple[Caution, ...]:
    """Give them, what weighs most first. `no_night_since`: ``--since``, where no night is new."""
    said = _naming(judged)
    return merged(
        _plain(judged),
        _held_back(held_back, said),
        _alike(
            [pair for pair in zip(judged, found, strict=True) if pair[0] not in held_back], said
        ),
        _gate(judged, said),
        _no_night(no_night_since),
        _fewest(judged, said),
        _together(judged, correction),
        _too_many(judged, level),
        nights.cautions,
        _ended(judged, said),
    )


def names_of(series: Sequence[SeriesHistory]) -> tuple[str, ...]:
    """Name the benchmarks of some series, each once."""
    return tuple(dict.fromkeys(one.benchmark for one in series))


def _naming(judged: Sequence[SeriesHistory]) -> _Said:
    """Give what names some series as the screen does: by their variants too, where several go on."""
    several = len({one.variant for one in judged if one.ends is None}) > 1
    return lambda some: listed(
        list(dict.fromkeys(name_of(one, several=several) for one in some)), _NAMED
    )


def _plain(judged: Sequence[SeriesHistory]) -> Iterator[Caution]:
    some = [one for one in judged if not one.paired]
    if some:
        yield Caution(
            "no-baseline",
            "host and program cannot be told apart: the values are not paired with a baseline of the same "
            "night, so a host that drifts is a change",
            names_of(some) if len(some) < len(judged) else (),
        )


def _held_back(some: Sequence[SeriesHistory], said: _Said) -> Iterator[Caution]:
    if some:
        told = "it has" if len(some) == 1 else "they have"
        yield Caution(
            "held-back",
            f"{said(some)}: neighbouring nights resemble each other, and p-values are corrected for it; "
            f"where nights are independent {told} an interval (--independent)",
            names_of(some),
        )


def _alike(pairs: Sequence[tuple[SeriesHistory, Changes]], said: _Said) -> Iterator[Caution]:
    some = [
        (one, changed)
        for one, changed in pairs
        if any(caution.code == "neighbours-alike" for caution in changed.cautions)
    ]
    if len(some) == 1:
        one, changed = some[0]
        text = next(c.text for c in changed.cautions if c.code == "neighbours-alike")
        yield Caution("neighbours-alike", f"{said([one])}: {text}", (one.benchmark,))
    elif some:
        alike = [one for one, _ in some]
        yield Caution(
            "neighbours-alike",
            f"{said(alike)}: neighbouring nights resemble each other, and an interval may hold no change "
            "more often than the risk says",
            names_of(alike),
        )


def _gate(judged: Sequence[SeriesHistory], said: _Said) -> Iterator[Caution]:
    few = [one for one in judged if one.reason == "few-nights"]
    if few:
        yield Caution(
            "few-of-reference",
            f"{said(few)}: fewer than {FEWEST} nights of reference, no alarm is possible yet",
            names_of(few),
        )
    late = [one for one in judged if one.reason == "no-night"]
    if late:
        yield Caution(
            NO_NIGHT,
            f"{said(late)}: no night began since yesterday, so nothing is decided; is the nightly job at work?",
            names_of(late),
        )
    new = [one for one in judged if one.reason == "few-new"]
    if new:
        yield Caution(
            "few-new-nights",
            f"{said(new)}: fewer than 2 nights are new, which decide nothing",
            names_of(new),
        )


def _no_night(since: str | None) -> Iterator[Caution]:
    if since is not None:
        yield Caution(
            NO_NIGHT, f"no night began since {shown(since)}, so no change can be in the new ones"
        )


def _fewest(judged: Sequence[SeriesHistory], said: _Said) -> Iterator[Caution]:
    few = [one for one in judged if not one.enough]
    if few and len(few) < len(judged):
        yield Caution(
            "too-few-nights",
            f"{said(few)}: fewer than {FEWEST} nights, so no change is looked for",
            names_of(few),
        )


def _together(judged: Sequence[SeriesHistory], correction: Correction) -> Iterator[Caution]:
    changed = [one for one in judged if one.intervals]
    if correction == "bh" and changed:
        yield Caution(
            "share-of-false",
            f"of {len(changed)} series that are named some may be false: "
            "their share is bounded on average, where benchmarks are independent (--correction holm)",
        )
    if correction == "none" and len(judged) > 1:
        yield Caution(
            "uncorrected",
            f"each of {len(judged)} series has the risk for itself: a false interval somewhere is likelier",
        )


def _too_many(judged: Sequence[SeriesHistory], level: float) -> Iterator[Caution]:
    if level < least_share():
        yield Caution(
            "too-many-series",
            f"{len(judged)} series leave each a level below {least_share():g}, of which no law is known: no interval "
            "can be told (--correction bh, or --benchmark)",
        )


def _ended(judged: Sequence[SeriesHistory], said: _Said) -> Iterator[Caution]:
    pairs = [(one, after) for one, after in pairwise(judged) if one.ends is not None]
    if not pairs:
        return
    last, after = max(pairs, key=lambda pair: pair[1].values[0].started_at or "")
    ended = [one for one, _ in pairs]
    night = (after.values[0].started_at or "")[:_DATE]
    often = "" if len({one.begins for _, one in pairs}) == 1 else ", the last"
    when = f"{often} on {night}" if night else ""
    where = f" ({short_hashes(shown(last.changed))})" if last.changed else ""
    before = sum(len(one.intervals) for one in ended)
    told = f"; before it {counted(before, 'change')} (--json has all)" if before else ""
    yield Caution(
        "series-ended",
        f"{said(ended)}: a new series began{when}{where}{told}",
        names_of(ended),
    )


def short_hashes(text: str) -> str:
    """Shorten whole hashes in a sentence to 7 signs."""
    return _HASH.sub(lambda found: found.group()[:7], text)
