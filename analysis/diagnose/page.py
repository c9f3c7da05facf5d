"""Diagnoses and studies of samples in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..pages import number_format as figures
from ..pages.model import (
    Cell,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    columns_of,
    page_of,
    value_of,
)
from ..words import shorten
from .central_limit import DRAWS, ESTIMATES, CentralLimitCount, CentralLimitStudy, Draws
from .estimators import ESTIMATORS, EstimatorRow, EstimatorSpread
from .normality import NormalityRow, NormalityStudy, from_on
from .result import CellLine, Diagnosis, Finding, plural, speeds_text

_NAME, _VARIANT = 24, 16  # columns for names
_FINDINGS, _CELLS, _FAR = 20, 16, 5  # rows that are shown
_HOST: dict[str, str] = {
    "host-blocks": "blocks (Friedman)",
    "host-neighbours": "consecutive runs",
    "host-trend": "trend within sessions (Page)",
    "host-warm-up": "first runs of sessions",
    "host-change": "change in session",
    "host-sessions": "sessions (Friedman)",
}
_WORDS: dict[str, str] = {
    "order": "drift in sessions",
    "lag-1": "lag-1 autocorrelation",
    "ljung-box": "Ljung-Box",
    "runs-test": "runs test",
    "change-point": "change point",
    "warm-up": "warm-up",
    "session-shift": "session shift",
}


def _table(name: str, headings: str, rows: Sequence[tuple[Cell, ...]]) -> Table:
    """Give a table; ``|`` stands between its headings, ``<`` before one that is aligned left."""
    return Table(name=name, columns=columns_of(*headings.split("|")), rows=tuple(rows))


def _more(rest: int) -> tuple[Sentence, ...]:
    return (Sentence(f"and {rest} more (--json has them all)"),) if rest > 0 else ()


@page_of.register(Diagnosis)
def _diagnosis_page(found: Diagnosis) -> Page:
    tested = [one for one in found.findings if one.pvalue is not None]
    metric = "" if found.metric is None else f" · {found.metric}"
    heading = (
        f"{found.name}{metric} · {found.runs:,} runs of {plural(len(found.cells), 'cell')} in "
        f"{plural(found.sessions, 'session')}"
    )
    together = "the whole host" if found.movers is None else "programs together"
    untested = [f"{one.benchmark} / {one.variant} ({one.runs})" for one in found.not_tested]
    sections = [
        Section((Sentence(heading), Section((Sentence(_answer(found, tested, together)),))))
    ]
    if found.host:
        sections.append(Section(_host(found), title=together))
    if cells := [one for one in tested if one.benchmark is not None]:
        rows: list[tuple[Cell, ...]] = [
            (
                shorten(one.benchmark or "", _NAME),
                shorten(one.variant or "", _VARIANT),
                one.text,
                value_of(one.pvalue_adjusted, figures.bare_pvalue, ""),
            )
            for one in cells[:_FINDINGS]
        ]
        table = _table("findings", "<benchmark|<variant|<found|adjusted p", rows)
        sections.append(Section((table, *_more(len(cells) - _FINDINGS)), title="single cells"))
    if said := _noted(found):
        shown = (*said[:_FINDINGS], *_more(len(said) - _FINDINGS))
        sections.append(Section(shown, title="recorded and counted"))
    sections.append(_cells(found.cells))
    if found.far_runs:
        title = f"far runs: {len(found.far_runs)}, flagged and never left out"
        sections.append(Section(_far(found), title=title))
    if untested:
        said = [Sentence(f"not tested, under 10 runs: {figures.listed(untested)}")]
        sections.append(Section(tuple(said)))
    return Page(
        title=f"Diagnosis of {found.name}", sections=tuple(sections), cautions=found.cautions
    )


def _answer(found: Diagnosis, tested: Sequence[Finding], together: str) -> str:
    share = figures.percent(1 - found.confidence)
    if not found.tests:
        return "nothing could be tested: a cell needs 10 runs"
    if not tested:
        return (
            f"nothing found by {found.tests} tests (of clean trials {share} at most show a finding); "
            "that is no proof that there is nothing"
        )
    counts = Counter(_WORDS.get(one.code, together) for one in tested)
    told = ", ".join(f"{word} {n}" for word, n in counts.most_common())
    return (
        f"{plural(len(tested), 'finding')} by {found.tests} tests, corrected together at {share}: "
        f"{told}"
    )


def _host(found: Diagnosis) -> tuple[Sentence | Table, ...]:
    rows: list[tuple[Cell, ...]] = []
    for one in found.host:
        label = _HOST[one.code] + (f" {one.sessions[0]}" if one.sessions else "")
        seen = one.pvalue_adjusted is not None and one.pvalue_adjusted <= 1 - found.confidence
        said = "not tested" if one.pvalue is None else one.text if seen else "nothing found"
        rows.append((label, said, value_of(one.pvalue_adjusted, figures.bare_pvalue, "")))
    table = _table("host", "<all programs at once|<|adjusted p", rows)
    if found.speeds is None:
        return (table,)
    return Sentence(speeds_text(found.speeds, found.sessions, found.movers)), table


def _noted(found: Diagnosis) -> list[Sentence]:
    said = []
    for one in found.findings:
        if one.pvalue is not None:
            continue
        cell = "" if one.benchmark is None else f"{one.benchmark} / {one.variant}: "
        # the runner's sentences of cells begin with their names
        begin = "" if one.text.startswith(cell.removesuffix(": ") + " ") else cell
        said.append(Sentence(f"{one.code}: {begin}{one.text}"))
    for both in found.two_binaries:
        said.append(
            Sentence(
                f"two-binaries: {both.variant} was {len(both.hashes)} different programs on "
                f"{figures.listed(both.benchmarks)}"
            )
        )
    return said


def _cells(cells: Sequence[CellLine]) -> Section:
    """Show all cells, or of many those with the least that is left of their runs."""
    if len(cells) > _CELLS:
        cells = sorted(cells, key=lambda one: (one.effective or one.runs) / one.runs)
    rows: list[tuple[Cell, ...]] = [
        (
            shorten(line.benchmark, _NAME),
            shorten(line.variant, _VARIANT),
            value_of(line.runs),
            value_of(line.effective, "{:.0f}".format, ""),
            value_of(line.spread, figures.percent, ""),
            value_of(line.session_sd, figures.percent, ""),
            value_of(line.lag_1, "{:.2f}".format, ""),
            value_of(line.ties, figures.percent, ""),
            value_of(line.far),
        )
        for line in cells[:_CELLS]
    ]
    headings = "<benchmark|<variant|runs|effective|spread|of sessions|lag 1|ties|far"
    title = (
        "cells: as many independent runs as effective would tell the mean as well; spread of runs in "
        "a session, and of sessions"
    )
    return Section((_table("cells", headings, rows), *_more(len(cells) - _CELLS)), title=title)


def _far(found: Diagnosis) -> tuple[Sentence, ...]:
    said = (
        Sentence(
            f"{one.benchmark} / {one.variant}, session {one.session}, run {one.run}"
            + ("" if one.ratio is None else f": {figures.ratio(one.ratio)} the median")
        )
        for one in found.far_runs[:_FAR]
    )
    return *said, *_more(len(found.far_runs) - _FAR)


@page_of.register(NormalityStudy)
def _normality_study_page(study: NormalityStudy) -> Page:
    tested = [row for row in study.benchmarks if row.lilliefors is not None]
    off = sum(row.departs(study.risk) is True for row in tested)
    answer = (
        f"{off} of {len(tested)} benchmarks of {study.name} do not look normal; of the medians over "
        f"the suite: {_look_of(study.suite, study.risk)}"
    )
    rows: list[tuple[Cell, ...]] = [
        (
            shorten(row.name, 28),
            value_of(row.n),
            value_of(getattr(row.lilliefors, "pvalue", None), figures.bare_pvalue),
            value_of(getattr(row.shapiro, "pvalue", None), figures.bare_pvalue),
            value_of(getattr(row.curves, "straightness", None), "{:.3f}".format),
            _look_of(row, study.risk),
        )
        for row in (*study.benchmarks, study.suite)
    ]
    table = _table("normality", f"<|n|Lilliefors p|Shapiro p|line|<at {study.risk:g}", rows)
    line = "line: correlation of the normal probability plot, 1 when straight"
    return Page(
        title=f"Normality of {study.name}",
        sections=(
            Section((Sentence(answer),)),
            Section((table, Sentence(line))),
            Section(_means(study)),
        ),
        cautions=study.cautions,
    )


def _look_of(row: NormalityRow, risk: float) -> str:
    departs = row.departs(risk)
    if departs is None:
        return row.why or "not tested"
    return "not normal" if departs else "no departure seen"


def _means(study: NormalityStudy) -> tuple[Sentence, ...]:
    if not study.mean_trials:
        return ()
    found = from_on(study.enough_low, study.enough, study.enough_high)
    seed = "" if study.seed is None else f", seed {study.seed}"
    return (
        Sentence(
            f"means of runs (relative to their benchmark's median, {study.mean_trials[0].means} means a trial{seed}) "
            f"{found}"
        ),
    )


@page_of.register(EstimatorSpread)
def _estimator_spread_page(study: EstimatorSpread) -> Page:
    by_benchmark = (
        "minimum, median, mean: sd of the estimate from n runs (a quarter of them, but 2 at least), "
        "and its bias, relative to its value on all runs; the mean has no bias"
    )
    by_size = (
        "sd of the estimate from n runs, in sds of one run, median over the benchmarks; in brackets "
        "that of normal values (exact)"
    )
    rows: list[tuple[Cell, ...]] = [
        (shorten(row.name, 20), value_of(row.runs), *_spreads(row), _steadiest(row))
        for row in study.benchmarks
    ]
    headings = "<|runs|n|minimum|median|mean|bias: min.|median|<steadiest"
    return Page(
        title=f"Estimators of {study.name}",
        sections=(
            Section(tuple(map(Sentence, (_steadiest_text(study), *_compared(study))))),
            Section((_table("benchmarks", headings, rows), Sentence(by_benchmark))),
            Section((_growth(study), Sentence(by_size))),
        ),
        cautions=study.cautions,
    )


def _steadiest_text(study: EstimatorSpread) -> str:
    total = len(study.benchmarks)
    rest = total - sum(study.counts.values())
    told = [f"the {name} on {n}" for name, n in study.counts.items() if n]
    told += [f"none on {rest}"] if rest else []
    if study.steadiest is None:
        start = f"no one estimator is the steadiest on {study.name}"
    else:
        start = f"the {study.steadiest} is the steadiest estimator on {study.name}"
    return f"{start}: of {plural(total, 'benchmark')}, {', '.join(told)}"


def _compared(study: EstimatorSpread) -> tuple[str, ...]:
    """Set the minimum and the median against the mean, in words."""
    told = [
        f"the {name} varies {figures.significant(ratio)} times as much"
        for name in ESTIMATORS[:2]
        if (ratio := study.against_mean(name)) is not None
    ]
    if not told:
        return ()
    return (f"compared with the mean, {' and '.join(told)} (relative; median over the benchmarks)",)


def _spreads(row: EstimatorRow) -> tuple[Value, ...]:
    found = row.at(row.judged)
    if found is None:
        return (Value("-", None),) * 6
    relative = [
        *(found.of(name).relative_sd for name in ESTIMATORS),
        *(found.of(name).relative_bias for name in ESTIMATORS[:2]),
    ]
    written = (Value(f"{figures.significant(100 * value)} %", value) for value in relative)
    return value_of(found.size), *written


def _steadiest(row: EstimatorRow) -> str:
    if row.judged is None:
        return row.why or ""
    return row.steadiest or ("all equal" if row.why else "none")


def _growth(study: EstimatorSpread) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for row in study.growth:
        sds = []
        for name in ESTIMATORS:
            sd = row.sds.get(name)
            told = "-" if sd is None else f"{sd:.3f}"
            sds.append(Value(f"{told} ({getattr(row.normal, name):.3f})", sd))
        there = Value(str(row.benchmarks or "-"), row.benchmarks)
        rows.append((value_of(row.normal.size), there, *sds))
    return _table("growth", f"n|benchmarks|{'|'.join(ESTIMATORS)}", rows)


_TITLES: dict[Draws, str] = {
    "disjoint": "disjoint samples",
    "with replacement": "drawn WITH REPLACEMENT, for want of runs",
}


@page_of.register(CentralLimitStudy)
def _central_limit_study_page(study: CentralLimitStudy) -> Page:
    groups = [
        (draws, counts)
        for draws in DRAWS
        if (counts := [count for count in study.counts if count.draws == draws])
    ]
    chance = (
        "chance: as many among normal means at most, 19 times in 20, by the risk "
        f"{study.risk:g} alone"
    )
    return Page(
        title=f"Central limit theorem on {study.name}",
        sections=(
            Section(tuple(Sentence(_central_limit_answer(study, *group)) for group in groups)),
            *(
                Section(
                    (_central_limit_table(draws, counts),),
                    title=f"{_TITLES[draws]}: where they do not look normal at {study.risk:g}",
                )
                for draws, counts in groups
            ),
            Section((Sentence(chance),)),
        ),
        cautions=study.cautions,
    )


def _central_limit_answer(
    study: CentralLimitStudy, draws: Draws, counts: list[CentralLimitCount]
) -> str:
    first, last = counts[0].size, counts[-1].size
    told = []
    for of in ESTIMATES:
        enough = study.enough(draws, of)
        told.append(
            f"{of} do not, up to n = {last}" if enough is None else f"{of} do from n = {enough} on"
        )
    kind = "" if draws == "disjoint" else " drawn with replacement"
    tried = f"n = {first} to {last}" if len(counts) > 1 else f"n = {first}"
    return f"{study.name}: do samples of n runs{kind} ({tried}) look normal? {', '.join(told)}"


def _central_limit_table(draws: Draws, counts: list[CentralLimitCount]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for count in counts:
        few, many = count.samples_least, count.samples_most
        means, medians = count.means_not_normal, count.medians_not_normal
        rows.append(
            (
                value_of(count.size),
                f"{few}" if few == many else f"{few}-{many}",
                Value(f"{means} of {count.means_tested}", means),
                value_of(count.means_by_chance),
                Value(f"{medians} of {count.medians_tested}", medians),
                value_of(count.medians_by_chance),
            )
        )
    return _table(draws.replace(" ", "-"), "n|N|means|chance|medians|chance", rows)
