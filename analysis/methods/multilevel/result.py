"""What the sound verdict says, in all its parts: one interval and one word a benchmark, and for the suite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ...pages import number_format as figures
from ...pages.result import Result, plain

if TYPE_CHECKING:
    from ...data.runs import Unit
    from ...pages.number_format import Word
    from ...record.run_numbers import Better
    from ...stats.multiplicity import Correction
    from ...stats.samples import Array
    from .design import Design, Totals
    from .estimates import Identity, LawName, Scale, Source
    from .values import SessionDependence

REFERENCES = (
    "T. Kalibera, R. Jones, Rigorous benchmarking in reasonable time, ISMM 2013",
    "R. Ibragimov, U. K. Mueller, t-statistic based correlation and heterogeneity robust inference, "
    "Journal of Business & Economic Statistics 28, 2010",
    "B. L. Welch, The generalization of 'Student's' problem, Biometrika 34, 1947",
    "S. K. Banerjee, Approximate confidence interval for linear functions of means of k populations "
    "when the population variances are not equal, Sankhya 22, 1960",
    "S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of "
    "Statistics 6, 1979",
)


MOST_SHOWN = 1000
MANY_SESSIONS = 100  # from which on another way of measuring is worth a thought


LooksRule = Literal["single", "planned", "growing", "always-valid", "repeated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LookRisk:
    """Which look at the data an answer is, and what it risks.

    `count`: Its number, or how many are planned. `alpha`: Its risk: intervals have the confidence 1 - alpha.
    `rule`: How looks share the risk, as of `Looks`. `total`: The most that all looks together may risk.
    """

    renamed: ClassVar[Mapping[str, str]] = {
        "count": "looks",
        "alpha": "look_alpha",
        "rule": "looks_rule",
        "total": "risk_total",
    }

    count: int
    alpha: float
    rule: LooksRule
    total: float

    @property
    def always_valid(self) -> bool:
        """Whether intervals hold at every number of sessions (a confidence sequence)."""
        return self.rule == "always-valid"


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreSessions:
    """How many more sessions would probably decide, over all that the data leave possible.

    Attributes
    ----------
    sessions : int or None
        The least number that decides with a chance of 90 % over what the data leave possible, in two digits; None
        beyond 10,000. Followed once it decides in 3 of 4 cases at least. In separate designs each side needs as many.
    low, high : int or None
        The same for a spread at the quartiles of what it may be; None beyond 10,000.
    chance, chance_asked, basis : float or None, float, {"predictive"}
        That of `sessions`, and the least that will do: over the spreads and speedups that the data leave
        possible, these data kept.
    target : {"faster", "slower", "equivalent"}
        What would likeliest be decided; ``for`` in JSON.
    runs_suffice : bool or None
        Whether up to ten times the runs in the same sessions would do; None when unknown.
    """

    renamed: ClassVar[Mapping[str, str]] = {"target": "for"}

    sessions: int | None
    low: int | None
    high: int | None
    chance: float | None
    chance_asked: float = 0.9
    basis: Literal["predictive"] = "predictive"
    target: Word
    runs_suffice: bool | None

    @property
    def worthwhile(self) -> int | None:
        """The number where anybody would go on to it: up to 1,000."""
        return None if self.sessions is None or self.sessions > MOST_SHOWN else self.sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Hosts of equally many sessions, or a side of a host whose sides have unequal numbers.

    `error` is their part of the line's error, `freedom` its degrees of freedom.
    """

    error: float
    freedom: float
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fails:
    """Failed runs by session.

    `candidate`, `baseline`: How many runs failed in each session that the side has runs of, in the
    order of the sessions' ids; of several hosts one host after the other. `candidate_runs`,
    `baseline_runs`: How many runs there were in each, failed ones included.
    """

    candidate: tuple[int, ...]
    baseline: tuple[int, ...]
    candidate_runs: tuple[int, ...]
    baseline_runs: tuple[int, ...]

    @classmethod
    def together(cls, hosts: Iterable[Fails]) -> Fails:
        """Give those of several hosts, one behind the other."""
        names = [one.name for one in fields(cls)]
        return cls(**{name: tuple(chain(*(getattr(x, name) for x in hosts))) for name in names})


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """How many runs of both sides their time limit ended.

    `bounds`: Whether they count with lower bounds; without, their metric may be anything. `known`: False of runs
    that failed, nobody knows why: they may be such.
    """

    unlisted: ClassVar[frozenset[str]] = frozenset({"limit_s", "bounds", "known"})

    candidate: int
    baseline: int
    limit_s: float | None = None
    bounds: bool = True
    known: bool = True

    def withholds(self, word: Word) -> bool:
        """Tell whether a longer time of these runs could overturn a word."""
        better, worse = self.candidate or not self.bounds, self.baseline or not self.bounds
        return bool({"faster": better, "slower": worse, "equivalent": True}.get(word, False))

    def mark(self, side: int) -> str:
        """Give what stands before a mean of the candidate (0) or the baseline (1) that is a lower bound."""
        return "≥ " if self.known and self.bounds and (self.candidate, self.baseline)[side] else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One speedup with its interval and its word: that of a benchmark, or of the suite.

    Attributes
    ----------
    name : str
        The benchmark, or "these", or "similar".
    speedup : float or None
        Ratio of geometric means, above 1 when the candidate is better.
    low, high : float or None
        The interval at the look's confidence (1 - `look.alpha`), not adjusted for the number of
        benchmarks; None where there is none.
    error, freedom : float or None
        Standard error of the log of the speedup, and its degrees of freedom; these are None also where
        no single number fits (`law` "banerjee" or "grouped").
    law : {"t", "welch", "banerjee", "satterthwaite", "grouped", "identity"} or None
        What gave interval and p-values: t of paired values; of two sides Welch's t where they have
        equally many values, else Banerjee's bound; of several hosts, or of the cells of one session, t
        with Satterthwaite's freedom where all have equally many values, else a part for each group. On
        hosts like these "t" of the hosts' values, together with the part on these hosts. "identity": of
        what is counted and varies on neither side the chance that sessions fall apart so.
    errors, freedoms : tuple of float or None
        The independent parts of the error, and their degrees of freedom: of both sides, candidate
        first, or of the groups; on hosts like these the part between hosts comes first. `error` is the
        root of the sum of their squares. Where `in_parts`, half the interval is the root of the sum of
        the squares of t(freedom) * error.
    groups : tuple of Group or None
        On these hosts, under "grouped": whose parts they are.
    step_added : float or None
        What the clock's step adds to each half of the interval of the logarithm, and takes from each
        distance that is tested; 0 where runs vary more than it, or nobody knows it.
    pvalue : float or None
        Two-sided, of H0: the speedup is 1. None without spread.
    pvalue_equivalent : float or None
        The larger one-sided p of H0: the speedup lies outside the margin; held against alpha / 2.
    pvalue_welch : float or None
        Of two sides: Welch's `pvalue`, also under "banerjee", where it does not count.
    outcome : {"faster", "slower", "equivalent", "undecided"}
        The word; of a benchmark that after the correction.
    more_sessions : MoreSessions or None
        Where undecided and computable.
    cut : Cut or None
        How many runs of both sides their time limit ended, and whether words are withheld for it.
    of_suite : bool
        Whether it is a line of the suite, which has nothing of what follows.
    pvalue_adjusted, pvalue_equivalent_adjusted : float or None
        After the correction for the number of benchmarks.
    outcome_uncorrected : {"faster", "slower", "equivalent", "undecided"}
        The word that the printed interval gives.
    mean_candidate, mean_baseline : float or None
        Geometric means in the unit of the values, sessions weighing equally, over what the speedup
        rests on: their ratio is the speedup. Arithmetic within sessions where runs are 0.
    spread_candidate, spread_baseline : float or None
        Relative standard deviation of the runs within a session: exp(sd of logs) - 1.
    runs_candidate, runs_baseline, failed_candidate, failed_baseline : int
        Runs that count, and runs that failed.
    sessions : int
        Session values behind the line; 1 within one session, 0 where confounded.
    session_ids : tuple of str
        Where sides are paired: the sessions behind it, or within one session its blocks.
    differences : tuple of float
        The log differences of these, positive when the candidate is better.
    reason : {"confounded", "fails-more", "fails-always", "below-resolution", "no-spread", "few-sessions", "identical", "depends", "no-steady-state", "unequal-values", "cut-off"} or None
        Why the word is "undecided" in spite of numbers. "no-spread": session values do not differ, and
        the clock's step is unknown, or of what is counted there are fewer than three; "few-sessions": more of them
        are needed for the risk. "identical" is a reason for "equivalent": one number on both sides. "depends": sessions that were looked at by a plan resemble the
        ones before them. "no-steady-state": more than a tenth of a side's runs never become steady, or
        not as many as of the other side. "unequal-values": of a quantile one side has more than twice as many values. "cut-off": runs were ended by their time limit, and a longer time of
        them could overturn the word.
    fails : Fails or None
        How many runs failed in each session of both sides; None where that is not known.
    pvalue_fails, pvalue_fails_adjusted : float or None
        One-sided, of "the candidate does not fail in a larger share of its runs": whole sessions are
        dealt out anew. After Holm's correction over the benchmarks. None without sessions.
    fails_proven : bool
        Whether failing is proven, which stops a gate.
    resolution : float or None
        The step of the values, in their unit: the greatest that divides all differences within each
        side; None where it is unknown.
    resolution_source : {"runs", "others"} or None
        What shows it: the runs, some of them equal where they are measured; or it is the least of
        the other benchmarks, on whose grid all runs lie.
    identity : Identity or None
        Both numbers where all runs are counted and no side varies: `law` is "identity".
    scale : {"log", "arithmetic"}
        What is compared: logs, or of counts with a 0 among them the means, in the unit.
    difference, difference_low, difference_high : float or None
        On the arithmetic scale: candidate less baseline, with the interval.
    step_log, error_floor : float or None
        The step on the log scale, and the standard error that rounding to it gives at least: `error`
        is no less.
    """

    derived: ClassVar[tuple[str, ...]] = ("word", "pvalue_of", "limit_s")
    pvalue_of: ClassVar[str] = "two-sided"  # what `pvalue` belongs to

    name: str
    speedup: float | None = None
    low: float | None = None
    high: float | None = None
    error: float | None = None
    freedom: float | None = None
    pvalue: float | None = None
    pvalue_equivalent: float | None = None
    outcome: Word
    more_sessions: MoreSessions | None = None
    law: LawName | None = None
    errors: tuple[float, ...] | None = None
    freedoms: tuple[float, ...] | None = None
    groups: tuple[Group, ...] | None = None
    pvalue_welch: float | None = None
    step_added: float | None = None
    totals: Totals | None = None
    cut: Cut | None = None
    of_suite: bool = False
    # of a benchmark alone
    pvalue_adjusted: float | None = None
    pvalue_equivalent_adjusted: float | None = None
    outcome_uncorrected: Word | None = None
    mean_candidate: float | None = None
    mean_baseline: float | None = None
    spread_candidate: float | None = None
    spread_baseline: float | None = None
    runs_candidate: int = 0
    runs_baseline: int = 0
    failed_candidate: int = 0
    failed_baseline: int = 0
    sessions: int = 0
    session_ids: tuple[str, ...] = ()
    differences: tuple[float, ...] = ()
    reason: str | None = None
    fails: Fails | None = None
    pvalue_fails: float | None = None
    pvalue_fails_adjusted: float | None = None
    fails_proven: bool = False
    resolution: float | None = None
    resolution_source: Source | None = None
    step_log: float | None = None
    error_floor: float | None = None
    identity: Identity | None = None
    scale: Scale = "log"
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    above: Callable[[float], Array] | None = None  # arithmetic: p of "at most this speedup"

    @property
    def unlisted(self) -> frozenset[str]:
        """What JSON leaves out: of the suite's lines also what only a benchmark has."""
        return UNLISTED | OF_A_BENCHMARK if self.of_suite else UNLISTED

    @property
    def limit_s(self) -> float | None:
        """The least time limit that ended a run, as which it counts; None without any."""
        return None if self.cut is None else self.cut.limit_s

    @property
    def word(self) -> Word:
        """The outcome, under the name that all results have it."""
        return self.outcome

    @property
    def word_of_interval(self) -> Word:
        """The word that the printed interval gives, before any correction."""
        return self.outcome_uncorrected or self.outcome

    @property
    def in_parts(self) -> bool:
        """Whether each part of the error has a quantile of t of its own: no single freedom fits."""
        several = len(self.errors or ()) > 1
        return self.law in ("banerjee", "grouped") or (self.law == "t" and several)

    def to_dict(self) -> dict[str, Any]:
        """Give the line as JSON types."""
        found: dict[str, Any] = plain(self)
        return found


