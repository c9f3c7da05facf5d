"""What a run of mutants shows: shares with bounds by room and pooled, survivors, before and after."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scipy.stats import binomtest

from tests.mutants.records import DEAD, outcomes

LEVEL = 0.90  # of the two-sided bounds (Clopper and Pearson)


def bounds(killed: int, judged: int) -> tuple[float, float]:
    """Give the bounds of a share of killed mutants."""
    if not judged:
        return 0.0, 1.0
    found = binomtest(killed, judged).proportion_ci(LEVEL, method="exact")
    return float(found.low), float(found.high)


def table(records: Sequence[dict[str, Any]], equivalent: Mapping[str, str]) -> str:
    """Give a row for each room and one for all: how many were killed, the share and its bounds."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in outcomes(records).values():
        result = "equivalent" if one["key"] in equivalent else one["result"]
        for room in (one["room"], "all"):
            counts[room][result] += 1
    head = f"{'room':36} killed timeout survived no-test equivalent  share  bounds ({LEVEL:.0%})"
    rooms = sorted(counts.keys() - {"all"})
    return "\n".join(
        [head, *(_row(room, counts[room]) for room in [*rooms, *(["all"] if rooms else [])])]
    )


def _row(room: str, count: Counter[str]) -> str:
    dead = count["killed"] + count["timeout"]
    judged = dead + count["survived"] + count["no test"]
    low, high = bounds(dead, judged)
    share = f"{dead / judged:6.1%}" if judged else "     -"
    return (
        f"{room:36} {count['killed']:6} {count['timeout']:7} {count['survived']:8} "
        f"{count['no test']:7} {count['equivalent']:10} {share}  {low:.1%} to {high:.1%}"
    )


def survivors(records: Sequence[dict[str, Any]], equivalent: Mapping[str, str]) -> str:
    """List who lives, with what was changed and which stages have judged it."""
    lines = []
    for one in sorted(outcomes(records).values(), key=lambda one: (one["path"], one["line"])):
        if one["result"] in DEAD or one["key"] in equivalent:
            continue
        left = f", {one['left']} tests left out for their cost" if one["left"] else ""
        lines.append(
            f"{one['path']}:{one['line']} {one['function']} {one['operator']} [{one['key']}] "
            f"{one['result']} ({', '.join(one['stages'])}{left})\n{one['diff']}\n"
        )
    return "\n".join(lines)


def comparison(before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]) -> str:
    """Compare the same mutants before and after, by room (the one before) and pooled.

    The test is exact, paired and one-sided (McNemar): of the mutants whose fate changed, are more
    alive than chance would have it? A mutant that was not found again is counted apart.
    """
    rows = list(_pairs(before, after))
    lines = [f"{'room':36} pairs killed-before killed-after newly-alive newly-dead  p(worse)"]
    for room in [*sorted({room for room, _, _ in rows}), "all"]:
        mine = [(was, now) for name, was, now in rows if room in {name, "all"}]
        alive = sum(was and not now for was, now in mine)
        dead = sum(now and not was for was, now in mine)
        chance = (
            binomtest(alive, alive + dead, alternative="greater").pvalue if alive + dead else 1.0
        )
        lines.append(
            f"{room:36} {len(mine):5} {sum(was for was, _ in mine):13} {sum(now for _, now in mine):12} "
            f"{alive:11} {dead:10}  {chance:.3f}"
        )
    missing = len(outcomes(before)) - len(rows)
    return "\n".join([*lines, f"{missing} of before were not found again, or not judged yet"])


def _pairs(
    before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]
) -> Iterator[tuple[str, bool, bool]]:
    """Give room, was dead, is dead of each mutant that both have."""
    now = {one.get("before", one["mutant"]): one for one in outcomes(after).values()}
    for name, was in outcomes(before).items():
        if name in now:
            yield was["room"], was["result"] in DEAD, now[name]["result"] in DEAD
