"""Diagnosing a trial, a matrix or runs: the tests together, cells, far runs, and what the runner recorded."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data.host_record import HostNote, read_environments, read_notes
from ..data.matrix import PerformanceMatrix
from ..data.trial import Trial
from ..errors import AnalysisError, InsufficientDataError, UsageError
from ..pages import number_format as figures
from ..pages.model import Page, page, section, table_of
from ..pages.result import Result
from ..record.environment import of_one_session
from ..record.fleet import HostState
from ..record.run_numbers import Better
from ..stats.arguments import between, checks_arguments, numbers, stream
from ..stats.multiplicity import adjusted
from ..stats.samples import Array as Floats
from . import cell_tests, host_tests, result
from .cell_tests import LEAST, RunTable
from .host_tests import HostTest, Movers
from .result import Diagnosis, Finding

_ANY_ORDER = ("session-shift", "host-sessions")  # the tests that do not look at the order of runs
_LARGEST = 700.0  # of a logarithm


def diagnosed(
    table: RunTable, *, name: str, unit: str, better: str, confidence: float
) -> Diagnosis:
    """Test a table of runs; what a runner recorded, and cautions, are added by the caller."""
    series = cell_tests.series_of(table)
    described, names = cell_tests.described(series), series.cells
    cells = (*cell_tests.within_sessions(series), cell_tests.session_shift(series))
    host = host_tests.host_tests(series)
    if not table.in_order:
        for one in cells:
            one.pvalues[:] = one.pvalues if one.code in _ANY_ORDER else math.nan
        host = tuple(
            x if x.code in _ANY_ORDER else HostTest(code=x.code, pvalue=None) for x in host
        )
    of_hosts = [math.nan if test.pvalue is None else test.pvalue for test in host]
    pvalues = np.concatenate([*(test.pvalues for test in cells), of_hosts])
    corrected = adjusted(pvalues, "bh")
    tests, risk = int(np.isfinite(pvalues).sum()), 1 - confidence
    split = series.runs.size * len(cells)
    by_test, by_host = corrected[:split].reshape(len(cells), -1), corrected[split:].tolist()
    moved = [test for test, p in zip(host, by_host, strict=True) if p <= risk]
    in_time = [test for test in moved if test.code not in _ANY_ORDER]
    others = [test for test in moved if test not in in_time]
    within = host_tests.who_moves(series, in_time, "runs")
    between = host_tests.who_moves(series, others, "sessions")
    movers_by = within | between
    of_host = []
    for test, p in zip(host, by_host, strict=True):
        label = None if test.session is None else table.sessions[test.session]
        when, who = _when(table, test.session, test.row), movers_by.get(test)
        found = Finding(
            code=test.code,
            sessions=() if label is None else (label,),
            pvalue=test.pvalue,
            pvalue_adjusted=_known(p),
            size=test.size,
            certain=test.pvalue is not None and test.pvalue * tests <= risk,
            text=result.host_text(test.code, test.size, session=label, when=when, movers=who),
        )
        of_host.append(found)
    seen = [one for one in of_host if (p := one.pvalue_adjusted) is not None and p <= risk]
    in_cells = _cell_findings(described, cells, by_test, risk, tests)
    of_cells = sorted(in_cells, key=lambda one: one.pvalue or 0.0)
    movers = _movers(within or between)
    speeds = None
    if seen and table.ordered:  # of all runs, or of the cells that move
        some = host_tests.only_these(table, movers) if movers and movers.variants else table
        speeds = host_tests.host_speeds(cell_tests.series_of(some))
    return Diagnosis(
        name=name,
        metric=None,
        unit=unit,
        better=cast("Better", better),
        confidence=confidence,
        variants=tuple(table.variants[k] for k in np.unique(table.variant)),
        benchmarks=tuple(table.benchmarks[k] for k in np.unique(table.benchmark)),
        sessions=len(table.sessions),
        runs=int(table.values.size),
        tests=tests,
        findings=(*seen, *of_cells, *_coarse(described), *_modal_cells(series, unit)),
        host=tuple(of_host),
        speeds=speeds,
        movers=movers,
        cells=tuple(_cell_lines(described, cells)),
        not_tested=tuple(
            result.Untested(**names[k], runs=int(series.runs[k]))
            for k in np.flatnonzero(series.runs < LEAST).tolist()
        ),
        far_runs=tuple(_far_runs(described)),
        in_order=table.in_order,
    )


def _movers(texts: Mapping[HostTest, Movers | None]) -> Movers | None:
    """Take what the surest test tells; where it cannot name anybody, what the next one does."""
    found = [texts[test] for test in sorted(texts, key=lambda test: test.pvalue or 0.0)]
    return next((one for one in found if one is None or one.variants), found[0] if found else None)


def _when(table: RunTable, session: int | None, row: int | None) -> str:
    if session is None or row is None:
        return ""
    seconds = float(table.start_s[row])
    if math.isfinite(seconds):
        return f"{seconds:.0f} s after the start" if seconds >= 1 else "within the first second"
    return f"after {int((table.session[:row] == session).sum())} runs"


def _cell_findings(
    described: cell_tests.Description,
    tests: Sequence[cell_tests.CellTests],
    corrected: Floats,
    risk: float,
    count: int,
) -> Iterator[Finding]:
    series, names = described.series, described.series.cells
    for test, row in zip(tests, corrected, strict=True):
        for cell in np.flatnonzero(np.nan_to_num(row, nan=1.0) <= risk).tolist():
            size = cell_tests.size_of(test, cell, described)
            label = place = None
            if test.session is not None and test.place is not None:
                label = series.table.sessions[test.session[cell]]
                place = int(test.place[cell])
            yield Finding(
                code=test.code,
                **names[cell],
                sessions=() if label is None else (label,),
                pvalue=float(test.pvalues[cell]),
                pvalue_adjusted=float(row[cell]),
                size=size,
                certain=float(test.pvalues[cell]) * count <= risk,
                text=result.cell_text(test.code, size, session=label, place=place),
            )


def _coarse(described: cell_tests.Description) -> Iterator[Finding]:
    """Name the cells whose clock has few readings: ties, which no test of noise should meet."""
    series, ties, steps = described.series, described.ties, described.resolution
    names = series.cells
    middles = cell_tests.middle_of(series.values.reshape(series.runs.size, -1))
    with np.errstate(invalid="ignore"):
        fine = steps < 0.005 * np.abs(middles)  # a step that is too small to matter
    for cell in np.flatnonzero((ties >= 0.5) & (series.runs >= LEAST) & ~fine).tolist():
        share, step = float(ties[cell]), float(steps[cell])
        words = f", in steps of {step:.3g}" if math.isfinite(step) else ", all of them the same"
        text = f"{100 * share:.0f} % of the runs share their value with another one{words}"
        yield Finding(code="ties", **names[cell], size=share, text=text)


def _modal_cells(series: cell_tests.Series, unit: str) -> Iterator[Finding]:
    """Name the cells whose values have modes, in half of the sessions at least."""
    table = series.table
    for cell, names in enumerate(series.cells):
        rows = series.row[cell][series.present[cell]]
        values, session = table.values[rows], table.session[rows]
        if rows.size < 2 * LEAST or (values <= 0).any():
            continue
        logs = np.log(values)
        if host_tests.clearness(logs, host_tests.two_means(logs)) < host_tests.CLEAR:
            continue
        labels = cell_tests.modes_by_values(values, stream(20_261_128, *names.values()))
        if labels is None:
            continue
        of_sessions = [labels[(session == one) & (labels >= 0)] for one in np.unique(session)]
        if 2 * sum(np.unique(one).size > 1 for one in of_sessions) < len(of_sessions):
            continue
        groups = [values[labels == k] for k in range(labels.max() + 1)]
        at = [float(np.median(one)) for one in groups]
        near = [figures.quantity(x, unit) for x in at]
        texts = [f"{n.size} near {x}" for n, x in zip(groups, near, strict=True)]
        text = f"runs have {len(groups)} modes, {figures.listed(texts)}"
        yield Finding(code="modes", **names, size=at[-1] / at[0], text=text)


def _cell_lines(
    described: cell_tests.Description, tests: Sequence[cell_tests.CellTests]
) -> Iterator[result.CellLine]:
    series, far = described.series, described.far.sum(axis=(1, 2))
    sessions = (series.counts > 0).sum(axis=1)
    for k, names in enumerate(series.cells):
        yield result.CellLine(
            **names,
            runs=int(series.runs[k]),
            sessions=int(sessions[k]),
            spread=_relative(described.spread[k]),
            session_sd=_relative(described.session_sd[k]),
            lag_1=_known(described.lag_1[k]),
            effective=_known(described.effective[k]),
            ties=float(described.ties[k]),
            resolution=_known(described.resolution[k]),
            far=int(far[k]),
            pvalues={test.code: _known(test.pvalues[k]) for test in tests},
        )


def _far_runs(described: cell_tests.Description) -> Iterator[result.FarRun]:
    series, table = described.series, described.series.table
    logs, cells = table.logs, series.cells
    found: list[tuple[float, result.FarRun]] = []
    for cell, session, place in np.argwhere(described.far).tolist():
        row = series.row[cell, session]
        apart = float(logs[row[place]] - np.median(logs[row[row >= 0]]))
        ratio = math.exp(apart) if apart < _LARGEST else None
        where = cells[cell] | {"session": table.sessions[session], "run": place + 1}
        found.append((-abs(apart), result.FarRun(**where, ratio=ratio)))
    yield from (one for _, one in sorted(found, key=lambda pair: pair[0]))


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _relative(sd: float) -> float | None:
    return math.expm1(sd) if math.isfinite(sd) and sd < _LARGEST else None


# --- What the runner recorded.

_AFTER = ("during", "after")  # "before" these say what happened since boot
_ANY = ("before", "during", "after", "resume", "")
_OF_CELLS = ("output", "threads")
# findings of the runner that touch what was measured: when they do
_TOLD: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("load", "other-trials", "gaps", "environment", "drift", "input"), _ANY),
    **dict.fromkeys(_OF_CELLS, _ANY),
    **dict.fromkeys(("steal", "throttle", "temperature", "swap"), _AFTER),
    **dict.fromkeys(("kernel_log", "clock", "placement"), _AFTER),
}


def _noted(trial: Trial, total: int) -> Iterator[Finding]:
    """Give the runner's findings that touch runs, one for each check, cell and thing that happened."""
    groups: dict[tuple[str, str], list[HostNote]] = {}
    manifest = trial.manifest
    of_sitting = manifest.looks_plan is not None and manifest.campaign_name == "compare"
    for note in read_notes(trial.path):
        if note.status in ("warn", "fail") and note.when in _TOLD.get(note.check, ()):
            # figures differ from session to session; of changes each is a thing of its own
            apart = note.check in ("drift", "environment", "input", *_OF_CELLS)
            groups.setdefault((note.check, note.what if apart else ""), []).append(note)
    for (check, _), notes in groups.items():
        what = notes[0].what
        sessions = tuple(dict.fromkeys(n.session for n in notes if n.session is not None))
        if of_sitting:  # it is looked once, and the first session stands for all
            sessions = ()
        names: dict[str, Any] = {}
        if check in _OF_CELLS:  # a sentence of the runner begins with the cell that it is of
            cells = _cells_of(trial, range(len(trial.manifest.variants)))
            begin = (one for one, _ in cells if what.startswith(f"{' / '.join(one.values())} "))
            names = next(begin, {})
        where = result.in_sessions(sessions, total)
        text = f"{what}, {where}" if where else what
        yield Finding(code=check, **names, sessions=tuple(sorted(sessions)), text=text)


