"""What the counters carry, in a few words: each is said only where its interval says it.

Work: instructions differ where their word does, after Holm; they are the same where they are equivalent, within
1 %. Instructions per cycle likewise. Waiting: the time off the processors, without that in which the program was
ready and had none, differs after Holm, and not by less than 1 % of the wall time. What is undecided is never said
to be the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .counters import INSTRUCTIONS, PER_CYCLE
from .result import Counter, Row

# (instructions, instructions per cycle) -> what is said; "slower" is more instructions, and fewer per cycle
_WORK: dict[tuple[str, str | None], str] = {
    ("slower", "slower"): "more instructions, and fewer per cycle",
    ("slower", "faster"): "more instructions, but more per cycle",
    ("slower", "equivalent"): "more instructions",
    ("slower", "undecided"): "more instructions",
    ("slower", None): "more instructions",
    ("faster", "faster"): "fewer instructions, and more per cycle",
    ("faster", "slower"): "fewer instructions, but fewer per cycle",
    ("faster", "equivalent"): "fewer instructions",
    ("faster", "undecided"): "fewer instructions",
    ("faster", None): "fewer instructions",
    ("equivalent", "slower"): "same instructions, fewer per cycle",
    ("equivalent", "faster"): "same instructions, more per cycle",
    ("undecided", "slower"): "fewer instructions per cycle",
    ("undecided", "faster"): "more instructions per cycle",
}


def story_of(
    counters: Sequence[Counter], waits: Sequence[Row], *, risk: float, negligible_ms: float = 0.0
) -> str | None:
    """Say what the intervals carry; None where they carry nothing.

    Parameters
    ----------
    counters : sequence of Counter
        With their words.
    waits : sequence of Row
        The time asleep, and that without a processor, where they are known apart; p-values are adjusted together
        with the counters'.
    risk : float
        Of any false part.
    negligible_ms : float
        Waiting whose whole interval is nearer to 0 counts as none.
    """
    return ", and ".join(_parts(counters, waits, risk, negligible_ms)) or None


def _parts(
    counters: Sequence[Counter], waits: Sequence[Row], risk: float, negligible_ms: float
) -> Iterator[str]:
    words: dict[str, str] = {one.metric: one.word for one in counters}
    instructions = words.get(INSTRUCTIONS)
    if instructions is not None:
        work = _WORK.get((instructions, words.get(PER_CYCLE)))
        if work is not None:
            yield work
    for row, more, less in zip(
        waits, ("waits", "waits for a CPU"), ("waits less", "waits less for a CPU"), strict=False
    ):
        if _differs(row, risk, negligible_ms) and min(row.baseline_ms, row.candidate_ms) >= 0:
            yield more if row.difference_ms > 0 else less


def _differs(row: Row, risk: float, negligible_ms: float) -> bool:
    if row.pvalue_adjusted is None or row.pvalue_adjusted > risk:
        return False
    ends = row.low_ms, row.high_ms
    return any(end is not None and abs(end) > negligible_ms for end in ends)
