"""How a mixture report is set as text: one benchmark in detail, or many with a line each."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ....record import Better
from ....report import as_text, figures
from ..metrics.intervals import MetricInterval
from ..model.mixture import Mixture
from .cell import MixtureCell
from .contest import MixtureContest, MixturePair
from .options import MixtureOptions

__all__ = ["chance", "detail", "overview", "told_modes"]

_NAME = 24
_SHORT = 14
_PLACES = 6  # modes named before the rest is counted
_PAIRS = 8  # pairs printed
_WINNERS = 12  # variants of whom the chance to win is printed


def detail(
    benchmark: str,
    cells: Sequence[MixtureCell],
    contest: MixtureContest | None,
    *,
    better: Better,
    unit: str,
    options: MixtureOptions,
    cautions: Sequence[str],
    digits: int,
) -> list[str]:
    """Set one benchmark: who wins a single run, then each variant."""
    direction = "smaller" if better == "lower" else "larger"
    head = [figures.shorten(benchmark, 40)]
    if len(cells) == 1:
        head.append(f"{figures.shorten(cells[0].variant, 32)}")
    head.append(f"{direction} is better")
    if unit:
        head.append(f"all figures in {unit}")
    lines = [" · ".join(head), ""]
    if contest is not None:
        lines += [*_contest(contest, better, unit, options), ""]
    for cell in cells:
        lines += [*_cell(cell, digits, named=len(cells) > 1), ""]
    lines.pop()
    return [*lines, *as_text.numbered(cautions)]


def overview(
    rows: Sequence[tuple[str, Sequence[MixtureCell], MixtureContest | None]],
    *,
    better: Better,
    unit: str,
    options: MixtureOptions,
    cautions: Sequence[str],
) -> list[str]:
    """Set many benchmarks: a summary in words, then one line for each benchmark and variant."""
    cells = [cell for _, of_one, _ in rows for cell in of_one]
    contests = [contest for _, _, contest in rows if contest is not None]
    lines = _counts(rows, options)
    if contests:
        lines += _wins(contests, better, unit)
    several = len({cell.variant for cell in cells}) > 1
    heading = ["benchmark", "variant", "runs", "components", "modes", "fit p"]
    if contests:
        heading.append("best in one run")
    table = [heading]
    for benchmark, of_one, contest in rows:
        name = figures.shorten(benchmark, _NAME)
        for cell in of_one:
            table.append(_line(name, cell, contest))
            if contests and len(table[-1]) < len(heading):
                table[-1].append("")
            name = ""
    align = "<<>>>>" + ">" * bool(contests)
    if not several:  # one variant needs no column
        table = [[row[0], *row[2:]] for row in table]
        align = "<>>>>"
    lines += ["", *as_text.grid(table, align)]
    problems = list(
        dict.fromkeys(
            f"{figures.shorten(cell.benchmark, _NAME)}: {cell.problem}"
            for cell in cells
            if cell.problem is not None
        )
    )
    if len(problems) > _PLACES:
        problems = [*problems[:_PLACES], f"{len(problems) - _PLACES} more could not be fitted"]
    lines.append(
        "modes are those of the fitted curve; --benchmark NAME weighs the evidence for them"
    )
    return [*lines, *as_text.numbered([*cautions, *problems])]


def chance(value: float) -> str:
    """Write a probability; what is not 0 or 1 is never shown as such."""
    if value > 0.9995:
        return "> 0.999"
    return "< 0.001" if value < 0.0005 else f"{value:.3f}"


def told_modes(cell: MixtureCell) -> str:
    """Say how many modes there are, and what speaks for more than one, in one sentence."""
    mixture, found = cell.mixture, cell.evidence
    if mixture is None:
        return f"no mixture: {cell.problem}"
    modes = mixture.modes()
    count = f"{modes.size} mode{'s' * (modes.size != 1)}"
    if found is None:
        hint = "" if modes.size == 1 else "; no evidence was weighed, and skew alone makes several"
        return f"{count} by the model{hint}"
    share = f"{100 * found.stability.several:.0f} %"
    if modes.size == 1:
        return f"one mode ({share} of the refitted halves have several)"
    evidence = (
        f"evidence for more than one: dip p {figures.pvalue(found.dip.pvalue)}, bandwidth p "
        f"{figures.pvalue(found.bandwidth.pvalue)}; several in {share} of the refitted halves"
    )
    verdict = "multimodal" if found.multimodal else "not shown to be multimodal"
    return f"{verdict}: {count} by the model; {evidence}"


def _contest(
    contest: MixtureContest, better: Better, unit: str, options: MixtureOptions
) -> list[str]:
    best, count = contest.best, len(contest.variants)
    winner = contest.chances[best]
    lines = as_text.wrapped(
        f"in a single run {figures.shorten(contest.variants[best], _NAME)} is the "
        f"{_superlative(better, unit)} of {count} with probability {chance(winner.estimate)}"
        + _interval(winner)
    )
    order = sorted(range(count), key=lambda k: -contest.chances[k].estimate)
    rows = [["best in a single run", "probability", *_ends(winner)]]
    rows += [
        [
            figures.shorten(contest.variants[k], _NAME),
            chance(contest.chances[k].estimate),
            *_ends(contest.chances[k], head=False),
        ]
        for k in order[:_WINNERS]
    ]
    lines += ["", *as_text.grid(rows, "<>" + ">" * (len(rows[0]) - 2))]
    if count > _WINNERS:
        lines.append(f"and {count - _WINNERS} more, each at most as likely")
    if contest.pairs:
        lines += ["", *_pairs(contest, better, unit, options)]
    return lines


def _pairs(
    contest: MixtureContest, better: Better, unit: str, options: MixtureOptions
) -> list[str]:
    shown = sorted(
        contest.pairs, key=lambda p: contest.variants[contest.best] not in {p.first, p.second}
    )[:_PAIRS]
    word = "before" if figures.is_time(unit) and better == "lower" else "better than"
    known = shown[0].forward.mixture.replicates > 0
    rows = [["one run against one", "mixtures (I2)", "ranks, U/(nm)"]]
    for pair in shown:
        for first, second, found in (
            (pair.first, pair.second, pair.forward),
            (pair.second, pair.first, pair.backward),
        ):
            names = (figures.shorten(name, _SHORT) for name in (first, second))
            ranks = found.ranks
            rows.append(
                [
                    f" {word} ".join(names),
                    _share(found.mixture.estimate, found.mixture, known=known),
                    f"{ranks.estimate:.3f} [{ranks.low:.3f}, {ranks.high:.3f}]",
                ]
            )
    lines = as_text.grid(rows, "<<<")
    if options.shift:
        lines += as_text.wrapped(_shift(options.shift, better, unit))
    lines += [_distance(pair, unit) for pair in shown]
    if len(contest.pairs) > _PAIRS:
        lines.append(f"{len(contest.pairs) - _PAIRS} more pairs: see --json")
    return lines


def _shift(shift: float, better: Better, unit: str) -> str:
    size = f"{abs(shift):g} {unit}".strip()
    side = "smaller" if better == "lower" else "larger"
    if shift < 0:
        return f"with the shift {shift:g}: a run wins only when {side} by more than {size}"
    return f"with the shift {shift:g}: a run wins also when it is behind by less than {size}"


def _share(estimate: float, found: MetricInterval, *, known: bool) -> str:
    return chance(estimate) + (f" [{found.low:.3f}, {found.high:.3f}]" if known else "")


def _distance(pair: MixturePair, unit: str) -> str:
    found = pair.distance
    names = " and ".join(figures.shorten(name, _SHORT) for name in (pair.first, pair.second))
    ends = "" if not found.replicates else f" [{found.low:.4g}, {found.high:.4g}]"
    return f"single runs of {names} lie {found.estimate:.4g} {unit}".rstrip() + f"{ends} apart (I1)"


def _superlative(better: Better, unit: str) -> str:
    return "fastest" if better == "lower" and figures.is_time(unit) else "best"


def _interval(found: MetricInterval) -> str:
    if not found.replicates:
        return ""
    return f" ({100 * found.confidence:g} % interval {found.low:.3f} to {found.high:.3f})"


def _ends(found: MetricInterval, *, head: bool = True) -> list[str]:
    if not found.replicates:
        return []
    return ["low", "high"] if head else [f"{found.low:.3f}", f"{found.high:.3f}"]


def _cell(cell: MixtureCell, digits: int, *, named: bool) -> list[str]:
    title = f"{figures.shorten(cell.variant, 40)}: " if named else ""
    mixture = cell.mixture
    if mixture is None:
        return as_text.wrapped(f"{title}{told_modes(cell)}")
    lines = _wrapped(f"{title}{told_modes(cell)}")
    for text in (_places(mixture), _model(cell, mixture), *_judgements(cell)):
        lines += _wrapped(text, indent="  ")
    lines += ["", *as_text.grid(_parameters(cell, mixture, digits), ">>>>>", "  ")]
    if cell.quantiles or cell.below:
        rows = [
            [found.metric, f"{found.estimate:.{max(digits, 6)}g}", _range(found)]
            for found in cell.quantiles
        ]
        rows += [
            [found.metric, chance(found.estimate), _range(found, "{:.3f}")] for found in cell.below
        ]
        lines += ["", *as_text.grid(rows, "<><", "  ")]
    return lines


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Break a sentence into lines, but never inside "p = 0.03"."""
    whole = re.sub(r"\bp ([=<]) ", "p\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", text)
    lines = as_text.wrapped(whole, indent=indent)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def _places(mixture: Mixture) -> str:
    modes = mixture.modes()
    shown = ", ".join(f"{mode:.6g}" for mode in modes[:_PLACES])
    more = f" and {modes.size - _PLACES} more" if modes.size > _PLACES else ""
    return f"mode{'s' * (modes.size != 1)} at {shown}{more}"


