"""A contest in words: who wins a single run, and every pair in both directions."""

from __future__ import annotations

from collections.abc import Iterator

from ....record import Better
from ....report import Block, Cell, Column, Page, Section, Sentence, Table, Value, figures, page_of
from .result import MixtureContest, MixturePair

__all__ = ["chance", "contest_section", "superlative"]

_NAME, _SHORT_NAME = 24, 14  # columns for names
_PAIRS = 8  # pairs printed
_WINNERS = 12  # variants of whom the chance to win is printed


@page_of.register
def _(contest: MixtureContest) -> Page:
    return Page(
        title="Who wins a single run",
        sections=(contest_section(contest),),
        cautions=contest.cautions,
    )


def contest_section(contest: MixtureContest) -> Section:
    """Set who wins, every variant's chance, and the pairs."""
    best, count = contest.best, len(contest.variants)
    winner = contest.chances[best]
    said = (
        f"in a single run {figures.shorten(contest.variants[best], _NAME)} is the "
        f"{superlative(contest.better, contest.unit)} of {count} with probability "
        f"{chance(winner.estimate)}"
    )
    if winner.replicates:
        said += f" ({100 * winner.confidence:g} % interval {winner.low:.3f} to {winner.high:.3f})"
    chances: list[Block] = [_chances(contest)]
    if count > _WINNERS:
        chances.append(Sentence(f"and {count - _WINNERS} more, each at most as likely"))
    blocks: list[Block] = [Sentence(said), Section(tuple(chances))]
    if contest.pairs:
        blocks.append(Section(tuple(_pairs(contest))))
    return Section(tuple(blocks))


def _chances(contest: MixtureContest) -> Table:
    known = contest.chances[contest.best].replicates > 0
    ends = (Column("low"), Column("high")) if known else ()
    order = sorted(range(len(contest.variants)), key=lambda k: -contest.chances[k].estimate)
    return Table(
        name="best-in-a-single-run",
        columns=(Column("best in a single run", "left"), Column("probability"), *ends),
        rows=tuple(
            (
                figures.shorten(contest.variants[k], _NAME),
                Value(chance(found.estimate), found.estimate),
                *(Value(f"{end:.3f}", end) for end in (found.low, found.high) if known),
            )
            for k, found in ((k, contest.chances[k]) for k in order[:_WINNERS])
        ),
    )


def _pairs(contest: MixtureContest) -> Iterator[Block]:
    """Set the pairs in both directions, those with the likeliest winner first."""
    best = contest.variants[contest.best]
    shown = sorted(contest.pairs, key=lambda pair: best not in {pair.first, pair.second})[:_PAIRS]
    fast = figures.is_time(contest.unit) and contest.better == "lower"
    word = "before" if fast else "better than"
    yield Table(
        name="one-run-against-one",
        columns=(
            Column("one run against one", "left"),
            Column("mixtures (I2)", "left"),
            Column("ranks, U/(nm)", "left"),
        ),
        rows=tuple(row for pair in shown for row in _both_ways(pair, word)),
    )
    shift = shown[0].forward.shift
    if shift:
        yield Sentence(_shift(shift, contest))
    for pair in shown:
        yield Sentence(_distance(pair, contest.unit))
    if len(contest.pairs) > _PAIRS:
        yield Sentence(f"{len(contest.pairs) - _PAIRS} more pairs: see --json")


def _both_ways(pair: MixturePair, word: str) -> Iterator[tuple[Cell, ...]]:
    for first, second, found in (
        (pair.first, pair.second, pair.forward),
        (pair.second, pair.first, pair.backward),
    ):
        ours, theirs = (figures.shorten(name, _SHORT_NAME) for name in (first, second))
        model, ranks = found.mixture, found.ranks
        ends = f" [{model.low:.3f}, {model.high:.3f}]" if model.replicates else ""
        counted = f"{ranks.estimate:.3f} [{ranks.low:.3f}, {ranks.high:.3f}]"
        yield (
            f"{ours} {word} {theirs}",
            Value(f"{chance(model.estimate)}{ends}", model.estimate),
            Value(counted, ranks.estimate),
        )


def _shift(shift: float, contest: MixtureContest) -> str:
    size = f"{abs(shift):g} {figures.unit_text(contest.unit)}".strip()
    side = "smaller" if contest.better == "lower" else "larger"
    if shift < 0:
        return f"with the shift {shift:g}: a run wins only when {side} by more than {size}"
    return f"with the shift {shift:g}: a run wins also when it is behind by less than {size}"


def _distance(pair: MixturePair, unit: str) -> str:
    found = pair.mean_difference
    first, second = (figures.shorten(name, _SHORT_NAME) for name in (pair.first, pair.second))
    size = f"{found.estimate:.4g} {figures.unit_text(unit)}".rstrip()
    ends = f" [{found.low:.4g}, {found.high:.4g}]" if found.replicates else ""
    return f"single runs of {first} and {second} lie {size}{ends} apart (I1)"


def superlative(better: Better, unit: str) -> str:
    """Give the word for the best: only times are fast."""
    return "fastest" if better == "lower" and figures.is_time(unit) else "best"


def chance(value: float) -> str:
    """Write a probability; what is not 0 or 1 is never shown as such."""
    if value > 0.9995:
        return "> 0.999"
    return "< 0.001" if value < 0.0005 else f"{value:.3f}"
