"""What an A/A certificate holds, the machine and the design that it speaks of."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..data.host_record import most_lost
from ..data.trial import Trial
from ..errors import StoreError
from ..pages import number_format as figures
from ..pages.model import Caution, Page, page, section, table_of
from ..pages.result import Result
from ..record.run_numbers import Better
from ..record.shapes import ShapeError, opened, parse, readable_rows, shaped
from ..record.trial_files import ENVIRONMENT
from ..words import Name

OLD_DAYS = 90  # a certificate that is older still counts, and its age is said
_LOST, _TIMES_MORE = 0.01, 3.0  # of a CPU: when a host is said to be less quiet than it was
_UNKNOWN = "unknown"  # what a runner writes for a machine without an id: two of them may differ
_SAFE = re.compile(r"[^A-Za-z0-9]+")
DesignClass = Literal["paired", "one session, blocks"]
_REFERENCES = (
    "T. Kalibera, R. Jones, Rigorous benchmarking in reasonable time, ISMM 2013 (sessions as the unit "
    "of replication)",
    "C. J. Clopper, E. S. Pearson, The use of confidence or fiducial limits illustrated in the case "
    "of the binomial, Biometrika 26, 1934",
    "B. Efron, C. Stein, The jackknife estimate of variance, Annals of Statistics 9, 1981",
)
Level = Literal["benchmark", "suite"]
Unit = Literal["run", "block", "session"]
Supposed = Literal["normality", "neighbours", "runs"]
_MOST = 12  # rows of benchmarks


def write_certificate(certificate: Certificate, folder: Path) -> Path:
    """Write a certificate into a folder, and give its path.

    The name is ``HOST-TIME.json``: the first 12 characters of the machine's id and when it was made.
    The file appears whole or not at all, and never replaces another.
    """
    stamp = _SAFE.sub("", certificate.created).removesuffix("Z")
    stem = f"{_SAFE.sub('', certificate.machine.id)[:12] or 'unknown'}-{stamp}"
    text = json.dumps(certificate.to_dict(), indent=2, allow_nan=False) + "\n"
    part: str | None = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fd, part = tempfile.mkstemp(prefix=".certificate-", dir=folder)
        with open(fd, "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor has no path
            file.write(text)
            file.flush()
            os.fsync(fd)
            os.fchmod(fd, 0o644)
        for number in range(1, 1000):
            path = folder / (f"{stem}.json" if number == 1 else f"{stem}-{number}.json")
            try:
                os.link(part, path)
            except FileExistsError:
                continue
            return path
    except OSError as error:
        what = f"the certificate cannot be written: {error.strerror}"
        raise StoreError(what, str(folder), "name another folder: --dir FOLDER") from None
    finally:
        if part is not None:
            Path(part).unlink(missing_ok=True)
    raise StoreError("the folder is full of certificates of this second", str(folder))


def read_certificate(path: Path) -> Certificate:
    """Read one certificate."""
    if not os.path.lexists(path):
        fix = "name the file that 'fairtrial calibrate' wrote, or leave out --certificate"
        raise StoreError("there is no such certificate", str(path), fix)
    with opened(path) as file:
        try:
            return _certificate(parse(file.read().strip()))
        except (ShapeError, OSError) as error:
            what = f"this is not a readable certificate: {error}"
            fix = "remove the file, and make another: fairtrial calibrate TRIAL"
            raise StoreError(what, str(path), fix) from None


def read_certificates(folder: Path) -> tuple[tuple[Certificate, ...], tuple[Caution, ...]]:
    """Read the certificates of a folder, the oldest first, and say which cannot be read."""
    found, cautions = [], []
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".json")
    except OSError:
        paths = []
    for path in paths:
        try:
            found.append(read_certificate(path))
        except StoreError as error:
            text = f"a certificate is left out: {error}"
            cautions.append(Caution("certificate-damaged", text, (path.name,)))
    found.sort(key=lambda one: one.created)
    return tuple(found), tuple(cautions)


def newest_for(
    trial: Trial, folder: Path, *, metric: str = "wall", now: datetime | None = None
) -> tuple[Certificate | None, tuple[str, ...], tuple[str, ...]]:
    """Find the certificate that speaks of a trial, with what voids it and what a reader should know.

    It is the newest that holds, otherwise the newest of all, None where there is none.

    Notes
    -----
    Another machine, another CPU model, another class of design or another metric void a
    certificate. Another kernel or governor, a CPU that others use much more, an age above 90 days, benchmarks that it does not know,
    fewer sessions or fewer runs a cell than the trial has are said.
    """
    certificates, _ = read_certificates(folder)
    texts = [(one, *differences(one, trial, metric=metric, now=now)) for one in certificates]
    for one, voids, warns in reversed(texts):
        if not voids:
            return one, voids, warns
    return texts[-1] if texts else (None, (), ())


def differences(
    certificate: Certificate, trial: Trial, *, metric: str = "wall", now: datetime | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Say what voids a certificate for a trial, and what a reader should know of it."""
    here, design = machine_of(trial), design_of(trial)
    there, known = certificate.machine, certificate.design
    unlike = here.id in ("", _UNKNOWN) or there.id != here.id
    voids = [
        *_other("machine", there.name, here.name, differs=unlike),
        *_other("CPU", there.cpu_model, here.cpu_model),
        *_other("design", known.kind, design.kind),
        *_other("metric", certificate.metric, metric),
    ]
    warns = _other("kernel", there.kernel, here.kernel)
    warns += _other("governor", there.governor, here.governor)
    try:
        then = datetime.fromisoformat(certificate.created)
        age = (now or datetime.now(UTC)) - (then if then.tzinfo else then.replace(tzinfo=UTC))
        if (days := age // timedelta(days=1)) > OLD_DAYS:
            warns.append(f"it is {days} days old")
    except ValueError:
        warns.append("its age is unknown")
    look, before = most_lost(trial.path), certificate.lost_share
    lost = None if look is None or look.value is None else look.value / 100
    if lost is not None and before is not None and lost >= max(_LOST, _TIMES_MORE * before):
        warns.append(f"others took {100 * before:.2f} % of a CPU there, {100 * lost:.2f} % here")
    if others := [name for name in design.benchmarks if name not in known.benchmarks]:
        warns.append(f"not in it: {figures.listed(others, 3)}")
    if known.sessions < design.sessions:
        warns.append(f"{known.sessions} sessions there, {design.sessions} here")
    if known.runs < design.runs:
        warns.append(f"{known.runs} runs a cell and session there, {design.runs} here")
    return tuple(voids), tuple(warns)


def _other(what: str, *both: str | None, differs: bool | None = None) -> list[str]:
    there, here = (one or "unknown" for one in both)
    text = f"another {what}: {there} there, {here} here"
    return [text] if (both[0] != both[1] if differs is None else differs) else []


def _certificate(data: object) -> Certificate:
    """Make a certificate of its JSON; cautions stand there as texts with their codes."""
    if not isinstance(data, dict) or data.get("method") != Certificate.method:
        raise ShapeError("it is another result")
    if data.get("schema") != Certificate.schema:
        raise ShapeError(f"its schema is {data.get('schema')!r}, not {Certificate.schema}")
    found, codes = data.get("cautions"), data.get("caution_codes")
    if not (isinstance(found, list) and isinstance(codes, list) and len(found) == len(codes)):
        raise ShapeError("its cautions have lost their codes")
    parts = [{"code": c, "text": t, "about": []} for c, t in zip(codes, found, strict=True)]
    return shaped(Certificate, {**data, "cautions": parts})


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine of a trial; None where the trial does not say it."""

    id: str
    name: str
    cpu_model: str | None
    kernel: str | None
    governor: str | None


@dataclass(frozen=True, slots=True)
class TrialDesign:
    """How a trial was measured: `runs` of each cell a session, the most frequent number."""

    kind: DesignClass
    sessions: int
    runs: int
    benchmarks: tuple[str, ...]


def machine_of(trial: Trial) -> Machine:
    """Give the machine of a trial, as its first session found it."""
    first = next(readable_rows(trial.path / ENVIRONMENT), {})
    kernel, cpu = first.get("kernel") or {}, first.get("cpu") or {}
    governors = cpu.get("governor") or {}
    by_cpu = governors.values() if isinstance(governors, dict) else (governors,)
    named = sorted({str(value) for value in by_cpu if value})
    known, governor = trial.manifest, ", ".join(named) or None
    return Machine(known.host_id, known.host, known.cpu_model, kernel.get("release"), governor)


def design_of(trial: Trial) -> TrialDesign:
    """Give the design of a trial, by the runs that count."""
    used = trial.judged("wall")
    columns = (trial.session[used], trial.benchmark[used], trial.variant[used])
    cells = Counter(zip(*(column.tolist() for column in columns), strict=True))
    usual = max(Counter(cells.values()).most_common(1), default=(0, 0))[0]
    there = np.unique(trial.benchmark[used]).tolist()
    names = tuple(trial.manifest.benchmarks[k] for k in there)
    kind: DesignClass = "paired" if trial.sessions > 1 else "one session, blocks"
    return TrialDesign(kind, trial.sessions, usual, names)


class MethodInfo(NamedTuple):
    """How a method is counted.

    `sides` is 2 where either side may be called better, each at the risk that is asked for.
    `by_construction`: relabelling whole sessions gives it its level whatever the data are.
    """

    level: Level
    sides: int
    words: str
    by_construction: bool = False


METHODS: dict[tuple[str, Unit], MethodInfo] = {
    ("welch", "run"): MethodInfo("benchmark", 1, "Welch's t on logs of all runs"),
    ("rank-sum", "run"): MethodInfo("benchmark", 2, "rank sum, stage one of HPT"),
    ("speedup-test mean", "run"): MethodInfo("benchmark", 2, "Speedup-Test, mean"),
    ("speedup-test median", "run"): MethodInfo("benchmark", 2, "Speedup-Test, median"),
    ("randomization", "run"): MethodInfo("suite", 1, "randomization"),
    ("randomization", "block"): MethodInfo("suite", 1, "randomization"),
    ("randomization", "session"): MethodInfo("suite", 1, "randomization", by_construction=True),
    ("bootstrap", "run"): MethodInfo("suite", 1, "bootstrap, percentile"),
    ("bootstrap", "block"): MethodInfo("suite", 1, "bootstrap, percentile"),
    ("bootstrap", "session"): MethodInfo("suite", 1, "bootstrap, percentile"),
    ("hpt", "run"): MethodInfo("suite", 2, "HPT over the suite"),
    ("multilevel", "session"): MethodInfo(
        "benchmark", 1, "multilevel, session t", by_construction=True
    ),
}
METHOD_NAMES: tuple[str, ...] = tuple(dict.fromkeys(name for name, _ in METHODS))


@dataclass(frozen=True, slots=True)
class MethodRate:
    """How often a method calls one of two identical variants the better."""

    name: str
    unit: Unit
    level: Level
    nominal: float
    rate: float | None
    low: float | None
    high: float | None
    concluded: float | None
    by_construction: bool


@dataclass(frozen=True, slots=True)
class SessionCheck:
    """Whether the session values of a benchmark are what session-level methods suppose."""

    benchmark: str
    test: Supposed
    pvalue: float
    pvalue_adjusted: float
    departs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedBenchmark:
    """One benchmark between two identical variants."""

    name: str
    sessions: int
    runs: int
    speedup: float
    spread: float | None
    detectable: float | None
    alarms: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate(Result):
    """How often each method errs on a machine by a design, from two identical variants.

    `trial`: Its name. `metric`, `unit`, `better`: What was looked at. `chosen`: Whether the trial
    shows the two `variants` to be identical, or the user said so. `machine`, `design`: Where and
    how it was measured. `measured`, `created`: When the trial began, and when the certificate was
    made (RFC 3339, UTC). `confidence`: Of the tests and intervals. `power`: Of the detectable
    effects. `seed`: Of the random draws. `relabelled`: What labels were swapped in, blocks only
    where there is one session; `relabellings`: How many ways were looked at. `methods`: In the
    order of `METHODS`. `benchmarks`: In the trial's order. `detectable`: The smallest speedup of
    the suite's geometric mean that the session t tells. `checks`: Empty with fewer than five
    sessions. `lost_share`: The largest part of a measured CPU's time that others took, of the looks
    before the sessions; None when nobody looked.
    """

    method: ClassVar[str] = "calibrate"
    derived: ClassVar[tuple[str, ...]] = ("sound", "sentence")

    trial: str
    metric: str
    unit: str
    better: Better
    variants: tuple[str, ...]
    chosen: Literal["identical", "asked"]
    machine: Machine
    design: TrialDesign
    measured: str
    created: str
    confidence: float
    power: float
    seed: int | None
    relabelled: Literal["session", "block"]
    relabellings: int
    methods: tuple[MethodRate, ...]
    benchmarks: tuple[CalibratedBenchmark, ...]
    detectable: float | None
    checks: tuple[SessionCheck, ...]
    lost_share: float | None = None
    references: tuple[str, ...] = _REFERENCES

    @property
    def sound(self) -> bool | None:
        """Whether nothing speaks against the session values; None where nothing was tested."""
        return None if not self.checks else not any(check.departs for check in self.checks)

    @property
    def sentence(self) -> str:
        """The certificate in one sentence, for a verdict that cites it."""
        runs = "run-level tests were not looked at"
        pooled = next((one for one in self.methods if one.name == "welch"), None)
        if pooled is not None and pooled.rate is not None:
            ends = f" {_ends(pooled)}" if _ends(pooled) else ""
            runs = f"run-level tests err in {100 * pooled.rate:.0f} %{ends} of A/A comparisons "
            runs += f"instead of {100 * pooled.nominal:.0f}"
        sessions = "are sound as far as their session values show"
        if self.sound is None:
            sessions = "could not be checked"
        elif not self.sound:
            names = {check.benchmark for check in self.checks if check.departs}
            sessions = f"are doubtful on {len(names)} of {figures.counted(len(self.benchmarks), 'benchmark')}"
        design = f"{figures.counted(self.design.sessions, 'session')} x {self.design.runs} runs"
        text = f"{runs}; session-level ones {sessions} (certificate of {self.created[:10]})"
        return f"this machine, {design}: {text}"

    def screen(self) -> Page:
        """Set the false alarms of each method, and the difference that each benchmark can show."""
        ours, theirs = (f"{Name(name):.24}" for name in self.variants)
        design, many, by = self.design, len(self.benchmarks), self.relabelled
        said = "" if self.chosen == "identical" else ", as was said"
        counts = (design.sessions, "session"), (many, "benchmark")
        sessions, count = (figures.counted(*one) for one in counts)
        text = (
            f"{ours} and {theirs} are one program{said}: {self.metric} on {self.machine.name}, "
            f"{sessions} x {design.runs} runs, {count}; every difference that a method finds is a false alarm"
        )
        alarms = table_of(
            "false-alarms",
            [one for one in self.methods if (one.name, one.unit) in METHODS],
            ("<method", lambda one: METHODS[one.name, one.unit].words),
            ("<unit", "unit"),
            ("says", "nominal", lambda share: f"{100 * share:.3g} %"),
            ("errs", "rate", lambda rate: f"{100 * rate:.0f} %"),
            (f"<{100 * self.confidence:g} %", _interval),
        )
        swapped = f"from {self.relabellings} ways to swap the labels in whole {by}s"
        share, lost = self.lost_share, []
        if share is not None:
            lost = [
                f"before the sessions others took at most {100 * share:.2f} % of a measured CPU"
            ]
        largest = sorted(self.benchmarks, key=lambda one: -(one.detectable or float("inf")))[:_MOST]
        kept = {one.name for one in largest}
        shown = [one for one in self.benchmarks if one.name in kept]
        rows: list[tuple[str, Any, float | None]]
        rows = [(Name(one.name), one.spread, one.detectable) for one in shown]
        rows += [(f"these {many}", "", self.detectable)] if many > 1 else []
        effects = table_of(
            "detectable",
            rows,
            ("<benchmark", itemgetter(0)),
            (f"sd of {by} values", itemgetter(1), figures.percent),
            ("detectable", itemgetter(2), lambda x: f"{x:.4f}x" if x < 10 else f"{x:.3g}x"),
        )
        rest = f"; the {_MOST} largest, {many - _MOST} more in the JSON" if many > _MOST else ""
        where = "" if by == "session" else " within one session"
        words = (
            f"detectable: the t test on {by} values{where} finds it with probability {self.power:g}, "
            f"at {100 * self.confidence:g} % without correction{rest}"
        )
        swapped += "; intervals by benchmarks and sessions"
        first = section(text, self.sentence), section(alarms, swapped)
        last = section(_checked(self.checks), *lost), section(effects, words)
        return page(self, f"False alarms between {ours} and {theirs}", *first, *last)


def _ends(one: MethodRate) -> str:
    if one.low is None or one.high is None:
        return ""
    return f"[{100 * one.low:.0f}, {100 * one.high:.0f}]"


def _interval(one: MethodRate) -> str:
    if one.by_construction:
        return "its level by construction: see below"
    found = _ends(one)
    if found and one.concluded is not None and one.concluded < 0.995:
        found += f"   concludes in {100 * one.concluded:.0f} %"
    return found or "not known"


def _checked(checks: tuple[SessionCheck, ...]) -> str:
    head, count = "session-level methods:", len(checks)
    departing = [f"{check.benchmark} ({check.test})" for check in checks if check.departs]
    if departing:
        return f"{head} session values depart on {figures.listed(departing)}, of {count} tests"
    if not checks:
        return f"{head} nothing could be tested of the session values"
    of = f"{count} tests of normality and independence of the session values"
    return f"{head} {of}, none finds a departure"