def _model(cell: MixtureCell, mixture: Mixture) -> str:
    k, n = mixture.components, cell.values.size
    spread = "one common standard deviation" if mixture.equal_variance else "a deviation each"
    logs = "the logarithms of " if mixture.scale == "log" else ""
    kind = "one Gaussian" if k == 1 else f"{k} Gaussians with {spread}"
    said = f"{kind} for {logs}{n} values"
    if mixture.bic is not None:
        said += f" (BIC {mixture.bic:.2f}"
        if cell.runner_up is not None:
            said += f"; next {cell.runner_up[0]} {cell.runner_up[1]:.2f}"
        said += ", larger is better)"
    return said


def _judgements(cell: MixtureCell) -> list[str]:
    """Say whether the mixture fits, and what a single skewed peak would do instead."""
    said = []
    test = cell.fit_test
    if test is not None:
        word = "the mixture does not fit" if test.rejected() else "no departure from the mixture"
        moved = " after jitter" if test.ties == "jitter" else ""
        said.append(
            f"fit test{moved}: distance {test.statistic:.7f}, p {figures.pvalue(test.pvalue)} from "
            f"{test.resamples} resample{'s' * (test.resamples != 1)} ({word})"
        )
    found = cell.evidence
    if found is not None and found.families and found.mixture_bic is not None:
        best = found.families[0]
        gap = found.mixture_bic - best.bic
        if best.family == "normal" and found.mixture.components == 1:
            said.append("of single-peaked laws the normal is best: no sign of skew")
        else:
            word = "worse than" if gap > 2 else "as good as" if gap >= -2 else "better than"
            said.append(
                f"best single peak: {best.name}, BIC {best.bic:.2f}, {word} the mixture's "
                f"{found.mixture_bic:.2f}"
            )
    return said