UNLISTED = frozenset({"above", "of_suite"})
_NAMES = [field.name for field in fields(Line)]
OF_A_BENCHMARK = frozenset(_NAMES[_NAMES.index("of_suite") :])


Shift = Literal["larger", "smaller", "equivalent", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostEffect:
    """What one host says by itself.

    `host`: Its name. `benchmark`: None for the mean over the benchmarks that all hosts have.
    `speedup`: Ratio of geometric means, the host's sessions weighing equally. `low`, `high`: Its
    interval by the host's own sessions; None where they give none. `error`, `freedom`: Standard
    error of its logarithm, and degrees of freedom. `sessions`: Sessions behind it; 1 within one
    session.
    """

    host: str
    benchmark: str | None
    speedup: float
    low: float | None
    high: float | None
    error: float | None
    freedom: float | None
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A host whose speedup is another than that of the rest, after Holm over hosts and benchmarks.

    `host`: Its name. `benchmark`: On which benchmark. `speedup`, `rest`: On this host, and the
    geometric mean over the other hosts. `ratio`, `low`, `high`: The first over the second, with its
    interval (not adjusted). `pvalue`, `pvalue_adjusted`: Two-sided, of "both are one", and after
    Holm; None without spread. `difference` ({"larger", "smaller"}): What the host's speedup is.
    """

    host: str
    benchmark: str
    speedup: float
    rest: float
    ratio: float
    low: float
    high: float
    pvalue: float | None
    pvalue_adjusted: float | None
    difference: Shift


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreHosts:
    """How many more hosts would probably decide, over all that the data leave possible.

    `hosts` is the least number with a chance of 80 %, `low` and `high` the same for a spread at the
    quartiles of what it may be; each None beyond 100. `chance` is that of `hosts`, `target` the
    likeliest word, `benchmark` None for the suite.
    """

    benchmark: str | None
    hosts: int | None
    low: int | None
    high: int | None
    chance: float | None
    target: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLevel:
    """What was found on these hosts: they stay as they are, their sessions vary.

    `hosts`: Those that are judged, in the fleet's order. `sessions`: Sessions of all of them.
    `benchmarks`: On these hosts, each host weighing the same; `sessions` counts those of all hosts.
    `these`, `similar`: The suite on these hosts; None with fewer than two benchmarks that all hosts
    have. `left_out`: Benchmarks that a judged host lacks: they are in no line of the suite.
    `spread.<benchmark>`: Relative standard deviation of the hosts' speedups: exp(sd of logs) - 1.
    `effects`: Each host by itself. `tests`: How many comparisons of a host with the rest are one
    family. `disagreements`: Those that hold after the correction, the surest first. `more_hosts`:
    For lines on hosts like these that are undecided.
    """

    hosts: tuple[str, ...]
    sessions: int
    benchmarks: tuple[Line, ...]
    these: Line | None
    similar: Line | None
    left_out: tuple[str, ...]
    spread: Mapping[str, float | None]
    effects: tuple[HostEffect, ...]
    tests: int
    disagreements: tuple[Disagreement, ...]
    more_hosts: tuple[MoreHosts, ...]

    @property
    def disagreeing(self) -> dict[str, list[Disagreement]]:
        """The hosts that disagree with the rest, and on what."""
        hosts = dict.fromkeys(one.host for one in self.disagreements)
        return {host: [x for x in self.disagreements if x.host == host] for host in hosts}

    @property
    def sessions_each(self) -> tuple[int, int]:
        """The fewest and the most sessions that a host has."""
        hosts = {one.host for one in self.effects}
        each = [max(x.sessions for x in self.effects if x.host == host) for host in hosts]
        return min(each, default=0), max(each, default=0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Multilevel(Result):
    """The sound verdict on one candidate.

    Attributes
    ----------
    candidate, baseline : str
        Names of the two sides.
    unit, better : str
        Of the values.
    design : str
        "paired", "separate", "one session, blocks", "one session, runs" or "confounded".
    sessions : int
        Sessions that the answer rests on: the common ones when paired, those of both sides together
        when separate, 1 within one session, 0 when confounded.
    sessions_candidate, sessions_baseline : int
        Sessions that hold a run that counts.
    confidence, margin : float
        Of the intervals before `looks`, and the largest speedup less 1 that counts as equivalent.
    correction : str
        For the number of benchmarks: "holm", "bh" or "none".
    candidates : int
        How many candidates share the risk of words.
    look : LookRisk
        Which look at the data this is, and what it risks.
    benchmarks : tuple of Line
        In the candidate's order; then those where all its runs failed.
    these, similar : Line or None
        The suite's mean for these benchmarks, and for others like them; None with one benchmark.
    occasions : str or None
        Where confounded, what would hold if the two occasions did not differ, as a sentence.
    outermost : {"session", "host"}
        What is drawn at random above all: the answer holds for more of it, and more of it would
        decide. Hosts of several hosts' verdicts, and where each host is taken as one session.
    dependence : Dependence or None
        Whether a session resembles the one before it; None with fewer than eight sessions, and where
        their order is not known.
    hosts : HostLevel or None
        Of several hosts what holds on these very hosts: `benchmarks` and the suite are of hosts like these.
    """

    method: ClassVar[str] = "multilevel"
    words: ClassVar[str] = "analysis.methods.multilevel.page:screen"
    listed: ClassVar[tuple[str, ...]] = (
        *("candidate", "baseline", "unit", "better", "design"),
        *("sessions", "sessions_candidate", "sessions_baseline", "confidence", "margin"),
        *("correction", "look.*", "look.always_valid"),
        *("benchmarks", "these", "similar", "dependence", "word"),
    )

    candidate: str
    baseline: str
    unit: str
    better: Better
    design: Design
    sessions: int
    sessions_candidate: int
    sessions_baseline: int
    confidence: float
    margin: float
    correction: Correction
    look: LookRisk
    benchmarks: tuple[Line, ...]
    these: Line | None
    similar: Line | None
    occasions: str | None
    outermost: Unit = "session"
    dependence: SessionDependence | None = None
    candidates: int = 1
    hosts: HostLevel | None = None
    references: tuple[str, ...] = REFERENCES

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines of the benchmarks, then that of the suite."""
        return self.benchmarks if self.these is None else (*self.benchmarks, self.these)

    @property
    def together(self) -> int:
        """How many benchmarks the lines of the suite are of: those with a ratio that all hosts have."""
        ratios = {x.name for x in self.benchmarks if x.speedup is not None and x.scale == "log"}
        return len(ratios.difference(() if self.hosts is None else self.hosts.left_out))

    @property
    def word(self) -> Word:
        """The word of these benchmarks together, or of the only one."""
        line = leading(self)
        return "undecided" if line is None else line.outcome

    @property
    def withheld(self) -> bool:
        """Whether no word is given: sessions that were looked at by a plan resemble the ones before them."""
        found = self.dependence
        return self.look.rule == "repeated" and found is not None and found.warned

    @property
    def timed(self) -> bool:
        """Whether what is better is faster."""
        return figures.timed(self.unit)


def leading(result: Multilevel | HostLevel) -> Line | None:
    """Give the line that answers for a candidate: the suite's, or that of its only benchmark, where no other differs."""
    if result.these is not None:
        return result.these
    every = result.benchmarks
    known = [x for x in every if x.speedup is not None or x.outcome in ("faster", "slower")]
    return (known if len(known) == 1 else every)[0] if 1 in (len(known), len(every)) else None
