"""Diagnoses and studies of samples in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ..pages import number_format as figures
from ..pages.model import Page, Section, Sentence, Value, page_of, table_of, value_of
from ..words import shorten
from .central_limit import DRAWS, ESTIMATES, CentralLimitCount, CentralLimitStudy, Draws
from .estimators import ESTIMATORS, Estimator, EstimatorRow, EstimatorSpread, Growth
from .normality import NormalityRow, NormalityStudy, from_on
from .result import CellLine, Diagnosis, Finding, speeds_text

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


def _more(rest: int) -> tuple[Sentence, ...]:
    return (Sentence(f"and {rest} more (--json has them all)"),) if rest > 0 else ()


@page_of.register(Diagnosis)
def _diagnosis_page(found: Diagnosis) -> Page:
    tested = [one for one in found.findings if one.pvalue is not None]
    metric = "" if found.metric is None else f" · {found.metric}"
    heading = (
        f"{found.name}{metric} · {found.runs:,} runs of {figures.counted(len(found.cells), 'cell')} in "
        f"{figures.counted(found.sessions, 'session')}"
    )
    together = "the whole host" if found.movers is None else "programs together"
    answer = Section((Sentence(_answer(found, tested, together)),))
    sections = [Section((Sentence(heading), answer))]
    if found.host:
        sections.append(_host(found, together))
    if cells := [one for one in tested if one.benchmark is not None]:
        table = table_of(
            "findings",
            cells[:_FINDINGS],
            ("<benchmark", lambda one: shorten(one.benchmark or "", _NAME)),
            ("<variant", lambda one: shorten(one.variant or "", _VARIANT)),
            ("<found", "text"),
            ("adjusted p", "pvalue_adjusted", figures.bare_pvalue, ""),
        )
        sections.append(Section((table, *_more(len(cells) - _FINDINGS)), title="single cells"))
    if noted := [*map(Sentence, _noted(found))]:
        shown = (*noted[:_FINDINGS], *_more(len(noted) - _FINDINGS))
        sections.append(Section(shown, title="recorded and counted"))
    sections.append(_cells(found.cells))
    if found.far_runs:
        far = []
        for one in found.far_runs[:_FAR]:
            ratio = "" if one.ratio is None else f": {figures.ratio(one.ratio)} the median"
            place = f"{one.benchmark} / {one.variant}, session {one.session}, run {one.run}"
            far.append(Sentence(f"{place}{ratio}"))
        title = f"far runs: {len(found.far_runs)}, flagged and never left out"
        sections.append(Section((*far, *_more(len(found.far_runs) - _FAR)), title=title))
    if found.not_tested:
        cells_of = [f"{one.benchmark} / {one.variant} ({one.runs})" for one in found.not_tested]
        said = Sentence(f"not tested, under 10 runs: {figures.listed(cells_of)}")
        sections.append(Section((said,)))
    title = f"Diagnosis of {found.name}"
    return Page(title=title, sections=tuple(sections), cautions=found.cautions)


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
    kinds = ", ".join(f"{word} {n}" for word, n in counts.most_common())
    many = figures.counted(len(tested), "finding")
    return f"{many} by {found.tests} tests, corrected together at {share}: {kinds}"


def _host(found: Diagnosis, title: str) -> Section:
    def label(one: Finding) -> str:
        return _HOST[one.code] + (f" {one.sessions[0]}" if one.sessions else "")

    def said(one: Finding) -> str:
        seen = one.pvalue_adjusted is not None and one.pvalue_adjusted <= 1 - found.confidence
        return "not tested" if one.pvalue is None else one.text if seen else "nothing found"

    table = table_of(
        "host",
        found.host,
        ("<all programs at once", label),
        ("<", said),
        ("adjusted p", "pvalue_adjusted", figures.bare_pvalue, ""),
    )
    if found.speeds is None:
        return Section((table,), title=title)
    speeds = Sentence(speeds_text(found.speeds, found.sessions, found.movers))
    return Section((speeds, table), title=title)


def _noted(found: Diagnosis) -> Iterator[str]:
    for one in found.findings:
        if one.pvalue is None:
            cell = "" if one.benchmark is None else f"{one.benchmark} / {one.variant}: "
            # the runner's sentences of cells begin with their names
            begin = "" if one.text.startswith(cell.removesuffix(": ") + " ") else cell
            yield f"{one.code}: {begin}{one.text}"
    for both in found.two_binaries:
        where = f"{len(both.hashes)} different programs on {figures.listed(both.benchmarks)}"
        yield f"two-binaries: {both.variant} was {where}"


def _cells(cells: Sequence[CellLine]) -> Section:
    """Show all cells, or of many those with the least that is left of their runs."""
    if len(cells) > _CELLS:
        cells = sorted(cells, key=lambda one: (one.effective or one.runs) / one.runs)
    table = table_of(
        "cells",
        cells[:_CELLS],
        ("<benchmark", lambda line: shorten(line.benchmark, _NAME)),
        ("<variant", lambda line: shorten(line.variant, _VARIANT)),
        ("runs", "runs"),
        ("effective", "effective", "{:.0f}".format, ""),
        ("spread", "spread", figures.percent, ""),
        ("of sessions", "session_sd", figures.percent, ""),
        ("lag 1", "lag_1", "{:.2f}".format, ""),
        ("ties", "ties", figures.percent, ""),
        ("far", "far"),
    )
    title = (
        "cells: as many independent runs as effective would tell the mean as well; spread of runs in "
        "a session, and of sessions"
    )
    return Section((table, *_more(len(cells) - _CELLS)), title=title)


@page_of.register(NormalityStudy)
def _normality_study_page(study: NormalityStudy) -> Page:
    tested = [row for row in study.benchmarks if row.lilliefors is not None]
    off = sum(row.departs(study.risk) is True for row in tested)

    def look(row: NormalityRow) -> str:
        departs = row.departs(study.risk)
        if departs is None:
            return row.why or "not tested"
        return "not normal" if departs else "no departure seen"

    answer = (
        f"{off} of {len(tested)} benchmarks of {study.name} do not look normal; of the medians over "
        f"the suite: {look(study.suite)}"
    )
    table = table_of(
        "normality",
        (*study.benchmarks, study.suite),
        ("<", lambda row: shorten(row.name, 28)),
        ("n", "n"),
        ("Lilliefors p", lambda row: getattr(row.lilliefors, "pvalue", None), figures.bare_pvalue),
        ("Shapiro p", lambda row: getattr(row.shapiro, "pvalue", None), figures.bare_pvalue),
        ("line", lambda row: getattr(row.curves, "straightness", None), "{:.3f}".format),
        (f"<at {study.risk:g}", look),
    )
    means = []
    if study.mean_trials:
        found = from_on(study.enough_low, study.enough, study.enough_high)
        seed = "" if study.seed is None else f", seed {study.seed}"
        trial = f"{study.mean_trials[0].means} means a trial{seed}"
        said = f"means of runs (relative to their benchmark's median, {trial}) {found}"
        means = [Sentence(said)]
    line = Sentence("line: correlation of the normal probability plot, 1 when straight")
    return Page(
        title=f"Normality of {study.name}",
        sections=(Section((Sentence(answer),)), Section((table, line)), Section(tuple(means))),
        cautions=study.cautions,
    )


@page_of.register(EstimatorSpread)
def _estimator_spread_page(study: EstimatorSpread) -> Page:
    by_benchmark = Sentence(
        "minimum, median, mean: sd of the estimate from n runs (a quarter of them, but 2 at least), "
        "and its bias, relative to its value on all runs; the mean has no bias"
    )
    by_size = Sentence(
        "sd of the estimate from n runs, in sds of one run, median over the benchmarks; in brackets "
        "that of normal values (exact)"
    )

    def part(name: Estimator, what: str) -> Callable[[EstimatorRow], Value]:
        def of(row: EstimatorRow) -> Value:
            at = row.at(row.judged)
            value = None if at is None else getattr(at.of(name), what)
            return value_of(value, lambda value: f"{figures.significant(100 * value)} %")

        return of

    def steadiest(row: EstimatorRow) -> str:
        if row.judged is None:
            return row.why or ""
        return row.steadiest or ("all equal" if row.why else "none")

    benchmarks = table_of(
        "benchmarks",
        study.benchmarks,
        ("<", lambda row: shorten(row.name, 20)),
        ("runs", "runs"),
        ("n", lambda row: getattr(row.at(row.judged), "size", None)),
        *((name, part(name, "relative_sd")) for name in ESTIMATORS),
        ("bias: min.", part("minimum", "relative_bias")),
        ("median", part("median", "relative_bias")),
        ("<steadiest", steadiest),
    )

    def growth(name: Estimator, row: Growth) -> Value:
        normal = getattr(row.normal, name)
        sd = row.sds.get(name)
        return Value(f"{'-' if sd is None else f'{sd:.3f}'} ({normal:.3f})", sd)

    sizes = table_of(
        "growth",
        study.growth,
        ("n", lambda row: row.normal.size),
        ("benchmarks", "benchmarks", lambda count: str(count or "-")),
        *((name, partial(growth, name)) for name in ESTIMATORS),
    )
    return Page(
        title=f"Estimators of {study.name}",
        sections=(
            Section(tuple(map(Sentence, _steadiest(study)))),
            Section((benchmarks, by_benchmark)),
            Section((sizes, by_size)),
        ),
        cautions=study.cautions,
    )


def _steadiest(study: EstimatorSpread) -> Iterator[str]:
    total = len(study.benchmarks)
    rest = total - sum(study.counts.values())
    on = [f"the {name} on {n}" for name, n in study.counts.items() if n]
    on += [f"none on {rest}"] if rest else []
    start = f"no one estimator is the steadiest on {study.name}"
    if study.steadiest is not None:
        start = f"the {study.steadiest} is the steadiest estimator on {study.name}"
    yield f"{start}: of {figures.counted(total, 'benchmark')}, {', '.join(on)}"
    compared = [
        f"the {name} varies {figures.significant(ratio)} times as much"
        for name in ESTIMATORS[:2]
        if (ratio := study.against_mean(name)) is not None
    ]
    if compared:
        over = "(relative; median over the benchmarks)"
        yield f"compared with the mean, {' and '.join(compared)} {over}"


_TITLES: dict[Draws, str] = {
    "disjoint": "disjoint samples",
    "with replacement": "drawn WITH REPLACEMENT, for want of runs",
}


def _not_normal(of: str, one: CentralLimitCount) -> Value:
    found = getattr(one, f"{of}_not_normal")
    return Value(f"{found} of {getattr(one, f'{of}_tested')}", found)


@page_of.register(CentralLimitStudy)
def _central_limit_study_page(study: CentralLimitStudy) -> Page:
    answers, sections = [], []
    for draws in DRAWS:
        counts = [count for count in study.counts if count.draws == draws]
        if not counts:
            continue
        first, last = counts[0].size, counts[-1].size
        looks = []
        for of in ESTIMATES:
            enough = study.enough(draws, of)
            no, yes = f"{of} do not, up to n = {last}", f"{of} do from n = {enough} on"
            looks.append(no if enough is None else yes)
        kind = "" if draws == "disjoint" else " drawn with replacement"
        tried = f"n = {first} to {last}" if len(counts) > 1 else f"n = {first}"
        asked = f"do samples of n runs{kind} ({tried}) look normal?"
        answers.append(Sentence(f"{study.name}: {asked} {', '.join(looks)}"))

        table = table_of(
            draws.replace(" ", "-"),
            counts,
            ("n", "size"),
            (
                "N",
                lambda one: figures.span((one.samples_least, one.samples_most)).replace(
                    " to ", "-"
                ),
            ),
            ("means", partial(_not_normal, "means")),
            ("chance", "means_by_chance"),
            ("medians", partial(_not_normal, "medians")),
            ("chance", "medians_by_chance"),
        )
        where = f"{_TITLES[draws]}: where they do not look normal at {study.risk:g}"
        sections.append(Section((table,), title=where))
    chance = (
        "chance: as many among normal means at most, 19 times in 20, by the risk "
        f"{study.risk:g} alone"
    )
    return Page(
        title=f"Central limit theorem on {study.name}",
        sections=(Section(tuple(answers)), *sections, Section((Sentence(chance),))),
        cautions=study.cautions,
    )