_Cell = tuple[dict[str, Any], NDArray[np.bool_]]


def _cells_of(trial: Trial, chosen: Sequence[int]) -> Iterator[_Cell]:
    """Give the names of each cell of the chosen variants, and which runs are its own."""
    for b, benchmark in enumerate(trial.manifest.benchmarks):
        for k in chosen:
            names = {"benchmark": benchmark, "variant": trial.manifest.variants[k]}
            yield names, (trial.benchmark == b) & (trial.variant == k)


def _disturbed_runs(trial: Trial, chosen: Sequence[int]) -> Iterator[Finding]:
    """Count the measured runs during which the hypervisor took time, or the disk was needed."""
    mine, wall = trial.judged("wall"), trial.values("wall")
    with np.errstate(invalid="ignore"):
        stolen = mine & (trial.numbers["steal_s"] > 0)
        stolen &= trial.numbers["steal_s"] >= 0.01 * wall
        faulted = mine & (trial.numbers["major_faults"] > 0)
    for names, cell in _cells_of(trial, chosen):
        runs, affected, text = int((mine & cell).sum()), stolen & cell, []
        if n := int(affected.sum()):
            text.append(f"{n} lost time to the hypervisor")
        # a program that always reads from the disk is not disturbed by that
        if (n := int((faulted & cell).sum())) and 2 * n <= runs:
            text.append(f"{n} waited for pages from the disk")
            affected = (stolen | faulted) & cell
        if text:
            words, sessions = f"of {runs} runs {' and '.join(text)}", _sessions_of(trial, affected)
            known = {**names, "sessions": sessions, "size": float(affected.sum())}
            yield Finding(code="disturbed-runs", **known, text=words)


