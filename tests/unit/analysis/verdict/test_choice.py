"""Which rows a first screen shows: all up to twelve, else both ends and what has cautions."""

from __future__ import annotations

from analysis.verdict.screen import chosen

NAMES = [f"b{k:02}" for k in range(40)]
SPEEDUPS = {name: 1 + k / 100 for k, name in enumerate(NAMES)}


def test_up_to_twelve_are_all_shown():
    shown, hidden = chosen(dict.fromkeys(NAMES[:12], 1.0), (), whole=False)
    assert (shown, hidden) == (tuple(NAMES[:12]), 0)


def test_of_more_both_ends_and_up_to_four_with_cautions_between():
    shown, hidden = chosen(SPEEDUPS, (), whole=False)
    assert shown == (*NAMES[:4], *NAMES[-4:])
    assert hidden == 32
    shown, hidden = chosen(SPEEDUPS, {"b01", "b10", "b11", "b12", "b13", "b14"}, whole=False)
    assert shown == (*NAMES[:4], *NAMES[10:14], *NAMES[-4:])
    assert hidden == 28
    assert chosen(SPEEDUPS, (), whole=True)[1] == 0
    speedups = SPEEDUPS | {"b00": None}
    assert "b00" not in chosen(speedups, (), whole=False)[0]
