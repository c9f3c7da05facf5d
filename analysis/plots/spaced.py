"""Ticks of speedups whose texts have room beside each other."""

from __future__ import annotations

from collections.abc import Iterable

from .scale import Scale, Tick, quantity_ticks, ratio_ticks

__all__ = ["spaced_ticks"]

_REACH = 0.4  # share of the axis over which the usual ticks must reach
_NARROW = 1.7  # times the room that ticks need where they are not minor
_EDGE = 0.03  # a tick nearer to an end has no room for its text


def spaced_ticks(scale: Scale, room: float = 0.2) -> tuple[Tick, ...]:
    """Give ticks of speedups that are `room` apart, such as ``2×``; 1 goes before all others.

    Parameters
    ----------
    scale : Scale
        Of speedups.
    room : float
        The widest text, as a share of the narrowest picture. Ticks that are much nearer to others
        are minor.

    Returns
    -------
    tuple of Tick
        The usual ones where they reach over enough of the axis, else round values.
    """
    usual = ratio_ticks(scale)
    if _reach(scale, usual) < _REACH:
        other = tuple(
            Tick(tick.value, f"{tick.value:.6g}×") for tick in quantity_ticks(scale, "1", most=5)
        )
        usual = max((usual, other), key=lambda ticks: _reach(scale, ticks))
    if scale.holds(1.0) and all(tick.value != 1 for tick in usual):
        usual = tuple(sorted((*usual, Tick(1.0, "1×")), key=lambda tick: tick.value))
    inside = [tick for tick in usual if _EDGE <= scale.at(tick.value) <= 1 - _EDGE]
    ranked = sorted(inside, key=lambda tick: (tick.value != 1, tick not in (inside[0], inside[-1])))
    kept = _apart(scale, ranked, room)
    far = _apart(scale, (tick for tick in ranked if tick in kept), _NARROW * room)
    return tuple(
        Tick(tick.value, tick.text, minor=tick not in far) for tick in inside if tick in kept
    )


def _reach(scale: Scale, ticks: Iterable[Tick]) -> float:
    places = [scale.at(tick.value) for tick in ticks]
    return max(places) - min(places) if places else 0.0


def _apart(scale: Scale, ranked: Iterable[Tick], room: float) -> list[Tick]:
    """Keep those that are far enough from all that were kept before."""
    kept: list[Tick] = []
    for tick in ranked:
        if all(abs(scale.at(tick.value) - scale.at(one.value)) >= room for one in kept):
            kept.append(tick)
    return kept