def _parameters(cell: MixtureCell, mixture: Mixture, digits: int) -> list[list[str]]:
    of = mixture.classify(cell.values)
    of_what = " of ln" if mixture.scale == "log" else ""
    rows = [["component", "weight", f"mean{of_what}", f"sd{of_what}", "runs"]]
    sizes = (int((of == k).sum()) for k in range(mixture.components))
    for k, (w, m, s, size) in enumerate(
        zip(mixture.weights, mixture.means, mixture.sds, sizes, strict=True)
    ):
        # digits below the spread of the component say nothing
        places = min(max(digits, digits + _magnitude(m) - _magnitude(s)), max(digits, 10))
        rows.append(
            [
                f"{k}",
                f"{w:.{digits}f}",
                figures.significant(m, places),
                figures.significant(s, digits),
                f"{size}",
            ]
        )
    return rows


def _magnitude(value: float) -> int:
    return math.floor(math.log10(abs(value))) if value else 0


def _range(found: MetricInterval, form: str = "{:.6g}") -> str:
    if not found.replicates:
        return ""
    ends = ", ".join(form.format(end) for end in (found.low, found.high))
    return f"{100 * found.confidence:g} % interval [{ends}]"


def _counts(
    rows: Sequence[tuple[str, Sequence[MixtureCell], MixtureContest | None]],
    options: MixtureOptions,
) -> list[str]:
    cells = [cell for _, of_one, _ in rows for cell in of_one]
    fitted = [cell for cell in cells if cell.mixture is not None]
    several = sum(cell.mixture is not None and cell.mixture.components > 1 for cell in fitted)
    said = (
        f"{len(rows)} benchmarks, {len(cells)} samples: {several} of {len(fitted)} are described "
        "best by more than one Gaussian"
    )
    tests = [cell.fit_test for cell in fitted if cell.fit_test is not None]
    if tests:
        count = sum(test.rejected() for test in tests)
        said += (
            f"; the fit test rejects {count} of {len(tests)} at 5 % ({options.resamples} resamples "
            "each)"
        )
    return as_text.wrapped(said)


def _wins(contests: Sequence[MixtureContest], better: Better, unit: str) -> list[str]:
    wins: dict[str, int] = {}
    for contest in contests:
        name = contest.variants[contest.best]
        wins[name] = wins.get(name, 0) + 1
    order = sorted(wins, key=lambda name: -wins[name])[:_PLACES]
    said = ", ".join(f"{figures.shorten(name, _NAME)} on {wins[name]}" for name in order)
    return as_text.wrapped(
        f"most likely the {_superlative(better, unit)} in a single run: {said} of {len(contests)}"
    )


def _line(name: str, cell: MixtureCell, contest: MixtureContest | None) -> list[str]:
    mixture = cell.mixture
    row = [name, figures.shorten(cell.variant, _NAME), f"{cell.values.size}"]
    if mixture is None:
        return [*row, "none", "", ""]
    row += [f"{mixture.components}", f"{mixture.modes().size}"]
    test = cell.fit_test
    row.append("" if test is None else figures.pvalue(test.pvalue).removeprefix("= "))
    if contest is not None:
        at = contest.variants.index(cell.variant)
        row.append(chance(contest.chances[at].estimate) + (" *" if at == contest.best else "  "))
    return row
