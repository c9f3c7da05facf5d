"""What a run wrote, held against what the campaign expects of it: outcome, parsed metrics, and what is executed again."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from signal import SIGKILL, Signals
from typing import TYPE_CHECKING, Any

from analysis.record.json_paths import JsonPathError, find
from analysis.record.manifest import quantile_of
from analysis.record.run_numbers import MOST_REPEATS, Measurement, Outcome
from analysis.record.shapes import records_of
from analysis.record.trial_files import (
    FINDINGS,
    MEASUREMENTS,
    Finding,
    PlannedRun,
    RowShape,
    warning,
)

from ..campaign.distributions import (
    Distribution,
    DistributionError,
    UnitError,
    check_behind,
    is_distribution,
    number_in,
    quantiles_of,
    read_distribution,
    with_quantiles,
)
from ..campaign.model import Campaign, Cell, MetricRule, When
from ..launch.matching import Matching, NotMatched, as_written

if TYPE_CHECKING:
    from ..launch.exchange import Execution, Standstill

_DETAIL = 240  # characters of a reason; a program may print megabytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """The outcome of one run and the values that it printed; `detail` says why it is not ok.

    `distributions` are those of metrics without written values; in `metrics` stand their means and quantiles.
    """

    outcome: Outcome
    detail: str | None = None
    metrics: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    distributions: Mapping[str, Distribution] = field(default_factory=dict)
    stdout_bytes: int | None = None
    stdout_sha256: str | None = None


class Unparsable(Exception):  # noqa: N818 - becomes an outcome, not an error
    """A metric cannot be read from what the run wrote."""


def examine(
    cell: Cell,
    execution: Execution,
    stdout: Path | None,
    stderr: Path | None,
    limit_bytes: int,
    *,
    kept: frozenset[Path] = frozenset(),
    conceal: Callable[[str], str] = str,
    matching: Matching | None = None,
    memory_limited: bool = False,
) -> Examined:
    """Judge one run.

    Notes
    -----
    The first reason in this order decides: timeout, output limit, signal, exit code, output,
    metrics. A run that is not ok keeps its times; the judge leaves it out and counts it. A pattern
    that finds no end, the expected one too, makes a run "unparsable".
    """
    size, digest = _fingerprint(stdout, limit_bytes)
    outcome, detail = _ending(cell, execution, [stdout, stderr], limit_bytes)
    if execution.out_of_memory and outcome in {"exit", "signal"} and execution.killed is None:
        cause = "out of memory limit" if memory_limited else "out of memory"
        killed = execution.signal == SIGKILL
        detail = cause if killed else f"{detail}; the kernel killed a process of it: {cause}"
    if outcome in {"exit", "signal"} and (text := _last_words(stderr, conceal)):
        detail = f"{detail}; stderr: {text}"
    found: _Found = {}
    if outcome == "ok":
        matching = matching or Matching()
        try:
            mismatch = _mismatch(cell, stdout, digest, matching)
            if mismatch:
                text = _first_words(stdout, conceal)
                outcome, detail = "output-mismatch", f"{mismatch}; stdout: {text}"
            else:
                found = _read(cell, "run", {"stdout": stdout, "stderr": stderr}, kept, matching)
                outcome, detail = _within_bounds(cell, found["metrics"])
        except (Unparsable, NotMatched) as error:
            outcome, detail = "unparsable", _cut(str(error))
    return Examined(
        outcome=outcome,
        detail=detail,
        **found,
        stdout_bytes=size,
        stdout_sha256=digest,
    )


def examine_after(
    cell: Cell, examined: Examined, kept: frozenset[Path], matching: Matching
) -> Examined:
    """Add what the hooks after a run wrote of it, where the run is ok so far."""
    if examined.outcome != "ok" or all(rule.when != "after" for rule in cell.metrics):
        return examined
    try:
        found = _read(cell, "after", {}, kept, matching)
    except (Unparsable, NotMatched) as error:
        return replace(examined, outcome="unparsable", detail=_cut(str(error)), metrics={})
    outcome, detail = _within_bounds(cell, found["metrics"])
    both: _Found = {part: {**getattr(examined, part), **those} for part, those in found.items()}
    return replace(examined, outcome=outcome, detail=detail, **both)


def _cut(detail: str) -> str:
    cut = f"{detail[:_DETAIL]}… ({len(detail)} characters)"
    return cut if len(detail) > _DETAIL else detail


_Found = dict[str, Any]  # the fields of `Examined` that are read


def _read(
    cell: Cell,
    when: When,
    sources: Mapping[str, Path | None],
    kept: frozenset[Path],
    matching: Matching,
) -> _Found:
    """Read the metrics of one moment, and their quantiles: none of a run with too few values."""
    found: dict[str, tuple[float, ...]] = {}
    distributions = {}
    for rule in (rule for rule in cell.metrics if rule.when == when):
        path = _place(rule, sources, kept)
        run = rule.when == "run"
        absent = "this run has not written it" if run else "no hook after this run has written it"
        if is_distribution(rule):
            text = _text_in(rule, path, absent, matching)
            read = distributions[rule.name] = _distribution(rule, text, matching)
            found[rule.name] = () if read.mean is None else (read.mean,)
        else:
            found[rule.name] = values_in(rule, path, matching, absent)
    ascending: dict[str, list[float]] = {}
    quantiles = {}
    for name, rule, share in quantiles_of(cell.metrics):
        if rule.name not in found:
            continue
        if rule.name in distributions:
            value = distributions[rule.name].quantiles[share]
        else:
            if rule.name not in ascending:
                ascending[rule.name] = sorted(found[rule.name])
            value = quantile_of(ascending[rule.name], share)
        quantiles[name] = () if value is None else (value,)
    return {"metrics": found | quantiles, "distributions": distributions}


def _within_bounds(
    cell: Cell, metrics: Mapping[str, tuple[float, ...]]
) -> tuple[Outcome, str | None]:
    units = {
        name: "" if rule.unit == "1" else f" {rule.unit}"  # a number without a unit is one alone
        for name, rule in with_quantiles(cell.metrics)
    }
    for bound in cell.expect.bounds:
        values = metrics.get(bound.metric)
        if values is None:  # of another moment, or of a cell whose metrics nobody reads
            continue
        unit = units[bound.metric]
        if not values:
            return "output-mismatch", f"{bound.metric} is unknown, as the run has too few values"
        for far, wanted, limit in (
            ([x for x in values if bound.at_most is not None and x > bound.at_most], "most", bound.at_most),
            ([x for x in values if bound.at_least is not None and x < bound.at_least], "least", bound.at_least),
        ):  # fmt: skip
            if far:
                of = f" in {len(far)} of {len(values)} values" if len(values) > 1 else ""
                text = f"{bound.metric} is {far[0]:.6g}{unit}{of}"
                return "output-mismatch", f"{text}, expected at {wanted} {limit:.6g}{unit}"
    return "ok", None


def _ending(
    cell: Cell, execution: Execution, outputs: list[Path | None], limit_bytes: int
) -> tuple[Outcome, str | None]:
    if execution.killed == "timeout":
        return "timeout", f"ended after its timeout of {cell.timeout_s:g} s"
    flooded = any(path is not None and path.stat().st_size > limit_bytes for path in outputs)
    if flooded or execution.killed == "output-limit":
        return "output-limit", f"wrote more than {limit_bytes} bytes (isolation.output_limit)"
    if execution.killed is not None:
        return "signal", f"killed by fairtrial: {execution.killed}"
    if execution.signal is not None:
        try:
            name = Signals(execution.signal).name
        except ValueError:
            name = str(execution.signal)
        return "signal", f"ended by signal {name}"
    if execution.exit_code not in cell.expect.exit_codes:
        wanted = " or ".join(map(str, cell.expect.exit_codes))
        return "exit", f"exit code {execution.exit_code}, expected {wanted}"
    return "ok", None


_SAID = 160  # characters of an output that a reason shows
_LINES = 3  # of it, where its beginning is shown


def _last_words(stderr: Path | None, conceal: Callable[[str], str]) -> str:
    if stderr is None:
        return ""
    with stderr.open("rb") as file:
        file.seek(max(0, stderr.stat().st_size - 4096))
        lines = file.read().decode("utf-8", "replace").split("\n")
    texts = [line.strip() for line in lines if line.strip()]
    # A mark below a line says nothing without it. Whole lines: of a part nobody would know what it conceals.
    last = texts[-_LINES:] if texts and texts[-1].startswith("^") else texts[-1:]
    return _shown(" | ".join(map(conceal, last)))


def _first_words(stdout: Path | None, conceal: Callable[[str], str]) -> str:
    if stdout is None or not stdout.stat().st_size:
        return "(empty)"
    with stdout.open("rb") as file:
        begin = file.read(4096)
    whole = begin if len(begin) < 4096 else begin[: begin.rfind(b"\n") + 1] or begin
    lines = [line.strip() for line in whole.decode("utf-8", "replace").split("\n")]
    texts = [conceal(line) for line in lines if line]
    more = " | …" if len(texts) > _LINES or whole != begin else ""
    return _shown(" | ".join(texts[:_LINES])) + more if texts else "(blank)"


def _shown(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)[:_SAID]


def _fingerprint(stdout: Path | None, limit_bytes: int) -> tuple[int | None, str | None]:
    if stdout is None:
        return None, None
    size = stdout.stat().st_size
    if size > limit_bytes:
        return size, None
    return size, hashlib.sha256(stdout.read_bytes()).hexdigest()


def _mismatch(
    cell: Cell, stdout: Path | None, digest: str | None, matching: Matching
) -> str | None:
    expect = cell.expect
    if stdout is None:
        return None
    if expect.stdout_sha256 is not None and digest != expect.stdout_sha256.lower():
        return f"stdout has sha256 {digest}, expected {expect.stdout_sha256}"
    if expect.stdout_file is not None:
        try:
            status = expect.stdout_file.stat()
            most = stdout.stat().st_size + 1  # more of it would differ, and a device has no end
            wanted = _reference(expect.stdout_file, status.st_mtime_ns, most)
        except OSError as error:
            return f"{expect.stdout_file} cannot be read to compare: {error.strerror}"
        if digest != wanted:
            return f"stdout differs from {expect.stdout_file}"
    if expect.stdout_regex is not None:
        text = stdout.read_text(encoding="utf-8", errors="replace")
        if not matching.matches(expect.stdout_regex, text):
            return f"stdout does not match {as_written(expect.stdout_regex)}"
    return None


@functools.lru_cache(maxsize=256)
def _reference(path: Path, _mtime_ns: int, most: int) -> str:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        return hashlib.sha256(file.read(most) or b"").hexdigest()


def _place(rule: MetricRule, sources: Mapping[str, Path | None], kept: frozenset[Path]) -> Path:
    path = rule.source if isinstance(rule.source, Path) else sources[rule.source]
    assert path is not None, "the campaign loader refuses a metric from a discarded output"
    if path in kept:
        what = "could not be removed before the run, so what it says may be an earlier run's"
        raise Unparsable(f"{rule.name}: {path} {what}")
    return path


def values_in(rule: MetricRule, path: Path, matching: Matching, absent: str) -> tuple[float, ...]:
    """Give the values of a metric that stand in a file; `absent` says why it should be there.

    Raises Unparsable, which says what is wrong.
    """
    return parsed(rule, _text_in(rule, path, absent, matching), path.name, matching)


def _text_in(rule: MetricRule, path: Path, absent: str, matching: Matching) -> str:
    try:
        return matching.text(path)
    except FileNotFoundError:
        raise Unparsable(f"{rule.name}: {path}: No such file: {absent}") from None
    except OSError as error:
        raise Unparsable(f"{rule.name}: {path}: {error.strerror}") from error


def _distribution(rule: MetricRule, text: str, matching: Matching) -> Distribution:
    try:
        return matching.within(lambda: read_distribution(rule, text), "reading what it wrote")
    except (DistributionError, NotMatched) as error:
        raise Unparsable(f"{rule.name}: {error}") from error


def parsed(rule: MetricRule, text: str, where: str, matching: Matching) -> tuple[float, ...]:
    """Give the values of a metric that stand in a text, as `values_in` does."""
    try:
        found = _found(rule, text, matching)
    except (NotMatched, JsonPathError, Unparsable, UnitError) as error:
        raise Unparsable(f"{rule.name}: {error}") from error
    if not found:
        raise Unparsable(f"{rule.name}: nothing in {where} matches {rule.regex or rule.json}")
    return matching.within(
        lambda: tuple(_number(rule, value) for value in found), f"{rule.name}: reading its numbers"
    )


def _found(rule: MetricRule, text: str, matching: Matching) -> Sequence[object]:
    if rule.regex is not None:
        spans = matching.spans(rule.regex, text)
        for start, end in spans:
            if start < 0:
                raise Unparsable(f"{rule.name}: a match of its regex holds no number")
            check_behind(text, start, end, rule.unit)
        return [text[start:end] for start, end in spans]
    assert rule.json is not None, "a metric has a regex or a JSON path"
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unparsable(f"the output is no JSON: {error}") from error
    return list(find(document, rule.json))


def _number(rule: MetricRule, value: object) -> float:
    try:
        if isinstance(value, str):
            return number_in(value, rule.unit)
        number = float(value) if isinstance(value, int | float) else math.nan
    except UnitError as error:
        raise Unparsable(f"{rule.name}: {error}") from error
    except OverflowError:
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number):
        raise Unparsable(f"{rule.name}: {json.dumps(value)[:90]} is not a finite number")
    return number


# --- Runs that are executed again: disturbed ones by the campaign's rule, and tries that leave nothing.
# What is repeated follows from the plan and the stored rows alone, so that a resumed session goes
# on alike.


def finding_of_standstill(run: PlannedRun, stood: Standstill, *, again: bool) -> Finding:
    """Say what stood still while a run was under way, and whether it is executed again."""
    what = "discarded and executed again" if again else "given up: so it was in each earlier try"
    return warning(
        "suspended",
        f"{run.benchmark} / {run.variant}, position {run.position}: {stood}; the run is {what}",
        "SIGCONT, the launcher's state, waits and clocks of the runner",
        "let nobody stop a trial: no batch system, no debugger, and not the program itself",
        "a program that stood still, or whose end was noticed late, has no wall time",
    )


_IN_A_ROW = 4  # rows of a cell, repeats and one warm-up included, that were all disturbed
_NAMED = 3
_CHECK = "disturbed"

_Row = Measurement | RowShape


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedRun(PlannedRun):
    """A planned run that is executed again: `repeats` is its position, its own is negative."""

    repeats: int


def repeats_of(run: PlannedRun) -> int | None:
    """Give the position of the run that this one repeats, None for one of the plan."""
    return run.repeats if isinstance(run, RepeatedRun) else None


class Repeats:
    """The disturbed runs of one session, and what their repeats came to.

    A run that was disturbed and ended ok is repeated at the end of its block (in sequential order:
    of its cell's runs), at most twice, until one of its rows is undisturbed; a block is repeated at
    most once its length. All variants of a benchmark are treated alike, else what one is spared would
    make it look faster. So its runs are kept as they are from where it is unknown of one of them, warm-ups
    included, whether it was disturbed, and from where four runs of a cell in a row were, repeats included.
    """

    def __init__(self, campaign: Campaign, rows: Iterable[_Row] = ()) -> None:
        self._sequential = campaign.protocol.order == "sequential"
        self._rows: dict[int, list[bool | None]] = {}  # of the runs that were disturbed
        self._unknown: set[str] = set()
        self._in_a_row: Counter[tuple[str, str]] = Counter()
        self._kept: set[str] = set()
        self.in_vain: list[Finding] = []
        for row in rows:
            self.add(row)

    def add(self, row: _Row) -> Finding | None:
        """Count a row; give the finding that a benchmark is repeated no more, where it says so."""
        if row.warmup and row.position < 0:
            return None  # a resumed session's own: had nobody broken it off, it would not be there
        if row.outcome == "ok" and row.disturbed is None:
            self._unknown.add(row.benchmark)
        if row.repeats is not None:
            self._rows.setdefault(row.repeats, [True]).append(row.disturbed)
        elif row.disturbed and row.outcome == "ok" and not row.warmup:
            self._rows[row.position] = [True]
        cell = row.benchmark, row.variant
        before = 0 if row.warmup else self._in_a_row[cell]  # the last warm-up counts
        self._in_a_row[cell] = before + 1 if row.disturbed else 0
        if self._in_a_row[cell] < _IN_A_ROW or row.benchmark in self._kept:
            return None
        self._kept.add(row.benchmark)
        self.in_vain.append(_in_vain(row))
        return self.in_vain[-1]

    def finding(self) -> Finding | None:
        """Name the benchmarks whose runs were not repeated because nothing is known of them; None without any."""
        if not self._unknown:
            return None
        names = sorted(self._unknown)
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return warning(
            _CHECK,
            f"whether runs of {', '.join(names[:_NAMED])}{more} were disturbed is not known: they "
            "are kept as they are",
            "protocol.disturbed",
            reason=(
                "some kernels do not say how long a program waited for a CPU, and none says it of a "
                "program with threads or processes of its own"
            ),
        )

    def stretch_of(self, run: PlannedRun) -> object:
        """Name what a run is repeated at the end of: its block, or in sequential order its cell's runs."""
        return (
            (run.block > 0, run.benchmark, run.variant)
            if self._sequential and not run.warmup
            else run.block
        )

    def disturbed(self, run: PlannedRun) -> bool:
        """Tell whether a planned run was."""
        return run.position in self._rows

    def due(
        self, disturbed: Iterable[PlannedRun], length: int, without: Callable[[PlannedRun], bool]
    ) -> Iterator[PlannedRun]:
        """Give the runs to repeat, each as it was planned, while their rows are added."""
        runs = list(disturbed)
        left = length - sum(len(self._rows[run.position]) - 1 for run in runs)
        for times in range(1, MOST_REPEATS + 1):
            for run in runs:
                rows = self._rows[run.position]
                keeps = run.benchmark in self._unknown or run.benchmark in self._kept
                if len(rows) != times or False in rows or keeps or without(run):
                    continue
                if left <= 0:
                    return
                left -= 1
                yield run


def still_to_do(
    runs: Iterable[PlannedRun],
    done: Mapping[int, str],
    repeats: Repeats | None = None,
    without: Callable[[PlannedRun], bool] = lambda _: False,
) -> Iterator[PlannedRun]:
    """Give the runs of a session that are left, with its warm-ups repeated if it was broken off.

    A warm-up that was done already stands in no plan when it is repeated, nor does a run that was
    disturbed: each gets a negative position of its own.
    """
    if all(run.position in done for run in runs) and (
        repeats is None or not repeats_left(runs, done, repeats, without)
    ):
        return
    fresh = -min(0, min(done, default=0))
    # else nothing was done of it, or it has no warm-ups
    for run in [run for run in runs if run.warmup and run.position in done]:
        fresh += 1
        yield replace(run, position=-fresh)
    if repeats is None:
        yield from (run for run in runs if run.position not in done)
        return
    for _, stretch in groupby(runs, key=repeats.stretch_of):
        disturbed, length = [], 0
        for run in stretch:
            if run.position not in done:
                yield run
            length += run.position in done  # its cell may have been given up
            if repeats.disturbed(run):
                disturbed.append(run)
        for run in repeats.due(disturbed, length, without):
            fresh += 1
            yield RepeatedRun(**run.to_dict() | {"position": -fresh}, repeats=run.position)


def repeats_left(
    runs: Iterable[PlannedRun],
    done: Mapping[int, str],
    repeats: Repeats,
    without: Callable[[PlannedRun], bool] = lambda _: False,
) -> bool:
    """Tell whether runs of a session are still to be repeated."""
    for _, stretch in groupby(runs, key=repeats.stretch_of):
        disturbed, length = [], 0
        for run in stretch:
            length += run.position in done
            if repeats.disturbed(run):
                disturbed.append(run)
        if next(repeats.due(disturbed, length, without), None) is not None:
            return True
    return False


def stored_repeats(trial: Path, campaign: Campaign) -> dict[int, Repeats]:
    """Read what became of the disturbed runs of a trial's sessions; the store has checked the lines."""
    found: dict[int, Repeats] = defaultdict(lambda: Repeats(campaign))
    for row, _ in records_of(trial / MEASUREMENTS, RowShape):
        found[row.session].add(row)
    return dict(found)


def recorded_repeats(trial: Path) -> frozenset[tuple[int | None, str]]:
    """Read what findings say of repeats: the session and the words of each."""
    found = (row for _, row in records_of(trial / FINDINGS, Finding))
    return frozenset((row.get("session"), row["what"]) for row in found if row["check"] == _CHECK)


def _in_vain(row: _Row) -> Finding:
    return warning(
        _CHECK,
        f"{row.benchmark} / {row.variant}: {_IN_A_ROW} runs in a row were disturbed, repeats included; in "
        f"session {row.session} the runs of {row.benchmark} are not repeated any more",
        "protocol.disturbed",
        "find out what it waits for: fairtrial doctor --probe 2s; a program whose own processes "
        "share its CPU needs more CPUs",
        "repeats take time, and a variant whose runs alone are spared the waiting would look "
        "faster than it is",
    )