def _sessions_of(trial: Trial, runs: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(np.unique(trial.session[runs]).tolist())


def _waiting_runs(trial: Trial, chosen: Sequence[int]) -> Iterator[Finding]:
    """Count the measured runs that waited for a CPU, and say which share of the time that was."""
    mine = ~trial.warmup & (trial.outcome == 0)
    known, disturbed = mine & (trial.disturbed >= 0), mine & (trial.disturbed == 1)
    wall, waited = trial.numbers["wall_ns"], trial.waited_ns
    for names, cell in _cells_of(trial, chosen):
        first = cell & (trial.repeats < 0)
        count = int((disturbed & first).sum())
        if not count:
            continue
        text = f"{count} of {int((known & first).sum())} runs waited for a CPU"
        if again := int((mine & cell & (trial.repeats >= 0)).sum()):
            left = int((disturbed & cell & trial.chosen).sum())
            text += f", after {figures.counted(again, 'repeat')} still {left}"
        timed = known & cell & np.isfinite(waited) & (wall > 0)
        if timed.any() and (share := float(waited[timed].sum() / wall[timed].sum())) > 0:
            text += f"; waiting was {100 * share:.2g} % of the time of all runs"
        own = {**names, "sessions": _sessions_of(trial, disturbed & cell), "size": float(count)}
        yield Finding(code="waited-for-cpu", **own, text=text)


def _two_binaries(trial: Trial, variants: Sequence[str]) -> Iterator[result.TwoBinaries]:
    """Name the variants that had different executables in two sessions, or in parts of one.

    Of what each session builds only the parts of a session are compared.
    """
    recorded = [
        (sha256, (variant, benchmark), one.session, of_one_session(about))
        for one in read_environments(trial.path)
        for name, about in one.sections.get("targets", {}).items()
        for benchmark, _, variant in [name.partition("/")]
        if variant in variants and isinstance(about, dict)
        if (sha256 := about.get("sha256")) and isinstance(sha256, str)
    ]
    built: dict[tuple[tuple[str, str], int], set[str]] = {}
    for sha256, cell, session, of_session in recorded:
        if of_session:
            built.setdefault((cell, session), set()).add(sha256)
    cells: dict[tuple[str, str], dict[str, dict[int, None]]] = {}
    for sha256, cell, session, _ in recorded:
        if len(built.get((cell, session), ())) != 1:
            cells.setdefault(cell, {}).setdefault(sha256, {})[session] = None
    alike: dict[tuple[str, tuple[tuple[str, tuple[int, ...]], ...]], list[str]] = {}
    for (variant, benchmark), hashes in cells.items():
        if len(hashes) > 1:
            met = tuple((sha256, tuple(sessions)) for sha256, sessions in hashes.items())
            alike.setdefault((variant, met), []).append(benchmark)
    for (variant, met), benchmarks in alike.items():
        programs, times = zip(*met, strict=True)
        yield result.TwoBinaries(variant, tuple(benchmarks), programs, times)


# --- What is asked from outside.


@checks_arguments
def diagnose_trial(
    trial: Trial,
    *,
    metric: str | None = None,
    variants: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> Diagnosis:
    """Look at the runs, the sessions and the host of a trial before judging it.

    Within sessions: drift with the order of runs, dependence of consecutive runs, change points,
    first runs unlike the others. Between sessions: shifts beyond what runs explain. Over all cells:
    speeds of the whole host. From the runner's record: load, steal, throttling, changes. Of the tested
    ones, what Benjamini and Hochberg's rule finds at 1 - `confidence` over all tests of the trial: of
    clean trials (exchangeable runs in every cell, cells independent) at most that share shows any.

    Parameters
    ----------
    trial : Trial
        From `read_trial`.
    metric : str, optional
        ``wall``, another metric that every run has, or one parsed from output; by default the first that
        the campaign's `judge` names, else ``wall`` (of an imported trial its first).
    variants : sequence of str, optional
        The only variants to look at.
    confidence : float
        1 - this is the share of clean trials with a finding, at most.

    Returns
    -------
    Diagnosis
        Cells with fewer than 10 runs are not tested, and named.

    Raises
    ------
    UsageError
        If the metric or a variant is unknown, or the confidence out of range.
    InsufficientDataError
        If no run counts.

    References
    ----------
    Benjamini and Hochberg, JRSS B 57, 1995, section 2; docs/methods/diagnosis.md names those of the
    tests.
    """
    between("confidence", confidence)
    metric = trial.default_metric if metric is None else metric
    info, table = trial.metric(metric), cell_tests.of_trial(trial, metric, variants)
    names = table.variants if variants is None else tuple(variants)
    chosen = [table.variants.index(name) for name in names]
    known = {"name": trial.manifest.trial, "unit": info.unit, "better": info.better}
    found = diagnosed(table, **known, confidence=confidence)
    findings = (
        *_noted(trial, found.sessions),
        *_disturbed_runs(trial, chosen),
        *_waiting_runs(trial, chosen),
    )
    findings, met = (*found.findings, *findings), tuple(_two_binaries(trial, names))
    found = replace(found, metric=metric, variants=names, findings=findings, two_binaries=met)
    said = result.cautions_of(found, waits=trial.kind(metric).waits)
    return replace(found, cautions=tuple(said))


@checks_arguments
def diagnose_matrix(matrix: PerformanceMatrix, *, confidence: float = 0.95) -> Diagnosis:
    """Look at the runs of a matrix, as `diagnose_trial` does.

    Nothing tells in which order runs of different benchmarks were executed, nor what happened on the
    host. Without session ids all runs count as one session, in the order in which they stand.

    Parameters
    ----------
    matrix : PerformanceMatrix
        The runs of one variant.
    confidence : float
        As for `diagnose_trial`.

    Raises
    ------
    UsageError
        If the confidence is out of range.
    """
    between("confidence", confidence)
    known = {"name": matrix.name, "unit": matrix.unit, "better": matrix.better}
    found = diagnosed(cell_tests.of_matrix(matrix), **known, confidence=confidence)
    return replace(found, cautions=(*matrix.cautions, *result.cautions_of(found)))


@checks_arguments
def diagnose_runs(
    values: ArrayLike, *, sessions: Sequence[int] | None = None, confidence: float = 0.95
) -> Diagnosis:
    """Look at the runs of one cell in their order, as `diagnose_trial` does.

    Parameters
    ----------
    values : array_like, shape (n,)
        Finite values in the order in which they were measured.
    sessions : sequence of int, optional
        The session of each; one session by default.
    confidence : float
        As for `diagnose_trial`.

    Raises
    ------
    UsageError
        If the values are no numbers, the sessions do not fit, or the confidence is out of range.
    AnalysisError
        If a value is not finite.
    InsufficientDataError
        If there is none.
    """
    between("confidence", confidence)
    runs = numbers(values, "the values")
    if runs.size == 0:
        raise InsufficientDataError("there is no value", None, "give some", n=0, needed=1)
    if not np.isfinite(runs).all():
        bad = int(np.flatnonzero(~np.isfinite(runs))[0])
        raise AnalysisError(f"value {bad + 1} is {float(runs[bad])!r}", None, "leave it out")
    if sessions is not None and len(sessions) != runs.size:
        raise UsageError(f"sessions must name one session for each of the {runs.size} values")
    table = cell_tests.of_values(runs, sessions)
    found = diagnosed(table, name="values", unit="", better="lower", confidence=confidence)
    return replace(found, cautions=tuple(result.cautions_of(found)))


# --- A fleet: the diagnosis of each host, and what hosts have in common.


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosedHost:
    """One host: how it stands, what was looked at, and the codes of what was found."""

    host: str
    state: HostState
    sessions: int
    runs: int
    tests: int
    codes: tuple[str, ...]
    told: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFinding:
    """A finding by its code: on which hosts, and how the first of them says it."""

    code: str
    hosts: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FleetDiagnosis(Result):
    """What the runs of a fleet look like."""

    method: ClassVar[str] = "diagnose-fleet"

    name: str
    metric: str
    confidence: float
    hosts: tuple[DiagnosedHost, ...]
    findings: tuple[SharedFinding, ...]

    def screen(self) -> Page:
        """Set what stands out and on which hosts, then a line for each host."""
        looked = [one for one in self.hosts if one.runs]
        text = f"nothing stands out on {len(looked)} hosts"
        if self.findings:
            some = sum(bool(one.codes) for one in looked)
            text = f"something stands out on {some} of {len(looked)} hosts"
        if self.metric != "wall":
            text = f"{self.metric}: {text}"
        texts = [f"{text}; 'fairtrial diagnose FLEET/HOST' says it of one"]
        for one in self.findings:
            every = len(one.hosts) == len(looked)
            where = "all hosts" if every else figures.listed(one.hosts, _NAMED)
            such = "" if len(one.hosts) == 1 else f", such as {one.hosts[0]}"
            texts.append(f"{where}{such}: {one.text}")
        # those with most findings first: they are what a reader looks for
        ordered = sorted(self.hosts, key=lambda one: -len(one.codes))
        table = table_of(
            "hosts",
            ordered[:_SHOWN],
            ("@host", "host"),
            ("<state", "state"),
            ("sessions", "sessions"),
            ("runs", "runs"),
            ("tests", "tests"),
            ("<found", lambda one: figures.listed(one.codes, 4)),
        )
        rest = len(ordered) - _SHOWN
        more = [f"and {rest} more hosts (--json)"] if rest > 0 else []
        return page(self, f"Diagnosis of {self.name}", section(*texts), section(table, *more))


@checks_arguments
def diagnose_fleet(
    fleet: str | Path,
    *,
    metric: str | None = None,
    variants: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> FleetDiagnosis:
    """Look at the runs of each host, as `diagnose_trial` does, and at what hosts have in common."""
    from ..data.fleet import host_cautions, nothing_to_judge, open_fleet  # a trial needs none of it

    between("confidence", confidence)
    opened = open_fleet(Path(fleet))
    metric = opened.default_metric if metric is None else metric
    risk = (1 - confidence) / len(opened.fleet.hosts)
    known: dict[str, Diagnosis] = {}
    for name, trial in opened.trials():
        with suppress(InsufficientDataError):  # no run has a value of this metric
            known[name] = diagnose_trial(
                trial, metric=metric, variants=variants, confidence=1 - risk
            )
    if not any(one.runs for one in known.values()):
        raise nothing_to_judge(opened)
    hosts, shared = [], dict[str, list[tuple[str, str]]]()
    for one in opened.progress:
        diagnosis = known.get(one.host)
        found = () if diagnosis is None else diagnosis.cautions
        for caution in found:
            shared.setdefault(caution.code, []).append((one.host, caution.text))
        hosts.append(
            DiagnosedHost(
                host=one.host,
                state=one.state,
                **{name: getattr(diagnosis, name, 0) for name in ("sessions", "runs", "tests")},
                codes=tuple(dict.fromkeys(caution.code for caution in found)),
                told=tuple(caution.text for caution in found),
            )
        )
    findings = [
        SharedFinding(code=code, hosts=tuple(dict(those)), text=those[0][1])
        for code, those in shared.items()
    ]
    return FleetDiagnosis(
        name=opened.path.absolute().name,
        metric=metric,
        confidence=confidence,
        hosts=tuple(hosts),
        findings=tuple(sorted(findings, key=lambda one: -len(one.hosts))),
        cautions=tuple(host_cautions(opened.progress)),
    )


_NAMED, _SHOWN = 4, 20  # hosts that a sentence names, and that the table shows
